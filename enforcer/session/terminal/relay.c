/* SPDX-License-Identifier: Apache-2.0 */
/* Moves bytes between what the user gave as 0, 1, 2 and the pty and pipes of the sandbox. */
#include "enforcer/session/terminal/relay_internal.h"

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

/*
 * How often a job in the background looks whether it came to the front: a shell's `fg` sends
 * SIGCONT to stopped jobs only, and nothing tells those that run.
 */
#define FOREGROUND_MS 200

/* The first of two keys that mean leaving is the command's if nothing follows for so long. */
#define HELD_NS (WARD_NS_PER_SEC * 3 / 10)

/* For a read of a file that is under way when nobody wants more of it. */
#define LAST_READ_MS 1000
/* Nothing is written to a file for so long when all else is over: then the rest is given up. */
#define FILE_MS 60000
#define TICK_MS 20
/* A terminal that takes nothing for so long is left as it is. */
#define PUT_BACK_MS 1000

const char *const ward_relay_names[3] = {"standard input", "standard output", "standard error"};

/*
 * A terminal or pipe that nobody reads takes less than it is offered, and the rest would be waited
 * for: no clock would ring meanwhile. That it does not wait is a property of an open file, and the
 * caller's is shared with others. What may not be opened (su(1): a terminal of another user) waits.
 */
int ward_relay_output(struct ward_relay *r, int i)
{
	char self[32];
	if (r->ours[i] < 0) {
		snprintf(self, sizeof(self), "/proc/self/fd/%d", i);
		r->ours[i] = open(self, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	}
	return r->ours[i] >= 0 ? r->ours[i] : i;
}

/* What was given as i is not needed any more. */
static void let_go_of(struct ward_relay *r, int i, struct ward_relay_stream *s)
{
	if (s->slow) {
		ward_slow_file_free(s->slow);
		s->slow = NULL;
		s->data = s->few;
		s->room = WARD_RELAY_CHUNK;
	} else if (r->apart[i] >= 0) {
		close(r->apart[i]);
	}
	r->apart[i] = -1;
}

static void close_child_ends(struct ward_relay *r)
{
	for (int i = 0; i < 3; i++) {
		if (r->child[i] >= 0)
			close(r->child[i]);
		r->child[i] = -1;
	}
}

/* Bytes taken back from the pipe for 0. Other processes that have it open can also write to it, so
 * take no more than it contains now. */
static size_t take_back(struct ward_relay *r)
{
	char data[WARD_RELAY_CHUNK];
	int held = 0;
	size_t got = 0;
	if (ioctl(r->unread, FIONREAD, &held) < 0)
		return 0;
	while (got < (size_t)held) {
		ssize_t n = read(r->unread, data, sizeof(data));
		if (n <= 0)
			break;
		got += (size_t)n;
	}
	return got;
}

/* Waits for a read of a file to finish. False: the data does not come. */
static bool last_read(struct ward_relay *r)
{
	struct ward_relay_stream *s = &r->stream[PIPE_IN];
	if (!s->slow || !ward_slow_file_busy(s->slow))
		return true;
	struct pollfd p = {.fd = ward_slow_file_fd(s->slow), .events = POLLIN};
	(void)poll(&p, 1, LAST_READ_MS);
	ssize_t n = ward_slow_file_done(s->slow);
	if (n > 0) {
		s->start = 0;
		s->end = (size_t)n;
		r->taken += (uint64_t)n;
	}
	return n != -EINPROGRESS;
}

/*
 * The command is over, or its input is. What it did not read of a file is the caller's again: the
 * place in the file is as if the command had read it itself.
 */
static void end_of_input(struct ward_relay *r)
{
	struct ward_relay_stream *s = &r->stream[PIPE_IN];
	/* While it is read, the place in a file is locked: who asked for it would wait as well. */
	const bool may_seek = last_read(r);
	uint64_t left = s->end - s->start;
	if (s->to >= 0)
		close(s->to);
	if (r->unread >= 0) {
		left += take_back(r);
		close(r->unread);
	}
	if (left > r->taken)
		left = r->taken;
	if (left > 0 && may_seek && r->given[0] == WARD_GIVEN_FILE)
		(void)lseek(r->apart[0], -(off_t)left, SEEK_CUR);
	let_go_of(r, 0, s);
	r->unread = s->from = s->to = -1;
	s->start = s->end = 0;
}

/* The command sees it, too: nobody reads its pipe any more (EPIPE, SIGPIPE). */
static void end_of_output(struct ward_relay *r, int which)
{
	struct ward_relay_stream *s = &r->stream[which];
	int i = which == PIPE_OUT ? 1 : 2;
	if (s->from >= 0)
		close(s->from);
	let_go_of(r, i, s);
	r->notes.off |= r->notes.line_by == which;
	s->from = s->to = -1;
	s->start = s->end = 0;
}

void ward_relay_let_go(struct ward_relay *r)
{
	end_of_input(r);
	ward_relay_note_clear(r);
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
	ward_buf_clear(&r->cover.out);
	ward_buf_clear(&r->cover.typed);
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
	r->stream[SCREEN].to = ward_relay_output(r, r->tty[1] ? 1 : r->tty[2] ? 2 : 0);
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
	struct ward_relay_stream *screen = &r->stream[SCREEN];
	ward_relay_suspend(r);
	r->wants_away = r->detachable = r->raw_wanted = r->held = false;
	r->reserved = r->wants_panel = false;
	r->stream[KEYS].from = -1;
	ward_relay_let_go(r);
	screen->to = -1;
	screen->start = screen->end = 0;
	r->terminal = -1;
}

bool ward_relay_shows(const struct ward_relay *r)
{
	return r->pty >= 0 && r->stream[SCREEN].to >= 0 && !r->cover.on;
}

/* False: it does not take them. */
static bool put_all(int fd, const char *data, size_t n)
{
	while (n > 0) {
		struct pollfd p = {.fd = fd, .events = POLLOUT};
		ssize_t done = write(fd, data, n);
		if (done < 0 && errno != EINTR && errno != EAGAIN)
			return false;
		if (done < 0 && errno == EAGAIN && poll(&p, 1, PUT_BACK_MS) == 0)
			return false;
		data += done > 0 ? done : 0;
		n -= done > 0 ? (size_t)done : 0;
	}
	return true;
}

void ward_relay_put_back(struct ward_relay *r, const char *data, size_t n)
{
	struct ward_relay_stream *s = &r->stream[SCREEN];
	if (!r->raw_now || s->to < 0)
		return;
	bool fine = put_all(s->to, s->data + s->start, s->end - s->start);
	s->start = s->end = 0;
	if (fine)
		fine = put_all(s->to, data, n);
	const char *untitle = ward_relay_note_undo(r);
	if (fine)
		(void)put_all(s->to, untitle, strlen(untitle));
}

void ward_relay_cover(struct ward_relay *r, bool keep, const char *data, size_t n)
{
	ward_relay_put_back(r, data, n);
	r->cover.on = true;
	r->cover.keep = keep;
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

static void fail(struct ward_relay *r, int which, int code)
{
	const bool in = which == PIPE_IN;
	if (!r->failed.code)
		ward_err_sys(&r->failed, code, "cannot %s %s", in ? "read" : "write",
			ward_relay_names[in		     ? 0
					 : which == PIPE_OUT ? 1
							     : 2]);
}

static void end_of_stream(struct ward_relay *r, int which)
{
	struct ward_relay_stream *s = &r->stream[which];
	s->from = -1;
	if (which == PIPE_OUT || which == PIPE_ERR)
		end_of_output(r, which);
	if (which == PIPE_IN && s->to >= 0) {
		/* What was not read of it is looked at in the end. */
		close(s->to);
		s->to = -1;
	}
}

/* A file's next read or write, unless one is under way; false: there is no thread for it. */
static bool begin(struct ward_relay *r, int which)
{
	struct ward_relay_stream *s = &r->stream[which];
	int e = 0;
	if (ward_slow_file_busy(s->slow))
		return true;
	if (which == PIPE_IN)
		e = ward_slow_file_read(s->slow, s->room - 1);
	else
		e = ward_slow_file_write(s->slow, s->start, s->end - s->start, r->file_max);
	if (e < 0)
		fail(r, which, e);
	return e == 0;
}

/* Is it the file that a stream waits for: to be read, or to take what is there? */
static bool of_file(const struct ward_relay_stream *s, int which)
{
	bool empty = s->start == s->end;
	return s->slow && (which == PIPE_IN ? empty && s->from >= 0 : !empty);
}

/* What a stream waits for now: events of *ret_fd, -1: nothing. */
static short wanted(struct ward_relay *r, int i, int *ret_fd)
{
	struct ward_relay_stream *s = &r->stream[i];
	bool empty = s->start == s->end;
	if (of_file(s, i)) {
		bool going = begin(r, i);
		if (!going)
			end_of_stream(r, i);
		*ret_fd = going ? ward_slow_file_fd(s->slow) : -1;
		return going ? POLLIN : 0;
	}
	const bool covered = r->cover.on && (i == KEYS || (i == SCREEN && r->cover.keep));
	if (empty && (s->from < 0 || covered || (i == KEYS && !may_read_keys(r)))) {
		*ret_fd = -1;
		return 0;
	}
	*ret_fd = empty ? s->from : s->to;
	return empty ? POLLIN : POLLOUT;
}

/* The end of the terminal's input (Ctrl-D while it is not raw) becomes the pty's. */
static void end_of_keys(struct ward_relay *r, struct ward_relay_stream *s)
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
static void look_for_detach(struct ward_relay *r, struct ward_relay_stream *s)
{
	char out[WARD_RELAY_CHUNK];
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
	struct ward_relay_stream *s = &r->stream[KEYS];
	if (!r->held || r->wants_away || s->start != s->end ||
		ward_clock_mono_ns() - r->held_at < HELD_NS)
		return;
	r->held = false;
	s->data[0] = WARD_RELAY_DETACH;
	s->start = 0;
	s->end = 1;
}

/* Room for the one that was kept back. */
static ssize_t take(struct ward_relay_stream *s, int which)
{
	if (which != PIPE_IN || !(s->slow || s->socket))
		return read(s->from, s->data, s->room - 1);
	if (s->socket)
		return recv(s->from, s->data, s->room - 1, MSG_DONTWAIT);
	ssize_t n = ward_slow_file_done(s->slow);
	if (n >= 0)
		return n;
	errno = n == -EINPROGRESS ? EAGAIN : (int)-n;
	return -1;
}

static void fill(struct ward_relay *r, int which)
{
	struct ward_relay_stream *s = &r->stream[which];
	ssize_t n = take(s, which);
	if (n > 0) {
		s->start = 0;
		s->end = (size_t)n;
		s->owed -= s->owed < (size_t)n ? s->owed : (size_t)n;
		if (which == KEYS && r->reserved)
			ward_relay_cover_keys(r, s->data, &s->end);
		else if (which == KEYS && r->detachable)
			look_for_detach(r, s);
		r->moved += (uint64_t)n;
		if (which == PIPE_IN)
			r->taken += (uint64_t)n;
		ward_relay_note_wrote(r, which, s->data, (size_t)n);
		if (which == SCREEN && r->tap)
			r->tap(r->tap_user, s->data, (size_t)n);
		if (s->to < 0 || (which == SCREEN && ward_relay_cover_takes(r)))
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

static ssize_t put(struct ward_relay *r, int which)
{
	const struct ward_relay_stream *s = &r->stream[which];
	const char *data = s->data + s->start;
	size_t n = s->end - s->start;
	if (s->slow && which != PIPE_IN) {
		ssize_t done = -EINPROGRESS;
		if (ward_slow_file_busy(s->slow))
			done = ward_slow_file_done(s->slow);
		else if (!begin(r, which))
			done = r->failed.code;
		if (done >= 0)
			return done;
		errno = done == -EINPROGRESS ? EAGAIN : (int)-done;
		return -1;
	}
	if (s->socket && which != PIPE_IN)
		return send(s->to, data, n, MSG_DONTWAIT | MSG_NOSIGNAL);
	return write(s->to, data, n);
}

static void flush(struct ward_relay *r, int which)
{
	struct ward_relay_stream *s = &r->stream[which];
	ssize_t n = put(r, which);
	if (n >= 0 || errno == EINTR || errno == EAGAIN) {
		s->start += n > 0 ? (size_t)n : 0;
		return;
	}
	if (which == PIPE_IN) {
		end_of_input(r);
	} else if ((which == PIPE_OUT && r->apart[1] >= 0) ||
		   (which == PIPE_ERR && r->apart[2] >= 0)) {
		/* If nobody reads there, that is not a failure of wardfs. */
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
	struct ward_relay_stream *s = &r->stream[i];
	if (s->start != s->end && (asked == POLLOUT || (s->slow && i != PIPE_IN)))
		flush(r, i);
	else if (s->start == s->end && s->from >= 0 && asked == POLLIN)
		fill(r, i);
	/* Neither a file's thread nor a socket nor the pipe for 0 is waited for. */
	if (s->data != s->few && s->start != s->end && asked == POLLIN)
		flush(r, i);
}

/* --- in a loop --- */

static int ask_streams(void *arg)
{
	struct ward_relay *r = arg;
	ward_relay_cover_give(r);
	ward_relay_note_give(r);
	for (int i = 0; i < STREAMS; i++) {
		struct ward_relay_stream *s = &r->stream[i];
		int fd = -1;
		s->asked = wanted(r, i, &fd);
		ward_pollset_ask(r->set, s->id, fd, s->asked);
	}
	return ward_pollset_nearer(timeout(r), ward_relay_note_timeout(r));
}

static void on_round(void *arg, short revents)
{
	(void)revents;
	give_held(arg);
}

static void on_stream(void *arg, short revents)
{
	const struct ward_relay_stream *s = arg;
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
static size_t held_by_pipe(const struct ward_relay_stream *s)
{
	int n = 0;
	return s->from >= 0 && ioctl(s->from, FIONREAD, &n) == 0 && n > 0 ? (size_t)n : 0;
}

/* In a drain: how much is still to be moved. For a pipe that is what it contained when the command
 * ended, because processes that the command left running may write forever. */
static short drains(struct ward_relay *r, int i, int *ret_fd)
{
	const struct ward_relay_stream *s = &r->stream[i];
	if (i != SCREEN && s->owed == 0 && s->start == s->end) {
		*ret_fd = -1;
		return 0;
	}
	return wanted(r, i, ret_fd);
}

/* An output file has not got all yet. */
static bool waits_for_file(const struct ward_relay *r, int i)
{
	const struct ward_relay_stream *s = &r->stream[i];
	return s->slow && (s->start != s->end || (s->from >= 0 && s->owed > 0));
}

static bool waits_for_files(const struct ward_relay *r)
{
	return waits_for_file(r, PIPE_OUT) || waits_for_file(r, PIPE_ERR);
}

static void drain(struct ward_relay *r, int ms, int file_ms)
{
	for (int i = PIPE_OUT; i < STREAMS; i++)
		r->stream[i].owed = held_by_pipe(&r->stream[i]);
	for (int left = ms, files = file_ms; left > 0 || (files > 0 && waits_for_files(r));) {
		struct pollfd fds[STREAMS] = {0};
		bool any = false;
		ward_relay_cover_give(r);
		ward_relay_note_give(r);
		for (int i = SCREEN; i < STREAMS; i++) {
			fds[i].events = drains(r, i, &fds[i].fd);
			any = any || fds[i].fd >= 0;
		}
		if (!any)
			return;
		int got = poll(fds + SCREEN, STREAMS - SCREEN, TICK_MS);
		if (got == 0) {
			left -= left > 0 ? TICK_MS : 0;
			files -= TICK_MS;
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

void ward_relay_drain(struct ward_relay *r, int ms)
{
	drain(r, ms, 0);
}

void ward_relay_finish(struct ward_relay *r, int ms)
{
	drain(r, ms, FILE_MS);
	const char *untitle = ward_relay_note_undo(r);
	if (r->stream[SCREEN].to >= 0)
		(void)put_all(r->stream[SCREEN].to, untitle, strlen(untitle));
	for (int i = PIPE_OUT; i < STREAMS; i++)
		if (waits_for_file(r, i) && !r->failed.code)
			ward_err_set(&r->failed, -ETIMEDOUT,
				"cannot write to %s: nobody read from it for %d s",
				ward_relay_names[i == PIPE_OUT ? 1 : 2], FILE_MS / 1000);
}
