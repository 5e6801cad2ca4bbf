/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs ps, wardfs kill: running sessions. */
#include <argp.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/out.h"
#include "enforcer/cli/base/arguments.h"
#include "enforcer/cli/base/cli.h"
#include "enforcer/cli/base/say.h"
#include "enforcer/cli/base/sessions.h"
#include "enforcer/session/control/control.h"

struct ps_args {
	struct ward_sessions_asked asked;
	bool io;
};

enum { OPT_IO = 0x100 };

static error_t parse_ps(int key, char *arg, struct argp_state *state)
{
	struct ps_args *a = state->input;
	if (key != OPT_IO)
		return ward_sessions_parse(key, arg, state);
	a->io = true;
	return 0;
}

static error_t parse_kill(int key, char *arg, struct argp_state *state)
{
	const struct ward_sessions_asked *a = state->input;
	if (key != ARGP_KEY_END)
		return ward_sessions_parse(key, arg, state);
	ward_sessions_need(state, a->session);
	return 0;
}

static const struct argp_option ps_options[] = {
	{"json", 'j', NULL, 0, "One JSON array of objects", 0},
	{"io", OPT_IO, NULL, 0, "The open files of each, how they are read and written, and why",
		0},
	{0},
};
static const struct argp ps_argp = {ps_options, parse_ps, "[SESSION]",
	"Lists the running sessions of the caller, or the one named: latest is the last of this project.",
	NULL, NULL, NULL};
static const struct argp kill_argp = {NULL, parse_kill, "SESSION",
	"Ends a running session: SIGTERM to its command, SIGKILL to all of it two seconds later. Returns when the session has ended. SESSION is its name, or latest: the last of this project.\vExit status: 0 it has ended; 1 no such session runs, or it has not ended after 30 seconds.",
	NULL, NULL, NULL};

/* Two seconds until SIGKILL, and what a slow disk takes for the end of a trail. */
#define KILL_WAIT_MS 30000

/* Borrowed; NULL where there is none. */
static const char *member(const json_t *o, const char *name)
{
	return json_string_value(json_object_get(o, name));
}

static void print_row(const json_t *o)
{
	ward_outf("%-30s %7lld  ", member(o, "session"),
		(long long)json_integer_value(json_object_get(o, "pid")));
	ward_outf("%-10.10s ", member(o, "verb"));
	ward_outf("%.19s ", member(o, "started"));
	const json_t *argv = json_object_get(o, "argv");
	size_t i = 0;
	const json_t *v = NULL;
	json_array_foreach(argv, i, v)
	{
		ward_outf(" %s", json_string_value(v));
	}
	ward_outf("%s\n", json_is_true(json_object_get(o, "prepared"))
				  ? " (prepared: waits for a run to take it)"
				  : "");
	/* Behind the row: few sessions have any. */
	const json_t *not_held = json_object_get(o, "not_held");
	json_array_foreach(not_held, i, v) ward_outf(
		"%s%s", i ? ", " : "    limits that are not enforced: ", json_string_value(v));
	if (json_array_size(not_held))
		ward_outf("\n");
	if (json_integer_value(json_object_get(o, "grants")) > 0)
		ward_outf("    %lld granted (wardfs grants %s)\n",
			(long long)json_integer_value(json_object_get(o, "grants")),
			member(o, "session"));
	json_array_foreach(json_object_get(o, "break_glass"), i, v) ward_outf(
		"    BREAK GLASS %s lifts %s for %s until %.19sZ: %s\n", member(v, "id"),
		member(v, "lifts"), member(v, "pattern"), member(v, "until"), member(v, "reason"));
	json_array_foreach(json_object_get(o, "publish"), i, v)
	{
		ward_outf("    http://127.0.0.1:%lld leads to port %lld inside\n",
			(long long)json_integer_value(json_object_get(v, "port")),
			(long long)json_integer_value(json_object_get(v, "inside")));
	}
}

/* Asks a session about its open files and puts the answer into o as "io". 1 after a message. */
static int add_io(const char *runtime, json_t *o)
{
	const char *session = json_string_value(json_object_get(o, "session"));
	json_t *io = session ? ward_sessions_ask(runtime, session, "{\"verb\":\"io\"}") : NULL;
	if (!io)
		return 1;
	json_object_set_new(o, "io", io);
	return 0;
}

static void print_io(const json_t *io)
{
	if (!io)
		return; /* add_io() has said why */
	static const char *const kinds[] = {"passthrough", "checked", "cached", "direct"};
	const json_t *totals = json_object_get(io, "totals");
	ward_outf("    open:");
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		const json_t *n = json_object_get(totals, kinds[i]);
		if (n)
			ward_outf(" %lld %s,", (long long)json_integer_value(n), kinds[i]);
	}
	ward_outf(" %lld directories\n",
		(long long)json_integer_value(json_object_get(totals, "directories")));
	size_t i = 0;
	const json_t *h = NULL;
	json_array_foreach(json_object_get(io, "handles"), i, h)
	{
		ward_outf("    %7lld  ", (long long)json_integer_value(json_object_get(h, "pid")));
		ward_outf("%-11s  ", member(h, "io"));
		ward_outf("%s  ", member(h, "path"));
		ward_outf("(%s)\n", member(h, "why"));
	}
	long long more = (long long)json_integer_value(json_object_get(io, "more"));
	if (more > 0)
		ward_outf("    and %lld more\n", more);
}

int ward_cmd_ps(int argc, char **argv)
{
	struct ps_args a = {0};
	if (ward_arguments_parse(&ps_argp, argc, argv, 0, &a))
		return 2;
	ward_cleanup_free char *runtime = NULL;
	json_t *all = NULL;
	bool silent = false;
	int status = ward_sessions_choose(a.asked.session, &runtime, &all, &silent);
	if (!all)
		return status;
	status |= silent;
	for (size_t i = 0; a.io && i < json_array_size(all); i++)
		status |= add_io(runtime, json_array_get(all, i));
	if (a.asked.json) {
		ward_print_json(json_incref(all));
	} else {
		size_t i = 0;
		const json_t *o = NULL;
		if (json_array_size(all) == 0 && !a.asked.session && !silent)
			ward_sessions_say_none();
		else if (json_array_size(all))
			ward_outf("%-30s %7s  %-10s %-19s  %s\n", "SESSION", "PID", "VERB",
				"STARTED (UTC)", "COMMAND");
		json_array_foreach(all, i, o)
		{
			print_row(o);
			if (a.io)
				print_io(json_object_get(o, "io"));
		}
	}
	json_decref(all);
	return status;
}

int ward_cmd_kill(int argc, char **argv)
{
	struct ward_sessions_asked a = {0};
	if (ward_arguments_parse(&kill_argp, argc, argv, 0, &a))
		return 2;
	ward_cleanup_free char *runtime = NULL;
	ward_cleanup_free char *answer = NULL;
	ward_cleanup_free char *session = ward_sessions_meant_alone(a.session);
	struct ward_err err = WARD_ERR_INIT;
	if (!session)
		return 1;
	int r = ward_control_runtime(&runtime, &err);
	if (r == 0)
		r = ward_control_ask(runtime, session, "{\"verb\":\"kill\"}", &answer, &err);
	if (r < 0) {
		ward_say(err.text);
		return 1;
	}
	if (ward_control_wait_gone(runtime, session, KILL_WAIT_MS)) {
		ward_sayf("session %s has ended", session);
		return 0;
	}
	ward_sayf(
		"session %s is asked to end and has not ended yet: wardfs may still be writing its trail, or a process waits for a disk. 'wardfs ps' shows when it has ended",
		session);
	return 1;
}
