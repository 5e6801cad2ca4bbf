/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs grant, grants, revoke: rights for a running session, for a while. */
#include <argp.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"
#include "enforcer/base/out.h"
#include "enforcer/base/quantity.h"
#include "enforcer/cli/base/arguments.h"
#include "enforcer/cli/base/cli.h"
#include "enforcer/cli/base/say.h"
#include "enforcer/cli/base/sessions.h"
#include "enforcer/cli/run/token_file.h"
#include "enforcer/session/control/control.h"

enum { OPT_FOR = 256, OPT_USES, OPT_REASON, OPT_TOKEN };

struct grant_args {
	const char *session, *right, *what, *reason, *token;
	uint64_t seconds, uses;
	bool json;
};

static const struct argp_option grant_options[] = {
	{"for", OPT_FOR, "TIME", 0,
		"It ends after TIME (30s, 10m, 1h30m); default: with the session", 0},
	{"uses", OPT_USES, "N", 0, "It allows N opens, changes or connections; default: any number",
		0},
	{"reason", OPT_REASON, "TEXT", 0, "Why, for the trail", 0},
	{"token", OPT_TOKEN, "FILE", 0,
		"Give only what the token in FILE grants (wardfs token). With --uses N take N of its "
		"uses, else all remaining uses",
		0},
	{"json", 'j', NULL, 0, "One JSON object", 0},
	{0},
};

static void parse_for(const char *arg, const struct argp_state *state, struct grant_args *a)
{
	struct ward_err err = WARD_ERR_INIT;
	uint64_t ns = 0;
	if (ward_quantity_duration(arg, WARD_DURATION_BARE | WARD_DURATION_SEVERAL, &ns, &err) < 0)
		ward_arguments_wrong(state, "--for: %s", err.text);
	a->seconds = ns / WARD_NS_PER_SEC;
	if (!a->seconds)
		ward_arguments_wrong(state, "--for: at least one second is needed");
}

static error_t parse_grant(int key, char *arg, struct argp_state *state)
{
	struct grant_args *a = state->input;
	struct ward_err err = WARD_ERR_INIT;
	const char **const places[] = {&a->session, &a->right, &a->what};
	switch (key) {
	case 'j':
		a->json = true;
		return 0;
	case OPT_FOR:
		parse_for(arg, state, a);
		return 0;
	case OPT_USES:
		if (ward_quantity_whole(arg, 1, UINT32_MAX, &a->uses, &err) < 0)
			ward_arguments_wrong(state, "--uses: %s", err.text);
		return 0;
	case OPT_REASON:
		a->reason = arg;
		return 0;
	case OPT_TOKEN:
		a->token = arg;
		return 0;
	case ARGP_KEY_ARG:
		if (state->arg_num >= 3)
			ward_arguments_wrong(state, "too many arguments");
		else
			*places[state->arg_num] = arg;
		return 0;
	case ARGP_KEY_END:
		ward_sessions_need(state, a->session);
		if (a->token && (a->right || a->seconds || a->reason))
			ward_arguments_wrong(state, "--token says what is given, and why and how "
						    "long");
		if (!a->token && !a->what)
			ward_arguments_wrong(state,
				"a right (read, append, write, connect) and a PATTERN or HOST are "
				"needed");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp grant_argp = {grant_options, parse_grant,
	"SESSION read|append|write PATTERN\nSESSION connect HOST[:PORT]\nSESSION --token FILE",
	"Gives a running session a right that its policy does not give, for a while. PATTERN is written as "
	"in a rule, from the root of the sandbox: /workspace/docs/** (quote it for the shell). After --for "
	"and after --uses it allows nothing new; after --for, open files cannot be used either. No grant lifts "
	"a guard, the floor, the project's policy file, noexec or secret; wardfs names the rule that prevents one. "
	"Prints the id, for wardfs revoke.\v"
	"Exit status: 0 it is in force; 1 it was refused; 2 wrong usage.",
	NULL, NULL, NULL};

/* The answer of a session, or NULL after a message; *ret_status for our caller. */
static json_t *ask(const char *session, json_t *request, int *ret_status)
{
	ward_cleanup_free char *runtime = NULL;
	ward_cleanup_free char *text = json_dumps(request, JSON_COMPACT);
	ward_cleanup_free char *answer = NULL;
	struct ward_err err = WARD_ERR_INIT;
	json_decref(request);
	*ret_status = 1;
	int r = ward_control_runtime(&runtime, &err);
	if (r == 0)
		r = ward_control_ask(runtime, session, text ? text : "{}", &answer, &err);
	if (r < 0) {
		ward_say(err.text);
		return NULL;
	}
	json_t *o = json_loads(answer, 0, NULL);
	const char *error = json_string_value(json_object_get(o, "error"));
	if (o && json_is_true(json_object_get(o, "ok"))) {
		*ret_status = 0;
		return o;
	}
	const json_int_t status = json_integer_value(json_object_get(o, "status"));
	if (status)
		*ret_status = (int)status;
	ward_sayf("session %s: %s", session, error ? error : "the session's answer is not valid");
	json_decref(o);
	return NULL;
}

static void put_text(json_t *o, const char *name, const char *text)
{
	if (text)
		json_object_set_new(o, name, json_string(text));
}

int ward_cmd_grant(int argc, char **argv)
{
	struct grant_args a = {0};
	int status;
	if (ward_arguments_parse(&grant_argp, argc, argv, 0, &a))
		return 2;
	ward_cleanup_free char *session = ward_sessions_meant_alone(a.session);
	if (!session)
		return 1;
	ward_cleanup_free char *token = NULL;
	struct ward_err err = WARD_ERR_INIT;
	if (a.token && ward_token_file_read(a.token, &token, &err) < 0) {
		ward_say(err.text);
		return 2;
	}
	json_t *q = json_pack("{s:s, s:I, s:I}", "verb", token ? "grant-token" : "grant", "for",
		(json_int_t)a.seconds, "uses", (json_int_t)a.uses);
	put_text(q, "token", token);
	put_text(q, "right", a.right);
	put_text(q, "what", a.what);
	put_text(q, "reason", a.reason);
	json_t *o = ask(session, q, &status);
	if (!o)
		return status;
	if (a.json)
		ward_print_json(json_incref(json_object_get(o, "grant")));
	else
		ward_outf("%s\n",
			json_string_value(json_object_get(json_object_get(o, "grant"), "id")));
	json_decref(o);
	return 0;
}

/* --- grants --- */

static const struct argp_option grants_options[] = {
	{"json", 'j', NULL, 0, "One JSON array of objects", 0},
	{0},
};
static const struct argp grants_argp = {grants_options, ward_sessions_parse, "[SESSION]",
	"Lists the grants that running sessions of the caller, or the one named, have now, and what is left of each.",
	NULL, NULL, NULL};

static const char *member(const json_t *o, const char *name)
{
	const char *s = json_string_value(json_object_get(o, name));
	return s ? s : "-";
}

/* "9m58s"; "session": its end. */
static void left_text(const json_t *o, char *ret, size_t size)
{
	const json_t *left = json_object_get(o, "left_s");
	const json_int_t s = json_integer_value(left);
	if (!json_is_integer(left))
		snprintf(ret, size, "session");
	else if (s >= 3600)
		snprintf(ret, size, "%" PRId64 "h%02" PRId64 "m", (int64_t)s / 3600,
			(int64_t)s % 3600 / 60);
	else
		snprintf(ret, size, "%" PRId64 "m%02" PRId64 "s", (int64_t)s / 60, (int64_t)s % 60);
}

static void print_grant(const char *session, const json_t *o)
{
	const json_t *uses = json_object_get(o, "uses");
	char left[32], used[32];
	left_text(o, left, sizeof(left));
	if (json_is_integer(uses))
		snprintf(used, sizeof(used), "%" PRId64 "/%" PRId64,
			(int64_t)json_integer_value(json_object_get(o, "used")),
			(int64_t)json_integer_value(uses));
	else
		snprintf(used, sizeof(used), "%" PRId64,
			(int64_t)json_integer_value(json_object_get(o, "used")));
	const char *rights = member(o, "rights");
	/* The words of `wardfs grant` where it has them. */
	const char *word = strcmp(rights, "connect") == 0 ? rights
			   : strstr(rights, "write")	  ? "write"
			   : strstr(rights, "append")	  ? "append"
							  : "read";
	ward_outf("%-14s %-20s %-8s %-8s %-10s %s\n", member(o, "id"), session, left, used, word,
		json_object_get(o, "host") ? member(o, "host") : member(o, "pattern"));
}

static int tell_grants(const struct ward_sessions_asked *a, const json_t *sessions)
{
	json_t *all = json_array();
	const json_t *s = NULL;
	json_t *g = NULL;
	size_t i = 0, k = 0;
	int status = 0, one;
	bool any = false;
	json_array_foreach(sessions, i, s)
	{
		const char *name = member(s, "session");
		json_t *o = ask(name, json_pack("{s:s}", "verb", "grants"), &one);
		status |= one;
		json_array_foreach(json_object_get(o, "grants"), k, g)
		{
			if (!a->json && !any)
				ward_outf("%-14s %-20s %-8s %-8s %-10s %s\n", "ID", "SESSION",
					"LEFT", "USED", "RIGHT", "WHAT");
			any = true;
			if (!a->json)
				print_grant(name, g);
			json_object_set_new(g, "session", json_string(name));
			json_array_append(all, g);
		}
		if (!a->json && json_integer_value(json_object_get(o, "more")) > 0)
			ward_outf("  and %" PRId64 " more\n",
				(int64_t)json_integer_value(json_object_get(o, "more")));
		json_decref(o);
	}
	if (a->json)
		ward_print_json(json_incref(all));
	else if (!status && !any)
		ward_say("no grant is in force; 'wardfs grant SESSION …' gives one for a while");
	json_decref(all);
	return status;
}

int ward_cmd_grants(int argc, char **argv)
{
	struct ward_sessions_asked a = {0};
	if (ward_arguments_parse(&grants_argp, argc, argv, 0, &a))
		return 2;
	ward_cleanup_free char *runtime = NULL;
	json_t *sessions = NULL;
	bool silent = false;
	int status = ward_sessions_choose(a.session, &runtime, &sessions, &silent);
	if (!sessions)
		return status;
	status |= silent;
	/* A header alone says nothing. */
	if (!a.json && !json_array_size(sessions)) {
		if (status == 0)
			ward_sessions_say_none();
	} else {
		status |= tell_grants(&a, sessions);
	}
	json_decref(sessions);
	return status;
}

/* --- revoke --- */

struct revoke_args {
	const char *id, *reason;
};

static error_t parse_revoke(int key, char *arg, struct argp_state *state)
{
	struct revoke_args *a = state->input;
	switch (key) {
	case OPT_REASON:
		a->reason = arg;
		return 0;
	case ARGP_KEY_ARG:
		if (a->id)
			ward_arguments_wrong(state, "too many arguments");
		a->id = arg;
		return 0;
	case ARGP_KEY_END:
		if (!a->id)
			ward_arguments_wrong(
				state, "the id of a grant is needed; wardfs grants lists them");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option revoke_options[] = {
	{"reason", OPT_REASON, "TEXT", 0, "Why, for the trail", 0},
	{0},
};
static const struct argp revoke_argp = {revoke_options, parse_revoke, "ID",
	"Ends a grant before its time. When it returns, nothing can be read or written under the grant any more, not even through open files.\vExit status: 0 it has ended; 1 no running session of the caller has such a grant in force.",
	NULL, NULL, NULL};

/* The session that has it; NULL: none. */
static const char *holder(const char *runtime, const json_t *sessions, const char *id)
{
	const json_t *s = NULL, *g = NULL;
	const char *found = NULL;
	size_t i = 0, k = 0;
	json_array_foreach(sessions, i, s)
	{
		const char *name = member(s, "session");
		json_t *o = ward_sessions_ask(runtime, name, "{\"verb\":\"grants\"}");
		json_array_foreach(json_object_get(o, "grants"), k,
			g) if (strcmp(member(g, "id"), id) == 0) found = name;
		json_decref(o);
	}
	return found;
}

int ward_cmd_revoke(int argc, char **argv)
{
	struct revoke_args a = {0};
	if (ward_arguments_parse(&revoke_argp, argc, argv, 0, &a))
		return 2;
	ward_cleanup_free char *runtime = NULL;
	json_t *sessions = NULL;
	bool silent = false;
	int status = ward_sessions_choose(NULL, &runtime, &sessions, &silent);
	if (!sessions)
		return status;
	const char *session = holder(runtime, sessions, a.id);
	if (session) {
		json_t *q = json_pack("{s:s, s:s}", "verb", "revoke", "id", a.id);
		put_text(q, "reason", a.reason);
		json_decref(ask(session, q, &status));
	} else {
		ward_sayf(
			"no running session%s has a grant '%s' in force; wardfs grants lists them",
			silent ? " that answers" : "", a.id);
		status = 1;
	}
	json_decref(sessions);
	return status;
}
