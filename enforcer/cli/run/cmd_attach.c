/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs attach: at the terminal of a running session. */
#include <argp.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/cli/base/arguments.h"
#include "enforcer/cli/base/ask.h"
#include "enforcer/cli/base/cli.h"
#include "enforcer/cli/base/say.h"
#include "enforcer/cli/base/sessions.h"
#include "enforcer/session/exec/attach_client.h"
#include "enforcer/session/run/run.h"

static const struct argp_option options[] = {
	{"watch", 'w', NULL, 0,
		"Only look: wardfs ignores what you type, and the window keeps its size", 0},
	{0},
};

struct args {
	const char *session;
	bool watch;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;
	switch (key) {
	case 'w':
		a->watch = true;
		return 0;
	case ARGP_KEY_ARG:
		if (a->session)
			ward_arguments_wrong(state, "one session at a time");
		a->session = arg;
		return 0;
	case ARGP_KEY_END:
		ward_sessions_need(state, a->session);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {options, parse, "SESSION",
	"Joins the terminal of a running session's command: shows its last screen, then its new output. Everybody who joined types into the same program. Ctrl-] twice leaves; the command continues. wardfs exec SESSION sh starts a shell with its own terminal. SESSION is its name, or latest: the last of this project.\vExit status: the command's, if it ends; 0 after Ctrl-] twice; 2 usage, or no such session; 125 it has no terminal, or did not answer; 137 the session ended first.",
	NULL, NULL, NULL};

int ward_cmd_attach(int argc, char **argv)
{
	struct args a = {0};
	struct ward_err err = WARD_ERR_INIT;
	if (ward_arguments_parse(&argp, argc, argv, 0, &a))
		return 2;
	ward_cleanup_free char *session = ward_sessions_meant(a.session);
	if (!session)
		return WARD_EXIT_USAGE;
	/* The session's screen takes its place: it is for who scrolls back, or looks first. */
	if (ask_possible())
		ward_sayf("joining %s: Ctrl-] twice leaves, and its command goes on", session);
	int status = ward_attach_to(session, a.watch, &err);
	if (err.code)
		ward_say(err.text);
	return status;
}
