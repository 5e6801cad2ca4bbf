/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs policy reload: another policy for a running session. */
#include <argp.h>
#include <errno.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/out.h"
#include "enforcer/cli/base/arguments.h"
#include "enforcer/cli/base/say.h"
#include "enforcer/cli/base/sessions.h"
#include "enforcer/cli/policy/policy_now.h"
#include "enforcer/cli/policy/policy_options.h"
#include "enforcer/cli/policy/policy_verbs.h"
#include "enforcer/session/control/control.h"

struct args {
	const char *session;
	const char *policy;
	struct policy_options o;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;
	switch (key) {
	case ARGP_KEY_ARG:
		if (!a->session)
			a->session = arg;
		else if (!a->policy)
			a->policy = arg;
		else
			ward_arguments_wrong(state, "too many arguments");
		return 0;
	case ARGP_KEY_END:
		if (!a->policy)
			ward_arguments_wrong(state,
				"SESSION and FILE are missing; 'wardfs ps' lists "
				"the sessions");
		return 0;
	default:
		return policy_option_take(key, arg, &a->o);
	}
}

static const struct argp_option options[] = {
	{"json", 'j', NULL, 0, "One JSON object", 0},
	{0},
};
static const struct argp argp = {options, parse, "SESSION FILE|PROFILE",
	"Makes FILE the base policy of the running SESSION. The change is atomic, and applies "
	"to open files too. Floor, project file, guards and the options of 'wardfs run' stay in "
	"force. Settings that last as long as a session (trees, mode, limits, network mode, "
	"environment) cannot change: FILE must have the same values.\vExit status: 0 FILE is in "
	"force; 1 something failed; 2 FILE has an error, or this session cannot take it; 125 "
	"something failed in the session. With any status but 0 the old policy stays in force.",
	NULL, NULL, NULL};

static long long number(const json_t *o, const char *name)
{
	return (long long)json_integer_value(json_object_get(o, name));
}

static int show(const struct args *a, json_t *o)
{
	bool ok = json_is_true(json_object_get(o, "ok"));
	int status = ok ? 0 : (int)number(o, "status");
	const char *error = json_string_value(json_object_get(o, "error"));
	if (!ok)
		ward_say_lines("", error ? error : "an answer that wardfs cannot read");
	else
		policy_now_say_left(a->session, o);
	if (a->o.json) {
		ward_print_json(json_incref(o));
	} else if (ok) {
		const char *digest = json_string_value(json_object_get(o, "digest"));
		ward_outf("in force: %s\n", digest ? digest : "?");
		if (number(o, "checked") + number(o, "directories") > 0)
			ward_outf("taken back: %lld open files, %lld open directories\n",
				number(o, "checked"), number(o, "directories"));
	}
	return ok || status ? status : 1;
}

int ward_policy_cmd_reload(int argc, char **argv)
{
	struct args a = {0};
	struct ward_err err = WARD_ERR_INIT;
	ward_cleanup_free char *runtime = NULL;
	if (ward_arguments_parse(&argp, argc, argv, 0, &a))
		return 2;
	ward_cleanup_free char *session = ward_sessions_meant(a.session);
	if (!session)
		return 1;
	a.session = session;
	json_t *o = NULL;
	int r = ward_control_runtime(&runtime, &err);
	if (r == 0)
		r = policy_now_ask(runtime, a.session, a.policy, NULL, &o, &err);
	if (r < 0) {
		ward_say(err.text);
		return r == -EINVAL ? 2 : 1;
	}
	int status = show(&a, o);
	json_decref(o);
	return status;
}
