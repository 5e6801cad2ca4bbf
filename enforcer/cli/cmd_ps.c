/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs ps, wardfs kill: running sessions. */
#include <argp.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/cli/cli.h"
#include "enforcer/cli/say.h"
#include "enforcer/cli/sessions.h"
#include "enforcer/session/control.h"

struct ps_args {
	bool json;
	const char *session;
};

static error_t parse_ps(int key, char *arg, struct argp_state *state)
{
	struct ps_args *a = state->input;
	if (key == 'j') {
		a->json = true;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static error_t parse_kill(int key, char *arg, struct argp_state *state)
{
	struct ps_args *a = state->input;
	if (key == ARGP_KEY_ARG && !a->session) {
		a->session = arg;
		return 0;
	}
	if (key == ARGP_KEY_NO_ARGS)
		argp_error(state, "a session is needed; wardfs ps lists them");
	return ARGP_ERR_UNKNOWN;
}

static const struct argp_option ps_options[] = {
	{"json", 'j', NULL, 0, "One JSON array of objects", 0},
	{0},
};
static const struct argp ps_argp = {
	ps_options, parse_ps, NULL, "Lists the running sessions of the caller.", NULL, NULL, NULL};
static const struct argp kill_argp = {NULL, parse_kill, "SESSION",
	"Ends a running session: SIGTERM to its command, SIGKILL to all of it two seconds later.",
	NULL, NULL, NULL};

/* A member's text as it may be shown; it comes over a socket. The buffer is the caller's. */
static const char *member(const json_t *o, const char *name, struct ward_buf *b)
{
	const char *s = json_string_value(json_object_get(o, name));
	ward_buf_clear(b);
	ward_shown(b, s ? s : "?");
	return ward_buf_str(b);
}

static void print_row(const json_t *o)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	printf("%-28s %7lld  ", member(o, "session", &b),
		(long long)json_integer_value(json_object_get(o, "pid")));
	printf("%-10.10s ", member(o, "verb", &b));
	printf("%.19s ", member(o, "started", &b));
	const json_t *argv = json_object_get(o, "argv");
	size_t i = 0;
	const json_t *v = NULL;
	json_array_foreach(argv, i, v)
	{
		ward_buf_clear(&b);
		ward_shown(&b, json_string_value(v) ? json_string_value(v) : "?");
		printf(" %s", ward_buf_str(&b));
	}
	putchar('\n');
}

int ward_cmd_ps(int argc, char **argv)
{
	struct ps_args a = {0};
	if (argp_parse(&ps_argp, argc, argv, 0, NULL, &a))
		return 2;
	ward_cleanup_free char *runtime = NULL;
	struct ward_err err = WARD_ERR_INIT;
	if (ward_control_runtime(&runtime, &err) < 0) {
		ward_say(err.text);
		return 1;
	}
	json_t *all = ward_sessions_running(runtime, false);
	if (a.json) {
		ward_print_json(json_incref(all));
	} else {
		size_t i = 0;
		const json_t *o = NULL;
		if (json_array_size(all))
			printf("%-28s %7s  %-10s %-19s  %s\n", "SESSION", "PID", "VERB",
				"STARTED (UTC)", "COMMAND");
		json_array_foreach(all, i, o) print_row(o);
	}
	json_decref(all);
	return 0;
}

int ward_cmd_kill(int argc, char **argv)
{
	struct ps_args a = {0};
	if (argp_parse(&kill_argp, argc, argv, 0, NULL, &a))
		return 2;
	ward_cleanup_free char *runtime = NULL;
	ward_cleanup_free char *answer = NULL;
	struct ward_err err = WARD_ERR_INIT;
	int r = ward_control_runtime(&runtime, &err);
	if (r == 0)
		r = ward_control_ask(runtime, a.session, "{\"verb\":\"kill\"}", &answer, &err);
	if (r < 0) {
		ward_say(err.text);
		return 1;
	}
	return 0;
}
