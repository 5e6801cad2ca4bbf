/* SPDX-License-Identifier: Apache-2.0 */
/* A client at the control socket whose connection stays open while something runs. */
#include "enforcer/session/exec/client.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"
#include "enforcer/base/out.h"
#include "enforcer/session/control/control.h"
#include "enforcer/session/control/signals.h"
#include "enforcer/session/owner/exit_status.h"

#define DRAIN_MS 1000
/* As long as any other client waits for its answer: ward_control_ask(). */
#define SILENT_NS (5 * WARD_NS_PER_SEC)

/* Who leaves does so with what was typed before the signal; neither waits for the session. */
enum turn { TURN_RELAY = 1, TURN_SIGNALS, TURN_PANEL, TURN_AWAY, TURN_SILENT, TURN_SESSION };

static const char title[] = "wardfs: a question waits: Ctrl-] shows it";

void ward_client_finish(struct ward_client *c, int status)
{
	c->over = true;
	c->status = status;
	ward_pollset_stop(&c->set);
}

/* What a terminal keeps of its title while another one is shown (XTWINOPS). */
static const char keep_title[] = "\033[22;0t", title_back[] = "\033[23;0t";

static void on_token(void *user, enum ward_piece kind, const char *data, size_t n)
{
	struct ward_client *c = user;
	ward_tty_modes_see(&c->modes, kind, data, n);
}

static void on_screen(void *user, const char *data, size_t n)
{
	struct ward_client *c = user;
	ward_pieces_read(&c->tokens, data, n, on_token, c);
}

/* Our terminal shows our own screen again. Once. */
static void put_back(struct ward_client *c)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	if (!c->kind->screen || c->put_back)
		return;
	c->put_back = true;
	ward_tty_modes_undo(&c->modes, false, &b);
	ward_buf_puts(&b, title_back);
	ward_relay_put_back(c->relay, b.data, b.len);
}

/* --- the panel, and who tells of questions --- */

static void send_panel(const struct ward_client *c, bool on)
{
	json_t *o = json_pack("{s:b}", "panel", on);
	ward_cleanup_free char *text = o ? json_dumps(o, JSON_COMPACT) : NULL;
	json_decref(o);
	if (text)
		(void)!ward_control_send(c->sock, text, NULL, 0);
}

static void ring(struct ward_client *c, bool on)
{
	c->rung = on;
	if (on)
		ward_relay_reserve(c->relay, true);
	if (!ward_panel_is_open(&c->panel))
		ward_relay_ring(c->relay, on ? title : NULL);
	ward_panel_changed(&c->panel);
}

/* The session draws what it shows now. */
static void on_panel_closed(void *user, bool leave)
{
	struct ward_client *c = user;
	ward_relay_uncover(c->relay, "", 0);
	send_panel(c, false);
	if (c->rung)
		ward_relay_ring(c->relay, title);
	if (leave)
		ward_relay_leave(c->relay);
}

static void look_panel(void *arg, short revents)
{
	struct ward_client *c = arg;
	ward_cleanup(ward_buf_clear) struct ward_buf typed = WARD_BUF_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf undo = WARD_BUF_INIT;
	(void)revents;
	if (!c->begun || c->over || !ward_relay_wants_panel(c->relay, &typed) ||
		ward_panel_is_open(&c->panel))
		return;
	send_panel(c, true);
	ward_tty_modes_undo(&c->modes, false, &undo);
	ward_relay_cover(c->relay, false, undo.data, undo.len);
	c->modes = (struct ward_tty_modes){0};
	c->panel.closed = on_panel_closed;
	c->panel.user = c;
	if (ward_panel_open(&c->panel, c->relay, &c->set, TURN_PANEL, c->session, &typed) < 0)
		on_panel_closed(c, false);
}

/* file: the answer's bound for files; 0: none. */
static void begin(struct ward_client *c, int fd, json_int_t file)
{
	if (file > 0)
		ward_relay_bound(c->relay, (uint64_t)file);
	c->begun = true;
	/* Not one of 0, 1, 2, should our caller have closed them. */
	c->screen = fd >= 0 ? fcntl(fd, F_DUPFD_CLOEXEC, 3) : -1;
	if (c->kind->screen)
		ward_relay_detachable(c->relay);
	/* Not before: until then nobody reads what is typed. */
	if (ward_relay_start(c->relay, c->screen, c->err) < 0 ||
		ward_relay_watch(c->relay, &c->set, TURN_RELAY, c->err) < 0)
		ward_client_finish(c, WARD_EXIT_SETUP);
	if (!c->kind->screen)
		return;
	ward_relay_tap(c->relay, on_screen, c);
	ward_relay_put_back(c->relay, keep_title, sizeof(keep_title) - 1);
}

static void take_answer(struct ward_client *c, const json_t *o, int fd)
{
	const char *error = json_string_value(json_object_get(o, "error"));
	int status = ward_control_exit_status(o);
	bool begun = json_is_true(json_object_get(o, c->kind->begun));
	if (begun && !c->begun && (fd >= 0 || !c->kind->screen)) {
		if (c->kind->screen && !json_is_true(json_object_get(o, "drawn")))
			ward_tellf("wardfs: cannot draw what the session showed so far "
				   "(wardfs-screen has ended): showing new output only\n");
		begin(c, fd, json_integer_value(json_object_get(o, "file")));
		if (c->kind->screen && json_is_true(json_object_get(o, "asks")))
			ward_relay_reserve(c->relay, true);
	} else if (c->begun && json_is_boolean(json_object_get(o, "ring"))) {
		ring(c, json_is_true(json_object_get(o, "ring")));
	} else if (error) {
		ward_err_set(c->err, -EIO, "%s", error);
		ward_client_finish(c, (int)json_integer_value(json_object_get(o, "status")));
	} else if (json_is_true(json_object_get(o, "timeout"))) {
		ward_err_set(c->err, -ETIME, "[limits] command ended it");
		ward_client_finish(c, WARD_EXIT_WALL);
	} else if (status >= 0) {
		ward_client_finish(c, status);
	}
}

static void hear(void *arg, short revents)
{
	struct ward_client *c = arg;
	ward_cleanup_fd int fd = -1;
	json_t *o = NULL;
	(void)revents;
	int r = ward_control_answer(c->sock, &o, &fd);
	if (r == -EAGAIN)
		return;
	if (r == 0) {
		take_answer(c, o, fd);
	} else {
		ward_err_set(c->err, -EIO, "%s", c->begun ? "the session ended" : c->kind->refused);
		ward_client_finish(c, c->begun ? 128 + SIGKILL : WARD_EXIT_SETUP);
	}
	json_decref(o);
}

static void take_signals(void *arg, short revents)
{
	struct ward_client *c = arg;
	struct signalfd_siginfo si;
	(void)revents;
	while (!c->over && read(c->signals, &si, sizeof(si)) == (ssize_t)sizeof(si))
		c->kind->signal(c, (int)si.ssi_signo);
}

static void look_away(void *arg, short revents)
{
	struct ward_client *c = arg;
	(void)revents;
	if (!ward_relay_wants_away(c->relay))
		return;
	put_back(c);
	ward_relay_away(c->relay);
	ward_tellf("\nwardfs: detached; wardfs attach %s joins again\n", c->session);
	ward_client_finish(c, 0);
}

/* --- who keeps us waiting --- */

/*
 * A command may begin late: its program waits for a person's answer, or for wardfs-fs as every
 * process of the session does, or wardfs-init is stopped. Only a supervisor that is silent keeps us
 * waiting for nothing.
 */
static void stop_looking(struct ward_client *c)
{
	ward_pollset_remove(&c->set, c->heard);
	c->heard = 0;
	if (c->beside >= 0)
		close(c->beside);
	c->beside = -1;
	c->look_ns = UINT64_MAX;
}

static void hear_beside(void *arg, short revents)
{
	struct ward_client *c = arg;
	ward_cleanup_fd int fd = -1;
	json_t *o = NULL;
	(void)revents;
	int r = ward_control_answer(c->beside, &o, &fd);
	if (r == -EAGAIN)
		return;
	const char *error = r == 0 ? json_string_value(json_object_get(o, "error")) : NULL;
	if (r == 0 && !c->begun)
		ward_tellf("wardfs: session %s: %s; waiting\n", c->session,
			error ? error
			      : "it has not begun: its program needs an answer (wardfs approve), or "
				"wardfs-init is stopped or frozen");
	json_decref(o);
	stop_looking(c);
}

static void silent(struct ward_client *c)
{
	stop_looking(c);
	ward_err_set(c->err, -ETIMEDOUT, "session %s does not answer", c->session);
	ward_client_finish(c, WARD_EXIT_SETUP);
}

/* What wardfs-fs says, too, tells whether it answers. */
static void look_silent(void *arg, short revents)
{
	static const char request[] = "{\"verb\":\"quota\"}";
	struct ward_client *c = arg;
	ward_cleanup_free char *runtime = NULL;
	struct ward_err err = WARD_ERR_INIT;
	(void)revents;
	if (c->begun && c->look_ns != UINT64_MAX)
		stop_looking(c);
	if (c->over || ward_clock_mono_ns() < c->look_ns)
		return;
	if (c->beside >= 0 || ward_control_runtime(&runtime, &err) < 0 ||
		ward_control_connect(runtime, c->session, &c->beside, &err) < 0 ||
		ward_control_send(c->beside, request, NULL, 0) < 0 ||
		ward_pollset_add(
			&c->set, TURN_SILENT, c->beside, POLLIN, hear_beside, c, &c->heard) < 0)
		silent(c);
	else
		c->look_ns = ward_clock_mono_ns() + SILENT_NS;
}

static int until_look(void *arg)
{
	const struct ward_client *c = arg;
	const uint64_t now = ward_clock_mono_ns();
	if (c->look_ns == UINT64_MAX)
		return -1;
	return c->look_ns <= now ? 0 : (int)((c->look_ns - now) / 1000000) + 1;
}

int ward_client_open(const struct ward_client_kind *kind, const char *session, unsigned apart,
	struct ward_client *c, struct ward_err *err)
{
	ward_cleanup_free char *runtime = NULL;
	*c = (struct ward_client){.kind = kind,
		.session = session,
		.err = err,
		.sock = -1,
		.signals = -1,
		.screen = -1,
		.beside = -1,
		.status = WARD_EXIT_SETUP};
	int r = ward_control_runtime(&runtime, err);
	if (r == 0)
		r = ward_control_connect(runtime, session, &c->sock, err);
	if (r == 0)
		r = ward_signals_catch(kind->signals, kind->n_signals, &c->signals, err);
	struct ward_relay_spec spec = {
		.flags = WARD_RELAY_TERMINAL, .apart = apart, .owner = geteuid()};
	return r < 0 ? r : ward_relay_open(&spec, &c->relay, err);
}

void ward_client_loop(struct ward_client *c)
{
	int r = ward_pollset_add(&c->set, TURN_SIGNALS, c->signals, POLLIN, take_signals, c, NULL);
	if (r == 0 && c->kind->screen)
		r = ward_pollset_each(&c->set, TURN_PANEL, NULL, look_panel, c, NULL);
	if (r == 0 && c->kind->screen)
		r = ward_pollset_each(&c->set, TURN_AWAY, NULL, look_away, c, NULL);
	c->look_ns = ward_clock_mono_ns() + SILENT_NS;
	if (r == 0)
		r = ward_pollset_each(&c->set, TURN_SILENT, until_look, look_silent, c, NULL);
	if (r == 0)
		r = ward_pollset_add(&c->set, TURN_SESSION, c->sock, POLLIN, hear, c, NULL);
	while (r == 0 && !c->over)
		r = ward_pollset_round(&c->set);
	if (r < 0) {
		ward_err_sys(c->err, r, "poll");
		c->status = WARD_EXIT_SETUP;
	}
}

int ward_client_close(struct ward_client *c, int r)
{
	ward_panel_close(&c->panel);
	if (c->begun)
		ward_relay_finish(c->relay, DRAIN_MS);
	if (c->begun)
		put_back(c);
	const struct ward_err *lost = c->begun ? ward_relay_failed(c->relay) : NULL;
	if (lost && !c->err->code) {
		ward_err_set(c->err, lost->code, "%s", lost->text);
		c->status = WARD_EXIT_SETUP;
	}
	if (c->relay)
		ward_relay_close(c->relay);
	const int fds[] = {c->sock, c->signals, c->screen, c->beside};
	for (size_t i = 0; i < sizeof(fds) / sizeof(*fds); i++)
		if (fds[i] >= 0)
			close(fds[i]);
	return r == -EINVAL || r == -ENOENT ? WARD_EXIT_USAGE : c->status;
}
