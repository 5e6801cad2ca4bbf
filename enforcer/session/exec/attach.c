/* SPDX-License-Identifier: Apache-2.0 */
/* Lets clients of `wardfs attach` see and type at the session's terminal. */
#include "enforcer/session/exec/attach.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/session/control/control.h"
#include "enforcer/session/owner/exit_status.h"

/* Somebody who reads no faster than this behind is not waited for: the command would be. */
#define BEHIND_MAX ((size_t)256 << 10)
/* Typed and not yet taken by the program. */
#define KEYS_MAX 4096

struct ward_attached {
	struct ward_attach *all;
	int control;
	int stream;
	ward_pollset_id says, types; /* control's and stream's */
	uint32_t id;
	bool watch;
	bool covered; /* their terminal shows something else */
	bool drawn;   /* sees what is written from now on */
	bool due;     /* needs a new drawing, once it has read its backlog */
	bool within;  /* did not see the beginning of the string that is under way */
	struct ucred peer;
	struct ward_buf behind; /* of the screen, from `sent` on */
	size_t sent;
	char keys[KEYS_MAX];
	size_t n_keys;
};

/* The controlling side of the command's terminal; -1: it has none. */
static int pty_of(const struct ward_attach *a)
{
	return ward_sandbox_pty(ward_mode_sandbox(a->confined));
}

static void answer(int fd, json_t *o, int with)
{
	ward_cleanup_free char *text = o ? json_dumps(o, JSON_COMPACT | JSON_ENSURE_ASCII) : NULL;
	json_decref(o);
	/* One that is gone, or does not read, changes nothing. */
	if (text)
		(void)!ward_control_send(fd, text, &with, with >= 0 ? 1 : 0);
}

static int record(struct ward_attach *a, const struct ward_attached *c, const char *what)
{
	ward_cleanup_free struct ward_event *ev = malloc(sizeof(*ev));
	char text[96];
	if (!ev)
		return -ENOMEM;
	ward_event_begin(ev, WARD_EVENT_EXEC);
	ward_event_u64(ev, WARD_TAG_PID, (uint64_t)c->peer.pid);
	ward_event_u64(ev, WARD_TAG_UID, c->peer.uid);
	(void)snprintf(text, sizeof(text), "wardfs attach, number %u%s: %s", c->id,
		c->watch ? ", to watch" : "", what);
	ward_event_text(ev, WARD_TAG_TEXT, text);
	return ward_guard_put(a->guard, ev);
}

/* Its stream closes; the connection stays open. */
static void forget(const struct ward_attach *a, const struct ward_attached *c)
{
	ward_pollset_remove(a->set, c->says);
	ward_pollset_remove(a->set, c->types);
	if (c->stream >= 0)
		close(c->stream);
}

static void let_go(struct ward_attached *c)
{
	struct ward_attach *a = c->all;
	bool any = false;
	for (size_t i = 0; i < WARD_ATTACH_MAX; i++) {
		if (a->v[i] == c)
			a->v[i] = NULL;
		any |= a->v[i] != NULL;
	}
	if (!any)
		ward_screen_quiet(a->screen);
	forget(a, c);
	/* A trail that fails now ends the session by itself (WARD_MSG_AUDIT_BROKEN). */
	(void)!record(a, c, "left");
	close(c->control);
	ward_buf_clear(&c->behind);
	free(c);
	/* The first terminal has its size again. */
	ward_relay_resize(a->relay);
}

static void flush(struct ward_attached *c)
{
	while (c->sent < c->behind.len) {
		ssize_t n = send(c->stream, c->behind.data + c->sent, c->behind.len - c->sent,
			MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return; /* full, or gone: poll(2) tells */
		c->sent += (size_t)n;
	}
	ward_buf_clear(&c->behind);
	c->sent = 0;
}

static void show(struct ward_attached *c, const char *data, size_t n)
{
	if (c->behind.len - c->sent + n > BEHIND_MAX) {
		/* The rest is dropped, and the screen drawn once they have read what there is. */
		c->due = ward_screen_is_up(c->all->screen);
		c->drawn = !c->due;
		return;
	}
	ward_buf_add(&c->behind, data, n);
	flush(c);
}

/* What the relay reads from the pty, whether or not there is still a first terminal. */
static void on_screen(void *user, const char *data, size_t n)
{
	struct ward_attach *a = user;
	if (ward_screen_is_up(a->screen)) {
		ward_screen_wrote(a->screen, data, n);
		return;
	}
	for (size_t i = 0; i < WARD_ATTACH_MAX; i++)
		if (a->v[i] && !a->v[i]->covered)
			show(a->v[i], data, n);
}

/* --- what wardfs-screen says --- */

static void on_shown(void *user, unsigned flags, const char *data, size_t n)
{
	struct ward_attach *a = user;
	const bool within = flags & WARD_SCREEN_WITHIN;
	for (size_t i = 0; i < WARD_ATTACH_MAX; i++) {
		struct ward_attached *c = a->v[i];
		if (!c || !c->drawn || (within && c->within))
			continue;
		c->within = false;
		show(c, data, n);
	}
}

/* The first client that types; NULL: nobody. */
static struct ward_attached *who_answers(const struct ward_attach *a)
{
	struct ward_attached *first = NULL;
	for (size_t i = 0; i < WARD_ATTACH_MAX; i++) {
		struct ward_attached *c = a->v[i];
		if (c && c->drawn && !c->watch && (!first || c->id < first->id))
			first = c;
	}
	return first;
}

static void on_asked(void *user, const char *data, size_t n, const char *answer, size_t n_answer)
{
	struct ward_attach *a = user;
	/* It has seen the question, as all else. */
	if (ward_relay_shows(a->relay))
		return;
	struct ward_attached *c = who_answers(a);
	if (c)
		show(c, data, n);
	else if (n_answer)
		/* A program that does not read has no use for it. */
		(void)!write(pty_of(a), answer, n_answer);
}

static void on_picture(void *user, uint32_t who, unsigned flags, const char *data, size_t n)
{
	struct ward_attach *a = user;
	for (size_t i = 0; i < WARD_ATTACH_MAX; i++) {
		struct ward_attached *c = a->v[i];
		if (!c || c->id != who)
			continue;
		/* It is as long as it is (WARD_PICTURE_MAX). */
		ward_buf_add(&c->behind, data, n);
		flush(c);
		c->drawn = flags & WARD_SCREEN_LAST && !c->covered;
		c->within = flags & WARD_SCREEN_WITHIN;
	}
}

/* From now on all see what is read, as it is. */
static void on_gone(void *user)
{
	struct ward_attach *a = user;
	for (size_t i = 0; i < WARD_ATTACH_MAX; i++) {
		if (!a->v[i])
			continue;
		a->v[i]->drawn = !a->v[i]->covered;
		a->v[i]->due = a->v[i]->within = false;
	}
}

/* The window is that of the last client; even one of the same size is drawn again. */
static void take_size(const struct ward_attach *a, const json_t *q)
{
	json_int_t rows = json_integer_value(json_object_get(q, "rows"));
	json_int_t columns = json_integer_value(json_object_get(q, "columns"));
	const struct winsize ws = {
		.ws_row = (unsigned short)rows, .ws_col = (unsigned short)columns};
	if (rows < 1 || rows > UINT16_MAX || columns < 1 || columns > UINT16_MAX)
		return;
	(void)ioctl(pty_of(a), TIOCSWINSZ, &ws);
	(void)!ward_mode_signal(a->confined, 0, SIGWINCH);
}

static void type(const struct ward_attach *a, struct ward_attached *c)
{
	ssize_t n = c->n_keys ? write(pty_of(a), c->keys, c->n_keys) : 0;
	if (n <= 0)
		return;
	c->n_keys -= (size_t)n;
	memmove(c->keys, c->keys + n, c->n_keys);
}

/* False: gone. */
static bool hear_keys(struct ward_attach *a, struct ward_attached *c)
{
	char watched[256];
	char *to = c->watch ? watched : c->keys + c->n_keys;
	size_t room = c->watch ? sizeof(watched) : sizeof(c->keys) - c->n_keys;
	ssize_t n = room ? recv(c->stream, to, room, MSG_DONTWAIT) : 1;
	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
		return false;
	if (n > 0 && room && !c->watch) {
		c->n_keys += (size_t)n;
		ward_relay_count(a->relay, (size_t)n);
	}
	return true;
}

/* While their terminal shows something else they neither see nor answer what the program asks. */
static void cover(const struct ward_attach *a, struct ward_attached *c, bool on)
{
	c->covered = on;
	c->drawn = c->due = false;
	if (on)
		return;
	if (ward_screen_is_up(a->screen)) {
		ward_screen_draw(a->screen, c->id, false);
		return;
	}
	c->drawn = true;
	ward_relay_redraw(a->relay);
}

static bool hear_control(const struct ward_attach *a, struct ward_attached *c)
{
	ward_cleanup_free char *text = NULL;
	size_t none = 0;
	int r = ward_control_hear(c->control, &text, NULL, &none);
	if (r < 0)
		return r == -EAGAIN || r == -EINTR;
	json_t *q = json_loads(text, 0, NULL);
	const json_t *panel = json_object_get(q, "panel");
	if (json_is_boolean(panel))
		cover(a, c, json_is_true(panel));
	else if (q && !c->watch)
		take_size(a, q);
	json_decref(q);
	return q;
}

static void on_control(void *arg, short revents)
{
	struct ward_attached *c = arg;
	(void)revents;
	if (!hear_control(c->all, c))
		let_go(c);
}

static void on_stream(void *arg, short revents)
{
	struct ward_attached *c = arg;
	if (revents & POLLOUT)
		flush(c);
	if (revents & (POLLIN | POLLHUP | POLLERR) && !hear_keys(c->all, c))
		let_go(c);
	else
		type(c->all, c);
}

/* What the program does not take yet is not read from the one who types. */
static int ask_streams(void *arg)
{
	const struct ward_attach *a = arg;
	for (size_t i = 0; i < WARD_ATTACH_MAX; i++) {
		struct ward_attached *c = a->v[i];
		if (!c)
			continue;
		if (c->due && !c->behind.len) {
			c->due = false;
			ward_screen_draw(a->screen, c->id, false);
		}
		short events = c->n_keys < sizeof(c->keys) ? POLLIN : 0;
		ward_pollset_ask(a->set, c->types, c->stream,
			(short)(events | (c->behind.len ? POLLOUT : 0)));
	}
	return -1;
}

/* What the program did not take before: nothing tells when it does. */
static void type_all(void *arg, short revents)
{
	const struct ward_attach *a = arg;
	(void)revents;
	for (size_t i = 0; i < WARD_ATTACH_MAX; i++)
		if (a->v[i])
			type(a, a->v[i]);
}

void ward_attach_start(struct ward_attach *ret, struct ward_confined *c, struct ward_guard *g,
	struct ward_relay *relay, struct ward_screen *screen)
{
	static const struct ward_screen_events events = {
		.shown = on_shown, .asked = on_asked, .picture = on_picture, .gone = on_gone};
	*ret = (struct ward_attach){.confined = c, .guard = g, .relay = relay, .screen = screen};
	ward_screen_hear(screen, pty_of(ret), &events, ret);
	ward_relay_tap(relay, on_screen, ret);
}

int ward_attach_watch(
	struct ward_attach *a, struct ward_pollset *set, unsigned rank, struct ward_err *err)
{
	a->set = set;
	a->rank = rank;
	int r = ward_pollset_each(set, rank, ask_streams, type_all, a, NULL);
	return r < 0 ? ward_err_sys(err, r, "attach") : 0;
}

/* Its window before its keys: what is typed is for the new size. */
static int watch(struct ward_attach *a, struct ward_attached *c, struct ward_err *err)
{
	int r = ward_pollset_add(a->set, a->rank, c->control, POLLIN, on_control, c, &c->says);
	if (r == 0)
		r = ward_pollset_add(a->set, a->rank, c->stream, POLLIN, on_stream, c, &c->types);
	return r < 0 ? ward_err_set(err, -EAGAIN, "too many requests wait for the session already")
		     : 0;
}

static int join(struct ward_attach *a, struct ward_attached *c, struct ward_err *err)
{
	int ends[2];
	if (a->over)
		return ward_err_set(err, -ESRCH,
			"the session's command has ended; 'wardfs exec SESSION CMD' runs another "
			"one");
	if (pty_of(a) < 0)
		return ward_err_set(err, -ENOTTY,
			"the session's command has no terminal; 'wardfs exec SESSION sh' starts a shell with its own terminal");
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) < 0)
		return ward_err_sys(err, -errno, "socketpair");
	c->stream = ends[0];
	int r = watch(a, c, err);
	if (r == 0 && record(a, c, "joined") < 0)
		r = ward_err_set(err, -EIO, "cannot write the trail");
	if (r == 0)
		answer(c->control,
			json_pack("{s:b, s:b, s:b}", "attached", 1, "drawn",
				ward_screen_is_up(a->screen), "asks", a->asks),
			ends[1]);
	if (r == 0 && a->rung)
		answer(c->control, json_pack("{s:b}", "ring", 1), -1);
	close(ends[1]);
	return r;
}

void ward_attach_request(struct ward_attach *a, int fd, const json_t *request)
{
	struct ward_err err = WARD_ERR_INIT;
	struct ward_attached *c = calloc(1, sizeof(*c));
	socklen_t len = sizeof(c->peer);
	size_t slot = 0;
	while (slot < WARD_ATTACH_MAX && a->v[slot])
		slot++;
	int r = c ? 0 : ward_err_sys(&err, -ENOMEM, "attach");
	if (r == 0 && slot == WARD_ATTACH_MAX)
		r = ward_err_set(&err, -EAGAIN, "%d are attached already", WARD_ATTACH_MAX);
	if (r == 0) {
		*c = (struct ward_attached){.all = a,
			.control = fd,
			.stream = -1,
			.id = ++a->last_id,
			.watch = json_is_true(json_object_get(request, "watch"))};
		(void)getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &c->peer, &len);
		r = join(a, c, &err);
	}
	if (r < 0) {
		answer(fd, json_pack("{s:s, s:i}", "error", err.text, "status", WARD_EXIT_SETUP),
			-1);
		if (c && c->all)
			forget(a, c);
		close(fd);
		free(c);
		return;
	}
	a->v[slot] = c;
	/* Before it is drawn: it is drawn for this window. */
	if (!c->watch)
		take_size(a, request);
	c->drawn = !ward_screen_is_up(a->screen);
	ward_screen_draw(a->screen, c->id, true);
}

/* Sends the rest of the screen, but not to a client that does not read. */
static void last_words(struct ward_attached *c)
{
	struct pollfd p = {.fd = c->stream, .events = POLLOUT};
	for (int i = 0; i < 10 && c->behind.len; i++) {
		if (poll(&p, 1, 100) > 0 && p.revents & (POLLHUP | POLLERR))
			return;
		flush(c);
	}
}

void ward_attach_reserve(struct ward_attach *a, bool asks)
{
	a->asks = asks;
}

void ward_attach_ring(struct ward_attach *a, bool on)
{
	a->rung = on;
	for (size_t i = 0; i < WARD_ATTACH_MAX; i++)
		if (a->v[i])
			answer(a->v[i]->control, json_pack("{s:b}", "ring", on), -1);
}

bool ward_attach_somebody(const struct ward_attach *a)
{
	for (size_t i = 0; i < WARD_ATTACH_MAX; i++)
		if (a->v[i])
			return true;
	return false;
}

void ward_attach_end(struct ward_attach *a, int status, int signal)
{
	bool any = false;
	for (size_t i = 0; i < WARD_ATTACH_MAX; i++)
		any |= a->v[i] != NULL;
	/* Its answer comes behind all that was written. */
	if (any && !a->over) {
		ward_cleanup(ward_buf_clear) struct ward_buf undo;
		ward_screen_undo(a->screen, &undo);
	}
	a->over = true;
	for (size_t i = 0; i < WARD_ATTACH_MAX; i++) {
		if (!a->v[i])
			continue;
		last_words(a->v[i]);
		answer(a->v[i]->control,
			json_pack("{s:i}", status >= 0 ? "exited" : "signaled",
				status >= 0 ? status : signal),
			-1);
		let_go(a->v[i]);
	}
}
