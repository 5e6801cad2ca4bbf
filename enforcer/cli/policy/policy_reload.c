/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs policy reload: another policy for a running session. */
#include <argp.h>
#include <errno.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/base/out.h"
#include "enforcer/cli/base/arguments.h"
#include "enforcer/cli/base/say.h"
#include "enforcer/cli/base/sessions.h"
#include "enforcer/cli/policy/policy_options.h"
#include "enforcer/cli/policy/policy_verbs.h"
#include "enforcer/policy/load.h"
#include "enforcer/session/control/control.h"
#include "enforcer/session/reload/reload.h"

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
				"a session and a policy are needed; wardfs ps lists the "
				"sessions");
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
	"Puts FILE in force as the base of the running SESSION, at once and as a whole, for what is open "
	"too. Floor, project file, guards and the options of its start stay on top. What lasts as long "
	"as a session (trees, mode, limits, network mode, environment, …) cannot change: FILE must say the "
	"same there.\v"
	"Exit status: 0 FILE is in force; 2 FILE is wrong, or cannot be had by this session; 1, 125 "
	"something failed. Unless it is 0 the old policy is in force as before.",
	NULL, NULL, NULL};

/* The policy as its file has it, readable by the session whoever may read the file. */
static int read_base(const char *name, int *ret_fd, struct ward_err *err)
{
	ward_cleanup(ward_base_clear) struct ward_base base = WARD_BASE_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf blob = WARD_BUF_INIT;
	int r = ward_base_find(name, &base, err);
	if (r < 0)
		return r;
	r = ward_base_encode(&base, &blob);
	if (r < 0)
		return ward_err_sys(err, r, "%s", name);
	return ward_fd_sealed("wardfs-base", blob.data, blob.len, ret_fd, err);
}

static long long number(const json_t *o, const char *name)
{
	return (long long)json_integer_value(json_object_get(o, name));
}

static void say_lines(const char *text)
{
	while (*text) {
		size_t n = strcspn(text, "\n");
		if (n)
			ward_sayf("%.*s", (int)n, text);
		text += n + (text[n] == '\n');
	}
}

static void say_left(const struct args *a, const json_t *o)
{
	const char *why = json_string_value(json_object_get(o, "why_left"));
	size_t i = 0;
	const json_t *note = NULL;
	json_array_foreach(json_object_get(o, "notes"), i, note)
		ward_say(json_string_value(note) ? json_string_value(note) : "?");
	if (number(o, "passthrough") > 0)
		ward_sayf(
			"%lld open files that lost a right are the kernel's own (passthrough): reading "
			"and writing them fails, but what was mapped, and mmap, sendfile and splice on "
			"these descriptors, work until they are closed: wardfs ps --io %s names them, "
			"wardfs kill %s ends them",
			number(o, "passthrough"), a->session, a->session);
	if (number(o, "left") > 0)
		ward_sayf("%lld of them could not be taken back at all (%s): they can be read and "
			  "written until they are closed",
			number(o, "left"), why ? why : "the kernel was not asked");
	if (!json_is_true(json_object_get(o, "forgotten")))
		ward_say(
			"the kernel has not forgotten everything yet: names and attributes may show "
			"as before for a moment");
}

static int show(const struct args *a, json_t *o)
{
	bool ok = json_is_true(json_object_get(o, "ok"));
	int status = ok ? 0 : (int)number(o, "status");
	const char *error = json_string_value(json_object_get(o, "error"));
	if (!ok)
		say_lines(error ? error : "an answer that is none");
	else
		say_left(a, o);
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
	ward_cleanup_free char *answer = NULL;
	ward_cleanup_fd int fd = -1;
	if (ward_arguments_parse(&argp, argc, argv, 0, &a))
		return 2;
	if (read_base(a.policy, &fd, &err) < 0) {
		ward_say(err.text);
		return 2;
	}
	ward_cleanup_free char *session = ward_sessions_meant(a.session);
	if (!session)
		return 1;
	a.session = session;
	int r = ward_control_runtime(&runtime, &err);
	if (r == 0)
		r = ward_control_ask_with(runtime, a.session, "{\"verb\":\"reload\"}", fd,
			WARD_RELOAD_ANSWER_MS, &answer, &err);
	if (r < 0) {
		ward_say(err.text);
		return 1;
	}
	json_t *o = json_loads(answer, 0, NULL);
	int status = show(&a, o);
	json_decref(o);
	return status;
}
