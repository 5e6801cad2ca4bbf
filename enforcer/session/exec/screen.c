/* SPDX-License-Identifier: Apache-2.0 */
/* Tells wardfs-screen what is on the terminal, and hears it. */
#include "enforcer/session/exec/screen.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/ioctl.h>

#include "enforcer/base/clock.h"
#include "enforcer/screen/tty_modes.h"

/* It has this long to take a message, or to answer, before it is given up. */
#define PATIENCE_NS WARD_NS_PER_SEC
#define TICK_MS 50

void ward_screen_start(struct ward_screen *s)
{
	struct ward_err err = WARD_ERR_INIT;
	s->room = malloc(WARD_MSG_MAX);
	if (!s->room)
		return;
	int r = ward_helper_prepare("wardfs-screen", &s->helper, &err);
	if (r == 0)
		r = ward_helper_spawn(&s->helper, NULL, 0, &err);
	if (r == 0 && fcntl(s->helper.control, F_SETFL, O_NONBLOCK) < 0)
		r = -errno;
	s->up = r == 0;
	if (!s->up)
		ward_screen_close(s);
}

bool ward_screen_is_up(const struct ward_screen *s)
{
	return s->up;
}

void ward_screen_close(struct ward_screen *s)
{
	if (s->set)
		ward_pollset_remove(s->set, s->id);
	s->set = NULL;
	for (size_t i = 0; i < s->n_queue; i++)
		ward_msg_clear(&s->queue[i]);
	s->n_queue = 0;
	(void)!ward_helper_reap(&s->helper, 0, true);
	ward_helper_close(&s->helper);
	ward_buf_clear(&s->undo);
	free(s->room);
	s->room = NULL;
	s->up = false;
}

static void give_up(struct ward_screen *s)
{
	if (!s->up)
		return;
	ward_screen_close(s);
	if (s->events)
		s->events->gone(s->user);
}

/* --- what it says --- */

static void take_undo(struct ward_screen *s, unsigned flags, const char *data, size_t n)
{
	ward_buf_add(&s->undo, data, n);
	s->undone = flags & WARD_SCREEN_LAST;
}

/* False: this is not a message of wardfs-screen. */
static bool take(struct ward_screen *s, struct ward_msg_reader *m)
{
	uint32_t who = 0, flags = 0;
	const char *data = NULL, *answer = NULL;
	size_t n = 0, n_answer = 0;
	if (m->type == WARD_MSG_SCREEN_PICTURE)
		who = ward_msg_get_u32(m);
	if (m->type != WARD_MSG_SCREEN_ASKED)
		flags = ward_msg_get_u32(m);
	data = ward_msg_get_bytes(m, &n);
	if (m->type == WARD_MSG_SCREEN_ASKED)
		answer = ward_msg_get_bytes(m, &n_answer);
	if (ward_msg_done(m) < 0 || !s->events)
		return false;
	if (m->type == WARD_MSG_SCREEN_SHOWN)
		s->events->shown(s->user, flags, data, n);
	else if (m->type == WARD_MSG_SCREEN_ASKED)
		s->events->asked(s->user, data, n, answer, n_answer);
	else if (m->type == WARD_MSG_SCREEN_PICTURE && who == 0)
		take_undo(s, flags, data, n);
	else if (m->type == WARD_MSG_SCREEN_PICTURE)
		s->events->picture(s->user, who, flags, data, n);
	else
		return false;
	return true;
}

/* All that it has said so far. False: it is gone, or talks nonsense. */
static bool hear(struct ward_screen *s)
{
	for (;;) {
		struct ward_msg_reader m;
		ssize_t n = ward_msg_recv(s->helper.control, s->room, WARD_MSG_MAX, NULL, NULL);
		if (n == -EAGAIN)
			return true;
		if (n == -EINTR)
			continue;
		if (n <= 0)
			return false;
		ward_msg_reader_init(&m, s->room, (size_t)n);
		if (!take(s, &m))
			return false;
	}
}

/* --- what it gets --- */

/* False: it is gone. What it does not take yet stays. */
static bool flush(struct ward_screen *s)
{
	size_t sent = 0;
	int r = 0;
	while (r == 0 && sent < s->n_queue) {
		r = ward_msg_send(s->helper.control, &s->queue[sent], NULL, 0);
		if (r == 0)
			ward_msg_clear(&s->queue[sent++]);
	}
	for (size_t i = sent; i < s->n_queue; i++)
		s->queue[i - sent] = s->queue[i];
	s->n_queue -= sent;
	return r == 0 || r == -EAGAIN;
}

/* Once round, until it says or takes something. False: it is gone, or it is too late. */
static bool serve(struct ward_screen *s, uint64_t until)
{
	struct pollfd p = {
		.fd = s->helper.control, .events = (short)(POLLIN | (s->n_queue ? POLLOUT : 0))};
	if (ward_clock_mono_ns() >= until)
		return false;
	(void)poll(&p, 1, TICK_MS);
	return hear(s) && flush(s);
}

static void tell(struct ward_screen *s, struct ward_msg *m)
{
	const uint64_t until = ward_clock_mono_ns() + PATIENCE_NS;
	bool fine = ward_buf_error(&m->buf) == 0;
	while (fine && s->n_queue == WARD_SCREEN_QUEUE)
		fine = serve(s, until);
	if (fine) {
		s->queue[s->n_queue++] = *m;
		fine = flush(s);
	} else {
		ward_msg_clear(m);
	}
	if (!fine)
		give_up(s);
}

static void tell_words(struct ward_screen *s, uint32_t type, const uint32_t *words, size_t n)
{
	struct ward_msg m;
	if (!s->up)
		return;
	ward_msg_init(&m, type);
	for (size_t i = 0; i < n; i++)
		ward_msg_put_u32(&m, words[i]);
	tell(s, &m);
}

/* We or a program inside changed the window: nobody else says so. */
static void tell_size(struct ward_screen *s)
{
	struct winsize ws = {0};
	if (ioctl(s->pty, TIOCGWINSZ, &ws) < 0 || ws.ws_row == 0 || ws.ws_col == 0)
		ws = (struct winsize){.ws_row = 24, .ws_col = 80};
	if (ws.ws_row == s->rows && ws.ws_col == s->columns)
		return;
	s->rows = ws.ws_row;
	s->columns = ws.ws_col;
	const uint32_t words[] = {s->rows, s->columns};
	tell_words(s, WARD_MSG_SCREEN_SIZE, words, 2);
}

void ward_screen_wrote(struct ward_screen *s, const char *data, size_t n)
{
	if (s->up)
		tell_size(s);
	for (size_t i = 0; s->up && i < n; i += WARD_SCREEN_PIECE) {
		struct ward_msg m;
		ward_msg_init(&m, WARD_MSG_SCREEN_WROTE);
		ward_msg_put_bytes(
			&m, data + i, n - i < WARD_SCREEN_PIECE ? n - i : WARD_SCREEN_PIECE);
		tell(s, &m);
	}
}

void ward_screen_draw(struct ward_screen *s, uint32_t who, bool first)
{
	const uint32_t words[] = {who, first};
	if (s->up)
		tell_size(s);
	tell_words(s, WARD_MSG_SCREEN_DRAW, words, 2);
}

void ward_screen_quiet(struct ward_screen *s)
{
	tell_words(s, WARD_MSG_SCREEN_QUIET, NULL, 0);
}

/* What it answers to nobody in particular. False: it does not. */
static bool wait_for(struct ward_screen *s, uint32_t type, size_t n_words, struct ward_buf *ret)
{
	const uint64_t until = ward_clock_mono_ns() + PATIENCE_NS;
	static const uint32_t nobody[] = {0, 0};
	*ret = WARD_BUF_INIT;
	ward_buf_clear(&s->undo);
	s->undone = false;
	if (s->up)
		tell_size(s);
	tell_words(s, type, nobody, n_words);
	bool fine = s->up;
	while (fine && !s->undone)
		fine = serve(s, until);
	if (fine)
		ward_buf_add(ret, s->undo.data, s->undo.len);
	return fine;
}

void ward_screen_undo(struct ward_screen *s, struct ward_buf *ret)
{
	const struct ward_tty_modes unknown = {0};
	if (!wait_for(s, WARD_MSG_SCREEN_UNDO, 0, ret))
		ward_tty_modes_undo(&unknown, true, ret);
}

bool ward_screen_redraw(struct ward_screen *s, struct ward_buf *ret)
{
	const struct ward_tty_modes unknown = {0};
	if (wait_for(s, WARD_MSG_SCREEN_DRAW, 2, ret))
		return true;
	ward_tty_modes_undo(&unknown, true, ret);
	return false;
}

/* --- in a loop --- */

void ward_screen_hear(
	struct ward_screen *s, int pty, const struct ward_screen_events *events, void *user)
{
	s->pty = pty;
	s->events = events;
	s->user = user;
	/* Without a terminal there is nothing for it to do. */
	if (pty < 0)
		ward_screen_close(s);
}

static void on_ready(void *arg, short revents)
{
	struct ward_screen *s = arg;
	(void)revents;
	if (!hear(s) || !flush(s))
		give_up(s);
}

static int before_round(void *arg)
{
	struct ward_screen *s = arg;
	if (s->up)
		ward_pollset_ask(s->set, s->id, s->helper.control,
			(short)(POLLIN | (s->n_queue ? POLLOUT : 0)));
	return -1;
}

int ward_screen_watch(
	struct ward_screen *s, struct ward_pollset *set, unsigned rank, struct ward_err *err)
{
	if (!s->up)
		return 0;
	int r = ward_pollset_add(set, rank, s->helper.control, POLLIN, on_ready, s, &s->id);
	if (r == 0)
		r = ward_pollset_each(set, rank, before_round, NULL, s, NULL);
	if (r == 0)
		s->set = set;
	return r < 0 ? ward_err_sys(err, r, "screen") : 0;
}
