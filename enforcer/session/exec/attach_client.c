/* SPDX-License-Identifier: Apache-2.0 */
/* The client of `wardfs attach`: joins two terminals. */
#include "enforcer/session/exec/attach_client.h"

#include <errno.h>
#include <jansson.h>
#include <signal.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/session/control/control.h"
#include "enforcer/session/exec/client.h"
#include "enforcer/session/owner/exit_status.h"

static const int caught[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH};

/* With verb: the request; else the window's new size. */
static int send_size(const struct ward_client *c, bool verb, bool watch)
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

static void take_signal(struct ward_client *c, int signo)
{
	if (signo == SIGWINCH)
		(void)!send_size(c, false, false);
	else
		/* Of ours, not of the session: only we leave. */
		ward_client_finish(c, 128 + signo);
}

int ward_attach_to(const char *session, bool watch, struct ward_err *err)
{
	static const struct ward_client_kind kind = {.begun = "attached",
		.refused = "the session refused to answer: its owner and root can be attached "
			   "alone, and no process inside",
		.signals = caught,
		.n_signals = sizeof(caught) / sizeof(*caught),
		.signal = take_signal,
		.screen = true};
	struct ward_client c;
	if (!isatty(0) || !isatty(1)) {
		ward_err_set(err, -EINVAL,
			"attach needs a terminal as its input and output; 'wardfs exec' runs "
			"commands without one");
		return WARD_EXIT_USAGE;
	}
	int r = ward_client_open(&kind, session, 0, &c, err);
	if (r == 0 && send_size(&c, true, watch) < 0)
		r = ward_err_set(err, -EPERM, "the session refused to answer");
	if (r == 0)
		ward_client_loop(&c);
	return ward_client_close(&c, r);
}
