/* SPDX-License-Identifier: Apache-2.0 */
/* Moves bytes between what the user gave as 0, 1, 2 and the pty and pipes of the sandbox. */
#include "enforcer/session/terminal/relay.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"

/* A terminal takes this much at once without making us wait long. */
#define CHUNK 4096

/* Files and sockets take more at once. */
#define BULK ((size_t)64 << 10)

/*
 * How often a job in the background looks whether it came to the front: a shell's `fg` sends
 * SIGCONT to stopped jobs only, and nothing tells those that run.
 */
#define FOREGROUND_MS 200

/* The first of two keys that mean leaving is the command's if nothing follows for so long. */
#define HELD_NS (WARD_NS_PER_SEC * 3 / 10)

/* Bytes on their way from one descriptor to another. */
struct stream {
	int from; /* -1: not used or at its end */
	int to;
	struct ward_relay *relay;
	ward_pollset_id id;
	short asked; /* POLLIN of from, or POLLOUT of to */
	size_t start;
	size_t end;  /* data[start..end) wait to be written */
	size_t owed; /* ward_relay_drain(): what the pipe held at its start */
	size_t room; /* of data */
	char *data;  /* few, or owned */
	bool socket; /* what was given is one: it is asked not to wait in each call */
	char few[CHUNK];
};

/* Input first: what drains begins at SCREEN. */
enum stream_name { KEYS = 0, PIPE_IN, SCREEN, PIPE_OUT, PIPE_ERR, STREAMS };

struct ward_relay {
	struct ward_relay_spec spec;
	enum ward_given given[3];
	bool tty[3];
	int apart[3]; /* 0, 1, 2 again, where pipes stand in for them; owned, -1: not so */
	bool pty_wanted;
	bool raw_wanted; /* keys and screen are on the terminal: raw while in the foreground */
	bool raw_now;
	int terminal; /* 0, 1, 2 or -1: the descriptor whose modes and size count */
	int pty;      /* borrowed; -1 without */
	int ours[3];  /* 0, 1, 2 opened anew, so as never to wait in write(2); -1: not so */
	int child[3]; /* ends for the command, owned; -1: inherited as they are or the pty */
	int unread;   /* of the pipe for 0: a read end, to look at what is left; owned, -1: none */
	uint64_t taken; /* bytes read of what was given as 0 */
	uint64_t file_max;
	struct ward_err failed; /* what could not be read or written, with its code; 0: nothing */
	struct termios saved;
	struct stream stream[STREAMS];
	struct ward_pollset *set; /* borrowed; NULL: not watched */
	ward_pollset_id each;
	uint64_t moved; /* bytes read from any stream */
	void (*tap)(void *user, const char *data, size_t n);
	void *tap_user;
	bool detachable, wants_away;
	bool held; /* the first of two keys that mean leaving, since held_at (CLOCK_MONOTONIC ns) */
	uint64_t held_at;
};

/*
 * A terminal or pipe that nobody reads takes less than it is offered, and the rest would be waited
 * for: no clock would ring meanwhile. That it does not wait is a property of an open file, and the
 * caller's is shared with others. What may not be opened (su(1): a terminal of another user) waits.
 */
static int output(struct ward_relay *r, int i)
{
	char self[32];
	if (r->ours[i] < 0) {
		snprintf(self, sizeof(self), "/proc/self/fd/%d", i);
		r->ours[i] = open(self, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	}
	return r->ours[i] >= 0 ? r->ours[i] : i;
}

static void plan_pty(struct ward_relay *r)
{
	r->pty_wanted = r->tty[0] || r->tty[1] || r->tty[2];
	r->terminal = r->tty[1] ? 1 : r->tty[0] ? 0 : r->tty[2] ? 2 : -1;
	if (r->terminal >= 0)
		r->raw_wanted = r->tty[0] && r->tty[1];
}

static const char *const names[] = {"standard input", "standard output", "standard error"};

/* The command may open its /dev/stdin anew, where we may give the pipe away. */
static int make_pipe(const struct ward_relay *r, int ret[2], struct ward_err *err)
{
	if (pipe2(ret, O_CLOEXEC) < 0)
		return ward_err_sys(err, -errno, "pipe");
	if (r->spec.owner != geteuid())
		(void)!fchown(ret[0], r->spec.owner, (gid_t)-1);
	return 0;
}

static int hold(struct ward_relay *r, int i, struct stream *s, struct ward_err *err)
{
	s->data = malloc(BULK);
	/* A number of our own: what was given stays open when the caller replaces 0, 1, 2. */
	r->apart[i] = fcntl(i, F_DUPFD_CLOEXEC, 3);
	if (!s->data || r->apart[i] < 0)
		return ward_err_sys(err, s->data ? -errno : -ENOMEM, "%s", names[i]);
	/* A device may make us wait for each byte. */
	struct stat st;
	s->room = fstat(i, &st) == 0 && S_ISCHR(st.st_mode) ? CHUNK : BULK;
	s->socket = r->given[i] == WARD_GIVEN_SOCKET;
	return 0;
}

/*
 * Read or written against what it was opened for, it is an error inside as well (EBADF): the
 * unreadable input of nohup(1), say.
 */
static int other_way(struct ward_relay *r, int i, struct ward_err *err)
{
	r->child[i] = open("/dev/null", (i == 0 ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
	return r->child[i] < 0 ? ward_err_sys(err, -errno, "/dev/null") : 0;
}

static bool opened_for(int i)
{
	int mode = fcntl(i, F_GETFL) & O_ACCMODE;
	return mode == O_RDWR || mode == (i == 0 ? O_RDONLY : O_WRONLY);
}

static int plan_input(struct ward_relay *r, struct ward_err *err)
{
	char self[32];
	int p[2];
	struct stream *s = &r->stream[PIPE_IN];
	if (!opened_for(0))
		return other_way(r, 0, err);
	int e = hold(r, 0, s, err);
	if (e == 0)
		e = make_pipe(r, p, err);
	if (e < 0)
		return e;
	r->child[0] = p[0];
	s->from = r->apart[0];
	s->to = p[1];
	/* An open file of its own, and so a flag of its own: we never wait there. */
	snprintf(self, sizeof(self), "/proc/self/fd/%d", p[0]);
	r->unread = open(self, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (r->unread < 0 || fcntl(p[1], F_SETFL, O_NONBLOCK) < 0)
		return ward_err_sys(err, -errno, "pipe");
	return 0;
}

/* Are 1 and 2 one open file, as after 2>&1? Two of one name differ in their flags or their place.
 */
static bool both_one(void)
{
	struct stat a, b;
	return fstat(1, &a) == 0 && fstat(2, &b) == 0 && a.st_dev == b.st_dev &&
	       a.st_ino == b.st_ino && fcntl(1, F_GETFL) == fcntl(2, F_GETFL) &&
	       lseek(1, 0, SEEK_CUR) == lseek(2, 0, SEEK_CUR);
}

static int plan_output(struct ward_relay *r, int i, bool apart, struct ward_err *err)
{
	int p[2];
	struct stream *s = &r->stream[i == 1 ? PIPE_OUT : PIPE_ERR];
	if (apart && !opened_for(i))
		return other_way(r, i, err);
	/* One pipe for both keeps the order in which the command wrote. */
	if (i == 2 && r->stream[PIPE_OUT].from >= 0 && both_one()) {
		r->child[2] = fcntl(r->child[1], F_DUPFD_CLOEXEC, 3);
		return r->child[2] < 0 ? ward_err_sys(err, -errno, "pipe") : 0;
	}
	int e = apart ? hold(r, i, s, err) : 0;
	if (e == 0)
		e = make_pipe(r, p, err);
	if (e < 0)
		return e;
	r->child[i] = p[1];
	s->from = p[0];
	/* The command may open it anew, and read before us what made it ready. */
	if (fcntl(p[0], F_SETFL, O_NONBLOCK) < 0)
		return ward_err_sys(err, -errno, "pipe");
	/* Opened anew, a file would be written from its start, and a device begin anew. */
	s->to = apart ? r->apart[i] : output(r, i);
	return 0;
}

/* What the command gets in place of terminals, where it is to have none, and of what stays apart.
 */
static int plan(struct ward_relay *r, struct ward_err *err)
{
	const bool pty = r->spec.flags & WARD_RELAY_TERMINAL;
	const bool count = r->spec.flags & WARD_RELAY_COUNT;
	int e = 0;
	if (r->tty[0] && !pty) {
		r->child[0] = open("/dev/null", O_RDONLY | O_CLOEXEC);
		if (r->child[0] < 0)
			return ward_err_sys(err, -errno, "/dev/null");
	} else if (ward_given_is_apart(r->given[0], r->spec.apart)) {
		e = plan_input(r, err);
	}
	for (int i = 1; i < 3 && e == 0; i++) {
		bool apart = ward_given_is_apart(r->given[i], r->spec.apart);
		if (apart || (r->tty[i] ? !pty : count))
			e = plan_output(r, i, apart, err);
	}
	return e;
}

int ward_relay_open(
	const struct ward_relay_spec *spec, struct ward_relay **ret, struct ward_err *err)
{
	struct ward_relay *r = calloc(1, sizeof(*r));
	int e = r ? 0 : ward_err_sys(err, -ENOMEM, "terminal");
	if (e < 0)
		return e;
	r->spec = *spec;
	r->file_max = UINT64_MAX;
	r->pty = r->terminal = r->unread = -1;
	for (int i = 0; i < 3; i++)
		r->child[i] = r->ours[i] = r->apart[i] = -1;
	for (int i = 0; i < STREAMS; i++) {
		struct stream *s = &r->stream[i];
		*s = (struct stream){.from = -1, .to = -1, .relay = r, .room = CHUNK};
		s->data = s->few;
	}
	for (int i = 0; i < 3 && e == 0; i++) {
		e = ward_given_look(i, names[i], &r->given[i], err);
		r->tty[i] = r->given[i] == WARD_GIVEN_TERMINAL;
	}
	if (e == 0 && spec->flags & WARD_RELAY_TERMINAL)
		plan_pty(r);
	if (e == 0)
		e = plan(r, err);
	if (e < 0) {
		ward_relay_close(r);
		return e;
	}
	*ret = r;
	return 0;
}

static void close_child_ends(struct ward_relay *r)
{
	for (int i = 0; i < 3; i++) {
		if (r->child[i] >= 0)
			close(r->child[i]);
		r->child[i] = -1;
	}
}

/* Of the pipe for 0, taken back. Whoever has it open may write to it as well: no more than it
 * holds. */
static size_t take_back(struct ward_relay *r)
{
	struct stream *s = &r->stream[PIPE_IN];
	int held = 0;
	size_t got = 0;
	if (ioctl(r->unread, FIONREAD, &held) < 0)
		return 0;
	while (got < (size_t)held) {
		ssize_t n = read(r->unread, s->data, s->room);
		if (n <= 0)
			break;
		got += (size_t)n;
	}
	return got;
}

/*
 * The command is over, or its input is. What it did not read of a file is the caller's again: the
 * place in the file is as if the command had read it itself.
 */
static void end_of_input(struct ward_relay *r)
{
	struct stream *s = &r->stream[PIPE_IN];
	uint64_t left = s->end - s->start;
	if (s->to >= 0)
		close(s->to);
	if (r->unread >= 0) {
		left += take_back(r);
		close(r->unread);
	}
	if (left > r->taken)
		left = r->taken;
	if (left > 0 && r->given[0] == WARD_GIVEN_FILE)
		(void)lseek(r->apart[0], -(off_t)left, SEEK_CUR);
	if (r->apart[0] >= 0)
		close(r->apart[0]);
	r->unread = r->apart[0] = s->from = s->to = -1;
	s->start = s->end = 0;
}

/* The command sees it, too: nobody reads its pipe any more (EPIPE, SIGPIPE). */
static void end_of_output(struct ward_relay *r, int which)
{
	struct stream *s = &r->stream[which];
	int i = which == PIPE_OUT ? 1 : 2;
	if (s->from >= 0)
		close(s->from);
	if (r->apart[i] >= 0)
		close(r->apart[i]);
	r->apart[i] = s->from = s->to = -1;
	s->start = s->end = 0;
}

void ward_relay_let_go(struct ward_relay *r)
{
	end_of_input(r);
	for (int i = 0; i < 3; i++) {
		if (r->ours[i] < 0)
			continue;
		for (int n = 0; n < STREAMS; n++)
			if (r->stream[n].to == r->ours[i])
				r->stream[n].to = i;
		close(r->ours[i]);
		r->ours[i] = -1;
	}
}

void ward_relay_close(struct ward_relay *r)
{
	if (!r)
		return;
	for (int i = 0; r->set && i < STREAMS; i++)
		ward_pollset_remove(r->set, r->stream[i].id);
	if (r->set)
		ward_pollset_remove(r->set, r->each);
	ward_relay_suspend(r);
	close_child_ends(r);
	end_of_output(r, PIPE_OUT);
	end_of_output(r, PIPE_ERR);
	ward_relay_let_go(r);
	for (int i = 0; i < STREAMS; i++)
		if (r->stream[i].data != r->stream[i].few)
			free(r->stream[i].data);
	free(r);
}

unsigned ward_relay_pipes(const struct ward_relay *r)
{
	unsigned pipes = 0;
	for (unsigned i = 0; i < 3; i++)
		pipes |= r->apart[i] >= 0 ? 1U << i : 0;
	return pipes;
}

void ward_relay_bound(struct ward_relay *r, uint64_t bytes)
{
	r->file_max = bytes;
}

const struct ward_err *ward_relay_failed(const struct ward_relay *r)
{
	return r->failed.code ? &r->failed : NULL;
}

uint64_t ward_relay_moved(const struct ward_relay *r)
{
	return r->moved;
}

bool ward_relay_wants_pty(const struct ward_relay *r)
{
	return r->pty_wanted;
}

void ward_relay_stdio(const struct ward_relay *r, int ret_stdio[3])
{
	for (int i = 0; i < 3; i++) {
		if (r->child[i] >= 0)
			ret_stdio[i] = r->child[i];
		else
			ret_stdio[i] = r->pty_wanted && r->tty[i] ? -1 : i;
	}
}

struct winsize ward_relay_winsize(const struct ward_relay *r)
{
	struct winsize ws = {0};
	if (r->terminal >= 0 && ioctl(r->terminal, TIOCGWINSZ, &ws) < 0)
		memset(&ws, 0, sizeof(ws));
	return ws;
}

int ward_relay_start(struct ward_relay *r, int pty, struct ward_err *err)
{
	close_child_ends(r);
	if (!r->pty_wanted)
		return 0;
	r->pty = pty;
	if (fcntl(pty, F_SETFL, O_NONBLOCK) < 0)
		return ward_err_sys(err, -errno, "pty");
	r->stream[SCREEN].from = pty;
	r->stream[SCREEN].to = output(r, r->tty[1] ? 1 : r->tty[2] ? 2 : 0);
	if (r->tty[0]) {
		r->stream[KEYS].from = 0;
		r->stream[KEYS].to = pty;
	}
	ward_relay_resume(r);
	return 0;
}

/* In the background we must not touch the terminal: SIGTTIN, SIGTTOU would stop us. */
static bool foreground(int terminal)
{
	return tcgetpgrp(terminal) == getpgrp();
}

void ward_relay_suspend(struct ward_relay *r)
{
	if (r->raw_now && foreground(r->terminal))
		tcsetattr(r->terminal, TCSADRAIN, &r->saved);
	r->raw_now = false;
}

void ward_relay_resume(struct ward_relay *r)
{
	if (r->pty < 0 || r->raw_now)
		return;
	ward_relay_resize(r);
	if (!r->raw_wanted || !foreground(r->terminal) || tcgetattr(r->terminal, &r->saved) < 0)
		return;
	struct termios raw = r->saved;
	cfmakeraw(&raw);
	if (tcsetattr(r->terminal, TCSADRAIN, &raw) == 0)
		r->raw_now = true;
}

void ward_relay_detachable(struct ward_relay *r)
{
	r->detachable = r->raw_wanted;
}

bool ward_relay_wants_away(const struct ward_relay *r)
{
	return r->wants_away;
}

void ward_relay_away(struct ward_relay *r)
{
	struct stream *screen = &r->stream[SCREEN];
	ward_relay_suspend(r);
	r->wants_away = r->detachable = r->raw_wanted = r->held = false;
	r->stream[KEYS].from = -1;
	ward_relay_let_go(r);
	screen->to = -1;
	screen->start = screen->end = 0;
	r->terminal = -1;
}

void ward_relay_tap(
	struct ward_relay *r, void (*fn)(void *user, const char *data, size_t n), void *user)
{
	r->tap = fn;
	r->tap_user = user;
}

void ward_relay_count(struct ward_relay *r, size_t n)
{
	r->moved += n;
}

void ward_relay_resize(struct ward_relay *r)
{
	struct winsize ws = ward_relay_winsize(r);
	if (r->pty >= 0 && ws.ws_row > 0)
		ioctl(r->pty, TIOCSWINSZ, &ws);
}

/* What came to the front by `fg` takes keys as they are typed from now on. */
static bool may_read_keys(struct ward_relay *r)
{
	if (!r->raw_now && !foreground(0))
		return false;
	if (r->raw_wanted)
		ward_relay_resume(r);
	return true;
}

bool ward_relay_in_front(const struct ward_relay *r)
{
	return r->raw_wanted && foreground(r->terminal);
}

static int timeout(const struct ward_relay *r)
{
	if (r->held)
		return HELD_NS / 1000000 + 1;
	return r->stream[KEYS].from >= 0 && !r->raw_now && !foreground(0) ? FOREGROUND_MS : -1;
}

/* What a stream waits for now: events of *ret_fd, -1: nothing. */
static short wanted(struct ward_relay *r, int i, int *ret_fd)
{
	const struct stream *s = &r->stream[i];
	bool empty = s->start == s->end;
	if (empty && (s->from < 0 || (i == KEYS && !may_read_keys(r)))) {
		*ret_fd = -1;
		return 0;
	}
	*ret_fd = empty ? s->from : s->to;
	return empty ? POLLIN : POLLOUT;
}

/* The end of the terminal's input (Ctrl-D while it is not raw) becomes the pty's. */
static void end_of_keys(struct ward_relay *r, struct stream *s)
{
	struct termios t;
	if (isatty(0) && tcgetattr(r->pty, &t) == 0 && t.c_lflag & ICANON) {
		s->data[0] = (char)t.c_cc[VEOF];
		s->start = 0;
		s->end = 1;
	} else {
		s->from = -1;
	}
}

/*
 * Takes the keys for leaving out of s. The first one is kept back, until another key or a moment
 * without one shows what was meant: the command gets both or none.
 */
static void look_for_detach(struct ward_relay *r, struct stream *s)
{
	char out[CHUNK];
	size_t n = 0;
	for (size_t i = 0; i < s->end; i++) {
		bool is = s->data[i] == WARD_RELAY_DETACH;
		if (is && r->held) {
			r->wants_away = true;
			break;
		}
		if (r->held)
			out[n++] = WARD_RELAY_DETACH;
		r->held = is;
		r->held_at = ward_clock_mono_ns();
		if (!is)
			out[n++] = s->data[i];
	}
	memcpy(s->data, out, n);
	s->end = n;
}

static void give_held(struct ward_relay *r)
{
	struct stream *s = &r->stream[KEYS];
	if (!r->held || r->wants_away || s->start != s->end ||
		ward_clock_mono_ns() - r->held_at < HELD_NS)
		return;
	r->held = false;
	s->data[0] = WARD_RELAY_DETACH;
	s->start = 0;
	s->end = 1;
}

static void fail(struct ward_relay *r, int which, int code)
{
	const bool in = which == PIPE_IN;
	if (!r->failed.code)
		ward_err_sys(&r->failed, code, "cannot %s %s", in ? "read" : "write",
			names[in		    ? 0
				: which == PIPE_OUT ? 1
						    : 2]);
}

static void end_of_stream(struct ward_relay *r, int which)
{
	struct stream *s = &r->stream[which];
	s->from = -1;
	if (which == PIPE_OUT || which == PIPE_ERR)
		end_of_output(r, which);
	if (which == PIPE_IN && s->to >= 0) {
		/* What was not read of it is looked at in the end. */
		close(s->to);
		s->to = -1;
	}
}

static void fill(struct ward_relay *r, int which)
{
	struct stream *s = &r->stream[which];
	/* Room for the one that was kept back. */
	ssize_t n = which == PIPE_IN && s->socket
			    ? recv(s->from, s->data, s->room - 1, MSG_DONTWAIT)
			    : read(s->from, s->data, s->room - 1);
	if (n > 0) {
		s->start = 0;
		s->end = (size_t)n;
		s->owed -= s->owed < (size_t)n ? s->owed : (size_t)n;
		if (which == KEYS && r->detachable)
			look_for_detach(r, s);
		r->moved += (uint64_t)n;
		if (which == PIPE_IN)
			r->taken += (uint64_t)n;
		if (which == SCREEN && r->tap)
			r->tap(r->tap_user, s->data, (size_t)n);
		if (s->to < 0)
			s->end = 0;
	} else if (n == 0 && which == KEYS) {
		end_of_keys(r, s);
	} else if (n == 0 || (errno != EINTR && errno != EAGAIN)) {
		/* A peer that goes without reading all resets the connection. That is its end. */
		if (n < 0 && which == PIPE_IN && errno != ECONNRESET)
			fail(r, which, -errno);
		/* EIO: the last process that had the pty open is gone. */
		end_of_stream(r, which);
	}
}

/*
 * How much of n bytes a file takes: RLIMIT_FSIZE is the command's, for what it opens itself, and
 * counts for what we write for it as well.
 */
static size_t takes(const struct ward_relay *r, const struct stream *s, size_t n)
{
	struct stat st;
	if (r->file_max == UINT64_MAX || fstat(s->to, &st) < 0 || !S_ISREG(st.st_mode))
		return n;
	off_t at = fcntl(s->to, F_GETFL) & O_APPEND ? st.st_size : lseek(s->to, 0, SEEK_CUR);
	uint64_t left = (uint64_t)at < r->file_max ? r->file_max - (uint64_t)at : 0;
	return left < n ? (size_t)left : n;
}

static ssize_t put(const struct ward_relay *r, int which)
{
	const struct stream *s = &r->stream[which];
	const char *data = s->data + s->start;
	size_t n = s->end - s->start;
	if (which != PIPE_OUT && which != PIPE_ERR)
		return write(s->to, data, n);
	if (s->socket)
		return send(s->to, data, n, MSG_DONTWAIT | MSG_NOSIGNAL);
	n = takes(r, s, n);
	if (n == 0)
		errno = EFBIG;
	return n ? write(s->to, data, n) : -1;
}

static void flush(struct ward_relay *r, int which)
{
	struct stream *s = &r->stream[which];
	ssize_t n = put(r, which);
	if (n >= 0 || errno == EINTR || errno == EAGAIN) {
		s->start += n > 0 ? (size_t)n : 0;
		return;
	}
	if (which == PIPE_IN) {
		end_of_input(r);
	} else if ((which == PIPE_OUT && r->apart[1] >= 0) ||
		   (which == PIPE_ERR && r->apart[2] >= 0)) {
		/* That nobody reads there is no failure of ours. */
		if (errno != EPIPE && errno != ECONNRESET)
			fail(r, which, -errno);
		end_of_output(r, which);
	} else {
		s->start = s->end; /* nobody reads there any more */
	}
}

/*
 * The stream is ready for what was asked. Meanwhile a key that was kept back may have become what
 * waits to be written.
 */
static void move_stream(struct ward_relay *r, int i, short asked)
{
	struct stream *s = &r->stream[i];
	if (s->start != s->end && asked == POLLOUT)
		flush(r, i);
	else if (s->start == s->end && s->from >= 0 && asked == POLLIN)
		fill(r, i);
	/* Files take it at once, and neither a socket nor the pipe for 0 is waited for. */
	if (s->data != s->few && s->start != s->end && asked == POLLIN)
		flush(r, i);
}

/* --- in a loop --- */

static int ask_streams(void *arg)
{
	struct ward_relay *r = arg;
	for (int i = 0; i < STREAMS; i++) {
		struct stream *s = &r->stream[i];
		int fd = -1;
		s->asked = wanted(r, i, &fd);
		ward_pollset_ask(r->set, s->id, fd, s->asked);
	}
	return timeout(r);
}

static void on_round(void *arg, short revents)
{
	(void)revents;
	give_held(arg);
}

static void on_stream(void *arg, short revents)
{
	const struct stream *s = arg;
	(void)revents;
	move_stream(s->relay, (int)(s - s->relay->stream), s->asked);
}

int ward_relay_watch(
	struct ward_relay *r, struct ward_pollset *set, unsigned rank, struct ward_err *err)
{
	/* First: a key that was kept back goes before what was typed after it. */
	int e = ward_pollset_each(set, rank, ask_streams, on_round, r, &r->each);
	r->set = set;
	for (int i = 0; i < STREAMS && e == 0; i++)
		e = ward_pollset_add(set, rank, -1, 0, on_stream, &r->stream[i], &r->stream[i].id);
	return e < 0 ? ward_err_sys(err, e, "terminal") : 0;
}

/* What is in its pipe now. */
static size_t held_by_pipe(const struct stream *s)
{
	int n = 0;
	return s->from >= 0 && ioctl(s->from, FIONREAD, &n) == 0 && n > 0 ? (size_t)n : 0;
}

/* In a drain: what is still to be moved. Of a pipe that is what it held when the command ended:
 * what that left running may write for ever. */
static short drains(struct ward_relay *r, int i, int *ret_fd)
{
	const struct stream *s = &r->stream[i];
	if (i != SCREEN && s->owed == 0 && s->start == s->end) {
		*ret_fd = -1;
		return 0;
	}
	return wanted(r, i, ret_fd);
}

void ward_relay_drain(struct ward_relay *r, int ms)
{
	for (int i = PIPE_OUT; i < STREAMS; i++)
		r->stream[i].owed = held_by_pipe(&r->stream[i]);
	for (int left = ms; left > 0;) {
		struct pollfd fds[STREAMS] = {0};
		bool any = false;
		for (int i = SCREEN; i < STREAMS; i++) {
			fds[i].events = drains(r, i, &fds[i].fd);
			any = any || fds[i].fd >= 0;
		}
		if (!any)
			return;
		int got = poll(fds + SCREEN, STREAMS - SCREEN, 20);
		if (got == 0) {
			left -= 20;
			/* Quiet, and nothing pending: a pipe held open by nobody we wait for. */
			bool pending = false;
			for (int i = SCREEN; i < STREAMS; i++)
				pending |= r->stream[i].start != r->stream[i].end;
			if (!pending)
				return;
		}
		for (int i = SCREEN; i < STREAMS; i++)
			if (fds[i].revents)
				move_stream(r, i, fds[i].events);
	}
}
