/* SPDX-License-Identifier: Apache-2.0 */
/* The client of `wardfs exec`: asks for a command and waits for its end. */
#include "enforcer/session/exec/join.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/session/control/control.h"
#include "enforcer/session/exec/client.h"

/* What a supervisor's silence means (ward_control_accept()). */
#define REFUSED                                                                                     \
	"the session refused to answer: it takes commands from its owner and root alone, and from " \
	"no process inside"

static const int caught[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH, SIGUSR1, SIGUSR2};

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

static int send_request(
	const struct ward_client *c, const struct ward_join *j, struct ward_err *err)
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
	json_t *o = argv && env ? json_pack("{s:s, s:O, s:O, s:s?, s:i, s:i, s:i, s:i}", "verb",
					  "exec", "argv", argv, "env", env, "cwd", j->cwd, "pty",
					  (int)pty, "pipes", (int)ward_relay_pipes(c->relay),
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

static void pass_signal(struct ward_client *c, int signo)
{
	char text[48];
	if (signo == SIGWINCH) {
		ward_relay_resize(c->relay);
		return;
	}
	/* No process can get the signal yet; the supervisor sees us hang up. */
	if (!c->begun && signo != SIGUSR1 && signo != SIGUSR2) {
		ward_client_finish(c, 128 + signo);
		return;
	}
	(void)snprintf(text, sizeof(text), "{\"signal\":%d}", signo);
	(void)!ward_control_send(c->sock, text, NULL, 0);
}

int ward_join(const struct ward_join *j, struct ward_err *err)
{
	static const struct ward_client_kind kind = {.begun = "started",
		.refused = REFUSED,
		.signals = caught,
		.n_signals = sizeof(caught) / sizeof(*caught),
		.signal = pass_signal};
	struct ward_client c;
	/* Whatever the session's mode: the supervisor would refuse what its walls do not stand. */
	int r = ward_client_open(&kind, j->session, WARD_APART_ALL, &c, err);
	if (r == 0)
		r = send_request(&c, j, err);
	if (r == 0)
		ward_client_loop(&c);
	return ward_client_close(&c, r);
}
