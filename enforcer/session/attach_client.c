/* SPDX-License-Identifier: Apache-2.0 */
#include "enforcer/session/attach_client.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/session/control.h"
#include "enforcer/session/relay.h"
#include "enforcer/session/run.h"
#include "enforcer/session/signals.h"

#define DRAIN_MS 1000

struct client {
	int sock;
	int signals;
	int stream; /* screen and keys; -1: not attached yet */
	struct ward_relay *relay;
	bool over;
	int status;
};

static void finish(struct client *c, int status)
{
	c->over = true;
	c->status = status;
}

static int catch_signals(struct client *c, struct ward_err *err)
{
	static const int caught[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH};
	return ward_signals_catch(caught, sizeof(caught) / sizeof(*caught), &c->signals, err);
}

/* With verb: the request; else the window's new size. */
static int send_size(struct client *c, bool verb, bool watch)
{
	struct winsize w = ward_relay_winsize(c->relay);
	json_t *o = json_pack("{s:i, s:i}", "rows", w.ws_row, "columns", w.ws_col);
	if (verb) {
		json_object_set_new(o, "verb", json_string("attach"));
		json_object_set_new(o, "watch", json_boolean(watch));
	}
	ward_cleanup_free char *text = o ? json_dumps(o, JSON_COMPACT) : NULL;
	json_decref(o);
	return text ? ward_control_send(c->sock, text, NULL, 0) : -ENOMEM;
}

static void take_answer(struct client *c, const json_t *o, int *fd, struct ward_err *err)
{
	const char *error = json_string_value(json_object_get(o, "error"));
	int status = ward_control_exit_status(o);
	if (json_is_true(json_object_get(o, "attached")) && *fd >= 0 && c->stream < 0) {
		c->stream = ward_steal_fd(fd);
		ward_relay_detachable(c->relay);
		if (ward_relay_start(c->relay, c->stream, err) < 0)
			finish(c, WARD_EXIT_SETUP);
	} else if (error) {
		ward_err_set(err, -EIO, "%s", error);
		finish(c, (int)json_integer_value(json_object_get(o, "status")));
	} else if (status >= 0) {
		finish(c, status);
	}
}

static void hear(struct client *c, struct ward_err *err)
{
	ward_cleanup_fd int fd = -1;
	json_t *o = NULL;
	int r = ward_control_answer(c->sock, &o, &fd);
	if (r == -EAGAIN)
		return;
	if (r == 0) {
		take_answer(c, o, &fd, err);
	} else {
		ward_err_set(err, -EIO,
			c->stream >= 0 ? "the session ended"
				       : "the session refused to answer: its owner and root can be "
					 "attached alone, and no process inside");
		finish(c, c->stream >= 0 ? 128 + SIGKILL : WARD_EXIT_SETUP);
	}
	json_decref(o);
}

static void take_signals(struct client *c)
{
	struct signalfd_siginfo si;
	while (read(c->signals, &si, sizeof(si)) == (ssize_t)sizeof(si)) {
		if (si.ssi_signo == SIGWINCH)
			(void)!send_size(c, false, false);
		else
			/* Of ours, not of the session: only we leave. */
			finish(c, 128 + (int)si.ssi_signo);
	}
}

static void loop(struct client *c, const char *session, struct ward_err *err)
{
	while (!c->over) {
		struct pollfd fds[2 + WARD_RELAY_POLL_MAX] = {
			{.fd = c->sock, .events = POLLIN}, {.fd = c->signals, .events = POLLIN}};
		size_t n = c->stream >= 0 ? ward_relay_poll(c->relay, fds + 2) : 0;
		if (poll(fds, 2 + n, c->stream >= 0 ? ward_relay_timeout(c->relay) : -1) < 0 &&
			errno != EINTR) {
			ward_err_sys(err, -errno, "poll");
			finish(c, WARD_EXIT_SETUP);
			return;
		}
		if (n)
			ward_relay_move(c->relay, fds + 2, n);
		if (fds[1].revents)
			take_signals(c);
		if (ward_relay_wants_away(c->relay)) {
			ward_relay_away(c->relay);
			dprintf(STDERR_FILENO, "\nwardfs: detached; wardfs attach %s joins again\n",
				session);
			finish(c, 0);
		} else if (fds[0].revents && !c->over) {
			hear(c, err);
		}
	}
}

int ward_attach_to(const char *session, bool watch, struct ward_err *err)
{
	struct client c = {.sock = -1, .signals = -1, .stream = -1, .status = WARD_EXIT_SETUP};
	ward_cleanup_free char *runtime = NULL;
	int r = 0;
	if (!isatty(0) || !isatty(1))
		r = ward_err_set(err, -EINVAL,
			"attach wants a terminal as its input and output; wardfs exec runs commands "
			"without one");
	if (r == 0)
		r = ward_control_runtime(&runtime, err);
	if (r == 0)
		r = ward_control_connect(runtime, session, &c.sock, err);
	if (r == 0)
		r = catch_signals(&c, err);
	if (r == 0)
		r = ward_relay_open(WARD_RELAY_TERMINAL, &c.relay, err);
	if (r == 0 && send_size(&c, true, watch) < 0)
		r = ward_err_set(err, -EPERM, "the session refused to answer");
	if (r == 0)
		loop(&c, session, err);
	if (c.stream >= 0)
		ward_relay_drain(c.relay, DRAIN_MS);
	if (c.relay)
		ward_relay_close(c.relay);
	const int fds[] = {c.sock, c.signals, c.stream};
	for (size_t i = 0; i < sizeof(fds) / sizeof(*fds); i++)
		if (fds[i] >= 0)
			close(fds[i]);
	return r == -EINVAL || r == -ENOENT ? WARD_EXIT_USAGE : c.status;
}
