/* SPDX-License-Identifier: Apache-2.0 */
#include "enforcer/session/relay.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"
#include "enforcer/base/kernel.h"

/* A terminal takes this much at once without making us wait long. */
#define CHUNK 4096

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
	size_t start;
	size_t end; /* data[start..end) wait to be written */
	char data[CHUNK];
};

/* Input first: what drains begins at SCREEN. */
enum stream_name { KEYS = 0, PIPE_IN, SCREEN, PIPE_OUT, PIPE_ERR, STREAMS };
static_assert(STREAMS <= WARD_RELAY_POLL_MAX, "each may be waited for");

struct ward_relay {
	bool tty[3];
	bool pty_wanted;
	bool raw_wanted; /* keys and screen are on the terminal: raw while in the foreground */
	bool raw_now;
	int terminal; /* 0, 1, 2 or -1: the descriptor whose modes and size count */
	int pty;      /* borrowed; -1 without */
	int ours[3];  /* 0, 1, 2 opened anew, so as never to wait in write(2); -1: not so */
	int child[3]; /* ends for the command, owned; -1: inherited as they are or the pty */
	struct termios saved;
	struct stream stream[STREAMS];
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

static bool is_file(int fd)
{
	struct stat st;
	return fstat(fd, &st) < 0 || S_ISREG(st.st_mode);
}

static void plan_pty(struct ward_relay *r)
{
	r->pty_wanted = r->tty[0] || r->tty[1] || r->tty[2];
	r->terminal = r->tty[1] ? 1 : r->tty[0] ? 0 : r->tty[2] ? 2 : -1;
	if (r->terminal >= 0)
		r->raw_wanted = r->tty[0] && r->tty[1];
}

static int plan_input(struct ward_relay *r, struct ward_err *err)
{
	int p[2];
	if (!is_file(0))
		return 0;
	if (pipe2(p, O_CLOEXEC) < 0)
		return ward_err_sys(err, -errno, "pipe");
	r->child[0] = p[0];
	r->stream[PIPE_IN].from = 0;
	r->stream[PIPE_IN].to = p[1];
	return fcntl(p[1], F_SETFL, O_NONBLOCK) < 0 ? ward_err_sys(err, -errno, "pipe") : 0;
}

static int plan_output(struct ward_relay *r, int i, struct ward_err *err)
{
	int p[2];
	if (pipe2(p, O_CLOEXEC) < 0)
		return ward_err_sys(err, -errno, "pipe");
	struct stream *s = &r->stream[i == 1 ? PIPE_OUT : PIPE_ERR];
	r->child[i] = p[1];
	s->from = p[0];
	/* Opened anew a file would be written from its start; it takes everything at once. */
	s->to = is_file(i) ? i : output(r, i);
	return 0;
}

static int plan_apart(struct ward_relay *r, struct ward_err *err)
{
	int e = r->child[0] < 0 ? plan_input(r, err) : 0;
	for (int i = 1; i < 3 && e == 0; i++)
		if (r->child[i] < 0 && is_file(i))
			e = plan_output(r, i, err);
	return e;
}

/* No terminal for the command: /dev/null and pipes stand in; others: pipes for output that is none.
 */
static int plan_pipes(struct ward_relay *r, bool others, struct ward_err *err)
{
	if (r->tty[0] && !others) {
		r->child[0] = open("/dev/null", O_RDONLY | O_CLOEXEC);
		if (r->child[0] < 0)
			return ward_err_sys(err, -errno, "/dev/null");
	}
	int e = 0;
	for (int i = 1; i < 3 && e == 0; i++)
		if (r->tty[i] != others)
			e = plan_output(r, i, err);
	return e;
}

/*
 * What the command may have as 0, 1 or 2: not a directory, which leads to the whole file system
 * that it lies in (fchdir(2), openat(2)), not a disk, and not an O_PATH descriptor, which stands
 * for either.
 */
static int check_stdio(struct ward_err *err)
{
	static const char *const names[] = {"standard input", "standard output", "standard error"};
	for (int i = 0; i < 3; i++) {
		struct stat st;
		int flags = fcntl(i, F_GETFL);
		if (flags < 0 || fstat(i, &st) < 0)
			return ward_err_sys(err, -errno, "%s", names[i]);
		if (S_ISDIR(st.st_mode) || S_ISBLK(st.st_mode) || flags & O_PATH)
			return ward_err_set(err, -EINVAL,
				"%s is a %s: the command would reach through it past the sandbox",
				names[i],
				S_ISDIR(st.st_mode)   ? "directory"
				: S_ISBLK(st.st_mode) ? "disk"
						      : "path");
	}
	return 0;
}

unsigned ward_relay_apart(void)
{
	return ward_kernel_landlock() == 0 ? WARD_RELAY_APART : 0;
}

int ward_relay_open(unsigned flags, struct ward_relay **ret, struct ward_err *err)
{
	int bad = check_stdio(err);
	if (bad < 0)
		return bad;
	struct ward_relay *r = calloc(1, sizeof(*r));
	if (!r)
		return ward_err_sys(err, -ENOMEM, "terminal");
	r->pty = r->terminal = -1;
	for (int i = 0; i < 3; i++) {
		r->tty[i] = isatty(i);
		r->child[i] = r->ours[i] = -1;
	}
	for (int i = 0; i < STREAMS; i++)
		r->stream[i].from = r->stream[i].to = -1;
	int e = 0;
	if (flags & WARD_RELAY_TERMINAL)
		plan_pty(r);
	else
		e = plan_pipes(r, false, err);
	if (e == 0 && flags & WARD_RELAY_COUNT)
		e = plan_pipes(r, true, err);
	if (e == 0 && flags & WARD_RELAY_APART)
		e = plan_apart(r, err);
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

/* The command reads its end. */
static void end_of_input(struct stream *s)
{
	if (s->to >= 0)
		close(s->to);
	s->from = s->to = -1;
	s->start = s->end = 0;
}

void ward_relay_let_go(struct ward_relay *r)
{
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
	ward_relay_suspend(r);
	close_child_ends(r);
	end_of_input(&r->stream[PIPE_IN]);
	for (int i = PIPE_OUT; i <= PIPE_ERR; i++)
		if (r->stream[i].from >= 0)
			close(r->stream[i].from);
	ward_relay_let_go(r);
	free(r);
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

int ward_relay_timeout(const struct ward_relay *r)
{
	if (r->held)
		return HELD_NS / 1000000 + 1;
	return r->stream[KEYS].from >= 0 && !r->raw_now && !foreground(0) ? FOREGROUND_MS : -1;
}

size_t ward_relay_poll(struct ward_relay *r, struct pollfd *ret_fds)
{
	size_t n = 0;
	for (int i = 0; i < STREAMS; i++) {
		const struct stream *s = &r->stream[i];
		bool empty = s->start == s->end;
		if (!empty)
			ret_fds[n++] = (struct pollfd){.fd = s->to, .events = POLLOUT};
		else if (s->from >= 0 && (i != KEYS || may_read_keys(r)))
			ret_fds[n++] = (struct pollfd){.fd = s->from, .events = POLLIN};
	}
	return n;
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

static void fill(struct ward_relay *r, int which)
{
	struct stream *s = &r->stream[which];
	/* Room for the one that was kept back. */
	ssize_t n = read(s->from, s->data, sizeof(s->data) - 1);
	if (n > 0) {
		s->start = 0;
		s->end = (size_t)n;
		if (which == KEYS && r->detachable)
			look_for_detach(r, s);
		r->moved += (uint64_t)n;
		if (which == SCREEN && r->tap)
			r->tap(r->tap_user, s->data, (size_t)n);
		if (s->to < 0)
			s->end = 0;
	} else if (n == 0 && which == KEYS) {
		end_of_keys(r, s);
	} else if (n == 0 || (errno != EINTR && errno != EAGAIN)) {
		/* EIO: the last process that had the pty open is gone. */
		if (which == PIPE_OUT || which == PIPE_ERR)
			close(s->from);
		s->from = -1;
		if (which == PIPE_IN)
			end_of_input(s);
	}
}

static void flush(struct stream *s, bool input)
{
	ssize_t n = write(s->to, s->data + s->start, s->end - s->start);
	if (n > 0)
		s->start += (size_t)n;
	else if (n < 0 && errno != EINTR && errno != EAGAIN && input)
		end_of_input(s);
	else if (n < 0 && errno != EINTR && errno != EAGAIN)
		s->start = s->end; /* nobody reads there any more */
}

static short events_of(const struct pollfd *fds, size_t n, int fd, short asked)
{
	short ev = 0;
	for (size_t i = 0; i < n; i++)
		if (fds[i].fd == fd && fds[i].events & asked)
			ev |= fds[i].revents;
	return ev;
}

void ward_relay_move(struct ward_relay *r, const struct pollfd *fds, size_t n)
{
	give_held(r);
	for (int i = 0; i < STREAMS; i++) {
		struct stream *s = &r->stream[i];
		if (s->start != s->end) {
			if (events_of(fds, n, s->to, POLLOUT))
				flush(s, i == PIPE_IN);
		} else if (s->from >= 0 && events_of(fds, n, s->from, POLLIN)) {
			fill(r, i);
		}
	}
}

void ward_relay_drain(struct ward_relay *r, int ms)
{
	for (int left = ms; left > 0;) {
		struct pollfd fds[WARD_RELAY_POLL_MAX];
		size_t n = 0;
		for (int i = SCREEN; i < STREAMS; i++) {
			const struct stream *s = &r->stream[i];
			if (s->start != s->end)
				fds[n++] = (struct pollfd){.fd = s->to, .events = POLLOUT};
			else if (s->from >= 0)
				fds[n++] = (struct pollfd){.fd = s->from, .events = POLLIN};
		}
		if (n == 0)
			return;
		int got = poll(fds, n, 20);
		if (got == 0) {
			left -= 20;
			/* Quiet, and nothing pending: a pipe held open by nobody we wait for. */
			bool pending = false;
			for (int i = SCREEN; i < STREAMS; i++)
				pending |= r->stream[i].start != r->stream[i].end;
			if (!pending)
				return;
		}
		ward_relay_move(r, fds, n);
	}
}
