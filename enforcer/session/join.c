/* SPDX-License-Identifier: Apache-2.0 */
#include "enforcer/session/join.h"

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
/* What a supervisor's silence means (ward_control_accept()). */
#define REFUSED                                                                                     \
	"the session refused to answer: it takes commands from its owner and root alone, and from " \
	"no process inside"

struct client {
	int sock;
	int signals;
	int pty; /* controlling side of the command's; -1 */
	struct ward_relay *relay;
	bool started, over;
	int status;
};

static int catch_signals(struct client *c, struct ward_err *err)
{
	static const int caught[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH, SIGUSR1, SIGUSR2};
	return ward_signals_catch(caught, sizeof(caught) / sizeof(*caught), &c->signals, err);
}

static json_t *string_list(const char *const *v, size_t n)
{
	json_t *a = json_array();
	for (size_t i = 0; i < n; i++) {
		json_t *s = json_string(v[i]);
		if (!s || json_array_append_new(a, s) < 0) {
			json_decref(a);
			return NULL;
		}
	}
	return a;
}

static int send_request(struct client *c, const struct ward_join *j, struct ward_err *err)
{
	int fds[3];
	unsigned pty = 0;
	size_t n = 0;
	while (j->argv[n])
		n++;
	ward_cleanup_fd int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null < 0)
		return ward_err_sys(err, -errno, "open /dev/null");
	ward_relay_stdio(c->relay, fds);
	for (unsigned i = 0; i < 3; i++) {
		if (fds[i] >= 0)
			continue;
		fds[i] = null;
		pty |= 1U << i;
	}
	struct winsize w = ward_relay_winsize(c->relay);
	json_t *argv = string_list((const char *const *)j->argv, n);
	json_t *env = string_list(j->env, j->n_env);
	json_t *o = argv && env ? json_pack("{s:s, s:O, s:O, s:s?, s:i, s:i, s:i}", "verb", "exec",
					  "argv", argv, "env", env, "cwd", j->cwd, "pty", (int)pty,
					  "rows", w.ws_row, "columns", w.ws_col)
				: NULL;
	json_decref(argv);
	json_decref(env);
	ward_cleanup_free char *text = o ? json_dumps(o, JSON_COMPACT) : NULL;
	json_decref(o);
	if (!text)
		return ward_err_set(err, -EINVAL, "the command's words must be UTF-8");
	if (strlen(text) > WARD_CONTROL_MAX)
		return ward_err_set(err, -E2BIG, "the command is too long");
	int r = ward_control_send(c->sock, text, fds, 3);
	if (r == -EPIPE || r == -ECONNRESET)
		return ward_err_set(err, -EPERM, REFUSED);
	return r < 0 ? ward_err_sys(err, r, "session %s", j->session) : 0;
}

static void finish(struct client *c, int status)
{
	c->over = true;
	c->status = status;
}

static void take_answer(struct client *c, const json_t *o, int fd, struct ward_err *err)
{
	const char *error = json_string_value(json_object_get(o, "error"));
	int status = ward_control_exit_status(o);
	if (json_is_true(json_object_get(o, "started")) && !c->started) {
		c->started = true;
		c->pty = fd >= 0 ? fcntl(fd, F_DUPFD_CLOEXEC, 3) : -1;
		if (ward_relay_start(c->relay, c->pty, err) < 0)
			finish(c, WARD_EXIT_SETUP);
	} else if (error) {
		ward_err_set(err, -EIO, "%s", error);
		finish(c, (int)json_integer_value(json_object_get(o, "status")));
	} else if (json_is_true(json_object_get(o, "timeout"))) {
		ward_err_set(err, -ETIME, "[limits] per-command ended it");
		finish(c, WARD_EXIT_WALL);
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
		take_answer(c, o, fd, err);
	} else {
		ward_err_set(err, -EIO, c->started ? "the session ended" : REFUSED);
		finish(c, c->started ? 128 + SIGKILL : WARD_EXIT_SETUP);
	}
	json_decref(o);
}

static void pass_signals(struct client *c)
{
	struct signalfd_siginfo si;
	while (read(c->signals, &si, sizeof(si)) == (ssize_t)sizeof(si)) {
		char text[48];
		if (si.ssi_signo == SIGWINCH) {
			ward_relay_resize(c->relay);
			continue;
		}
		/* There is nobody yet who could be told; the supervisor sees us hang up. */
		if (!c->started && si.ssi_signo != SIGUSR1 && si.ssi_signo != SIGUSR2) {
			finish(c, 128 + (int)si.ssi_signo);
			return;
		}
		(void)snprintf(text, sizeof(text), "{\"signal\":%u}", si.ssi_signo);
		(void)!ward_control_send(c->sock, text, NULL, 0);
	}
}

static void loop(struct client *c, struct ward_err *err)
{
	while (!c->over) {
		struct pollfd fds[2 + WARD_RELAY_POLL_MAX] = {
			{.fd = c->sock, .events = POLLIN}, {.fd = c->signals, .events = POLLIN}};
		/* Before the command runs nobody reads what is typed. */
		size_t n = c->started ? ward_relay_poll(c->relay, fds + 2) : 0;
		if (poll(fds, 2 + n, c->started ? ward_relay_timeout(c->relay) : -1) < 0 &&
			errno != EINTR) {
			ward_err_sys(err, -errno, "poll");
			finish(c, WARD_EXIT_SETUP);
			return;
		}
		if (n)
			ward_relay_move(c->relay, fds + 2, n);
		if (fds[1].revents)
			pass_signals(c);
		if (fds[0].revents)
			hear(c, err);
	}
}

int ward_join(const struct ward_join *j, struct ward_err *err)
{
	struct client c = {.sock = -1, .signals = -1, .pty = -1, .status = WARD_EXIT_SETUP};
	ward_cleanup_free char *runtime = NULL;
	int r = ward_control_runtime(&runtime, err);
	if (r == 0)
		r = ward_control_connect(runtime, j->session, &c.sock, err);
	if (r == 0)
		r = catch_signals(&c, err);
	if (r == 0)
		r = ward_relay_open(WARD_RELAY_TERMINAL | ward_relay_apart(), &c.relay, err);
	if (r == 0)
		r = send_request(&c, j, err);
	if (r == 0)
		loop(&c, err);
	if (c.started)
		ward_relay_drain(c.relay, DRAIN_MS);
	if (c.relay)
		ward_relay_close(c.relay);
	const int fds[] = {c.sock, c.signals, c.pty};
	for (size_t i = 0; i < sizeof(fds) / sizeof(*fds); i++)
		if (fds[i] >= 0)
			close(fds[i]);
	return r == -EINVAL || r == -ENOENT ? WARD_EXIT_USAGE : c.status;
}
