/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs audit guarantees: which boundaries held, over sessions, and where one was missing. */
#include <errno.h>
#include <string.h>

#include "audit/query/index.h"
#include "audit/query/index_about.h"
#include "audit/query/query.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"
#include "enforcer/base/out.h"
#include "enforcer/base/plural.h"
#include "enforcer/base/timestamp.h"
#include "enforcer/cli/audit/audit_labels.h"
#include "enforcer/cli/audit/audit_ledger.h"
#include "enforcer/cli/audit/audit_left_out.h"
#include "enforcer/cli/audit/audit_options.h"
#include "enforcer/cli/audit/audit_verb.h"
#include "enforcer/cli/audit/audit_verbs.h"
#include "enforcer/cli/base/say.h"
#include "enforcer/modes/table/mode.h"

/* session.start, the policies and all probes are among so many records of a trail. */
#define FIRST_MAX 2000U

#define UNRECORDED "unrecorded"

struct guarantees {
	struct audit_cmd *c;
	/* {name: {"held": n, "missing": [{session, time, reason: {why, because}}]}}; of the
	 * network also "unrecorded": n, of the sessions without a network */
	json_t *all;
	/* [{session, time, layer, name, text}]: attempts that were not refused */
	json_t *failed;
	json_int_t sessions;
	json_int_t without; /* sessions that had no sandbox: mounts */
	struct audit_left_out left;
	struct ward_ledger_view ledger;
	bool whole; /* the index answered for the sessions that it has whole */
	/* the one at hand */
	const char *session;
	unsigned seen;
	bool counts;
	bool indexed; /* the index knows where its probes are */
	/* the index: NULL, empty: there is none */
	struct ward_index *index;
	struct ward_index_abouts abouts;
	size_t hint;
};

static json_t *row_of(struct guarantees *g, const char *name)
{
	json_t *row = json_object_get(g->all, name);
	if (!row && json_object_set_new(
			    g->all, name, json_pack("{s:i, s:[]}", "held", 0, "missing")) == 0)
		row = json_object_get(g->all, name);
	return row;
}

static json_t *where(const struct guarantees *g, const json_t *rec)
{
	return json_pack(
		"{s:s, s:O?}", "session", g->session, "time", json_object_get(rec, "time"));
}

static int add_missing(struct guarantees *g, const json_t *rec, const char *name, json_t *reason)
{
	json_t *at = where(g, rec);
	json_t *row = row_of(g, name);
	if (!at || !row || json_object_set(at, "reason", reason) < 0 ||
		json_array_append_new(json_object_get(row, "missing"), at) < 0)
		return -ENOMEM;
	return 0;
}

static bool lists(const json_t *array, const char *name)
{
	const json_t *v = NULL;
	size_t i = 0;
	json_array_foreach(array, i, v)
	{
		if (json_is_string(v) && strcmp(json_string_value(v), name) == 0)
			return true;
	}
	return false;
}

/*
 * What no policy sets is part of every wall: a mode that lacks it ran without it, though nobody had
 * to allow that by name. [limits] tmp has a default, so it is one of these. Of other limits, the
 * session names those that its policy set and nothing held.
 */
static const enum ward_guarantee walls[] = {WARD_GUARANTEE_FILES, WARD_GUARANTEE_PROCESSES,
	WARD_GUARANTEE_NETWORK, WARD_GUARANTEE_SYSCALLS, WARD_GUARANTEE_PRIVILEGES,
	WARD_GUARANTEE_END, WARD_GUARANTEE_INTEGRITY, WARD_GUARANTEE_TMP};

static int take_mode(struct guarantees *g, const json_t *rec, const json_t *sandbox)
{
	const json_t *given = json_object_get(sandbox, "guarantees");
	const json_t *missing = json_object_get(sandbox, "missing");
	const char *mode = ward_query_text(json_object_get(rec, "detail"), "mode");
	if (!json_is_array(given))
		return 0;
	json_t *reason = json_pack("{s:o, s:s}", "why",
		json_sprintf("mode %s does not have it", mode ? mode : "?"), "because",
		"the session's mode");
	int r = reason ? 0 : -ENOMEM;
	for (size_t i = 0; r == 0 && i < sizeof(walls) / sizeof(*walls); i++) {
		const char *name = ward_guarantee_name(walls[i]);
		if (!lists(given, name) && !json_object_get(missing, name))
			r = add_missing(g, rec, name, reason);
	}
	json_decref(reason);
	return r;
}

/* Was anything missing in a session that started like this? */
static bool lacks_any(const json_t *rec)
{
	const json_t *sandbox = json_object_get(json_object_get(rec, "detail"), "sandbox");
	const json_t *given = json_object_get(sandbox, "guarantees");
	bool all = json_object_size(json_object_get(sandbox, "missing")) == 0;
	for (size_t i = 0; json_is_array(given) && i < sizeof(walls) / sizeof(*walls); i++)
		all = all && lists(given, ward_guarantee_name(walls[i]));
	return !all;
}

/* Did a session start in the time that is asked for? */
static bool is_within(const struct audit_cmd *c, const char *time)
{
	return ward_timestamp_within(
		time, c->since ? c->since_time : NULL, c->until ? c->until_time : NULL);
}

/*
 * Did the session hold what it names? Trails of wardfs 0.2 and earlier also name the limits that
 * this host could have held, had anybody set them.
 */
static bool is_held(const json_t *sandbox, const char *name)
{
	static const char limit[] = "limit-";
	if (strncmp(name, limit, strlen(limit)) != 0 ||
		strcmp(name, ward_guarantee_name(WARD_GUARANTEE_TMP)) == 0)
		return true;
	return json_object_get(json_object_get(sandbox, "limits"), name + strlen(limit));
}

/* Without a network the kernel refuses every connection, and nobody records the attempt. */
static int add_unrecorded(struct guarantees *g, uint64_t sessions)
{
	json_t *row = row_of(g, ward_guarantee_name(WARD_GUARANTEE_NETWORK));
	const json_int_t n = json_integer_value(json_object_get(row, UNRECORDED));
	json_t *now = json_integer(n + (json_int_t)sessions);
	return row && json_object_set_new(row, UNRECORDED, now) == 0 ? 0 : -ENOMEM;
}

static const json_t *sandbox_of(const json_t *rec)
{
	return json_object_get(json_object_get(rec, "detail"), "sandbox");
}

/* What held, of n sessions that started like this. */
static int count_start(struct guarantees *g, const json_t *rec, uint64_t n)
{
	const json_t *sandbox = sandbox_of(rec);
	const char *network = ward_query_text(sandbox, "network");
	json_t *v = NULL;
	size_t i = 0;
	g->sessions += (json_int_t)n;
	g->without += sandbox ? 0 : (json_int_t)n;
	json_array_foreach(json_object_get(sandbox, "guarantees"), i, v)
	{
		const char *given = json_string_value(v);
		json_t *row = given && is_held(sandbox, given) ? row_of(g, given) : NULL;
		json_t *held = json_object_get(row, "held");
		if (held && json_integer_set(held, json_integer_value(held) + (json_int_t)n) < 0)
			return -ENOMEM;
	}
	return network && strcmp(network, "none") == 0 ? add_unrecorded(g, n) : 0;
}

/* What did not, of one. */
static int note_missing(struct guarantees *g, const json_t *rec)
{
	const json_t *sandbox = sandbox_of(rec);
	const char *name = NULL;
	json_t *v = NULL;
	json_object_foreach((json_t *)(uintptr_t)json_object_get(sandbox, "missing"), name, v)
	{
		if (add_missing(g, rec, name, v) < 0)
			return -ENOMEM;
	}
	return take_mode(g, rec, sandbox);
}

static int take_start(struct guarantees *g, const json_t *rec)
{
	g->counts = is_within(g->c, ward_query_text(rec, "time"));
	if (!g->counts)
		return 1;
	int r = count_start(g, rec, 1);
	return r < 0 ? r : note_missing(g, rec);
}

/* By the index: sessions that are alike, and then each where something is missing. */
static int take_walls(void *ctx, const json_t *start, uint64_t n, const char *name)
{
	struct guarantees *g = ctx;
	if (!name) {
		int r = count_start(g, start, n);
		return r < 0 ? r : lacks_any(start) ? 1 : 0;
	}
	g->session = name;
	return note_missing(g, start);
}

static int take_probe(struct guarantees *g, const json_t *rec)
{
	const char *result = ward_query_text(rec, "result");
	if (!result || strcmp(result, "failed") != 0)
		return 0;
	json_t *at = where(g, rec);
	json_t *layer = json_object_get(rec, "layer");
	json_t *text = json_object_get(rec, "text");
	if (!at || json_object_set(at, "layer", layer ? layer : json_null()) < 0 ||
		json_object_set(at, "text", text ? text : json_null()) < 0)
		return -ENOMEM;
	return json_array_append_new(g->failed, at) < 0 ? -ENOMEM : 0;
}

static int take(void *ctx, const char *line, size_t len, const json_t *rec)
{
	struct guarantees *g = ctx;
	const enum ward_event_kind kind = ward_query_kind(rec);
	(void)line, (void)len;
	if (kind == WARD_EVENT_SESSION_START) {
		int r = take_start(g, rec);
		return r == 0 && g->indexed ? 1 : r;
	}
	if (g->indexed || ++g->seen > FIRST_MAX)
		return 1;
	return g->counts && kind == WARD_EVENT_PROBE ? take_probe(g, rec) : 0;
}

static int take_found(void *ctx, const char *line, size_t len, const json_t *rec)
{
	(void)line, (void)len;
	return rec ? take_probe(ctx, rec) : 0;
}

/* Its first record, and its probes: by the index, or among the first records. */
static int read_trail(struct guarantees *g, struct ward_log *log, struct ward_err *err)
{
	static const struct ward_filter probes = {.kind = "probe"};
	ward_cleanup(ward_query_lines_clear) struct ward_query_lines lines = {0};
	const struct ward_select found = {.filter = &probes, .lines = &lines};
	struct ward_err none = WARD_ERR_INIT;
	int r = ward_index_find_in(
		g->index, g->session, log, &probes, NULL, WARD_INDEX_MATCHES, &lines, &none);
	g->indexed = r == 0;
	r = r == -ENOMEM ? r : ward_query_walk(log, true, take, g, err);
	return r >= 0 && g->indexed && g->counts ? ward_select_walk(log, &found, take_found, g, err)
						 : r;
}

/* By its start and its labels; the index knows those without the trail. */
static bool is_asked(struct guarantees *g, const char *session)
{
	char started[WARD_CLOCK_TEXT_MAX];
	const struct ward_index_about *a = ward_index_abouts_find(&g->abouts, session, &g->hint);
	if (!a)
		return audit_labels_match(g->c, session);
	ward_clock_format((uint64_t)a->started, started);
	return a->wanted && (a->started <= 0 || is_within(g->c, started));
}

static int look(struct guarantees *g, const char *session, struct ward_err *err)
{
	ward_cleanup(ward_log_closep) struct ward_log *log = NULL;
	struct ward_err why = WARD_ERR_INIT;
	if (!is_asked(g, session))
		return 0;
	g->session = session;
	g->seen = 0;
	g->counts = false;
	int r = ward_store_open_log(g->c->store, session, &log, &why);
	if (r == 0)
		r = read_trail(g, log, &why);
	if (r == -ENOMEM)
		return ward_err_sys(err, r, "guarantees");
	if (r < 0 && r != -ENOENT)
		audit_left_out_add(&g->left, session, why.text);
	return 0;
}

static const char *text_of(const json_t *o, const char *name)
{
	const char *v = ward_query_text(o, name);
	return v ? v : "?";
}

/* Is the answer of both the same? */
static bool same_answer(const json_t *a, const json_t *b)
{
	static const char *const told[] = {"reason", "layer", "text"};
	for (size_t i = 0; i < sizeof(told) / sizeof(*told); i++)
		if (!json_equal(json_object_get(a, told[i]), json_object_get(b, told[i])) &&
			(json_object_get(a, told[i]) || json_object_get(b, told[i])))
			return false;
	return true;
}

/* The session, or how many gave this answer; false: one before it did, and stands for it. */
static bool print_sessions(const json_t *list, size_t at)
{
	const json_t *first = json_array_get(list, at), *last = first, *other = NULL;
	size_t n = 0, i = 0;
	json_array_foreach(list, i, other)
	{
		if (!same_answer(first, other))
			continue;
		if (i < at)
			return false;
		last = other;
		n++;
	}
	const char *from = text_of(first, "time"), *to = text_of(last, "time");
	if (n == 1)
		ward_outf("    %s  %.19sZ  ", text_of(first, "session"), from);
	else if (strncmp(from, to, strlen("2026-11-20")) == 0)
		ward_outf("    %zu sessions on %.10s, the last %s  ", n, from,
			text_of(last, "session"));
	else
		ward_outf("    %zu sessions from %.10s to %.10s, the last %s  ", n, from, to,
			text_of(last, "session"));
	return true;
}

static void print(const struct guarantees *g)
{
	const char *name = NULL;
	json_t *row = NULL, *at = NULL;
	size_t i = 0;
	ward_outf("%-20s %8s %8s\n", "GUARANTEE", "HELD", "MISSING");
	json_object_foreach(g->all, name, row)
	{
		const json_t *list = json_object_get(row, "missing");
		ward_outf("%-20s %8" JSON_INTEGER_FORMAT " %8zu\n", name,
			json_integer_value(json_object_get(row, "held")), json_array_size(list));
		const json_int_t none = json_integer_value(json_object_get(row, UNRECORDED));
		if (none)
			ward_outf("    %" JSON_INTEGER_FORMAT
				  " without a network: the kernel refuses each connection, and no "
				  "attempt is recorded\n",
				none);
		json_array_foreach(list, i, at)
		{
			const json_t *reason = json_object_get(at, "reason");
			if (print_sessions(list, i))
				ward_outf("%s (%s)\n", text_of(reason, "why"),
					text_of(reason, "because"));
		}
	}
	if (json_array_size(g->failed))
		ward_outf("probe failed\n");
	json_array_foreach(g->failed, i, at)
	{
		if (print_sessions(g->failed, i))
			ward_outf("%s: %s\n", text_of(at, "layer"), text_of(at, "text"));
	}
	const size_t n = json_array_size(g->failed);
	ward_cleanup(ward_buf_clear) struct ward_buf attempts = WARD_BUF_INIT;
	if (n)
		ward_buf_printf(&attempts, "%zu attempt%s inside %s not refused", n, ward_s(n),
			ward_were(n));
	else
		ward_buf_puts(&attempts, "no attempt inside succeeded");
	ward_outf("%" JSON_INTEGER_FORMAT " session%s, %" JSON_INTEGER_FORMAT
		  " of them without a sandbox; %s\n",
		g->sessions, ward_s((uint64_t)g->sessions), g->without, ward_buf_str(&attempts));
}

static bool any_missing(const struct guarantees *g)
{
	const char *name = NULL;
	json_t *row = NULL;
	json_object_foreach(g->all, name, row)
	{
		if (json_array_size(json_object_get(row, "missing")))
			return true;
	}
	return json_array_size(g->failed) > 0;
}

/* One connection for all sessions. No trail is read for it, nothing needs it. */
static int open_index(struct guarantees *g, struct ward_err *err)
{
	const struct ward_index_wanted wanted = audit_labels_wanted(g->c);
	int r = ward_index_about_all(g->c->store, &wanted, &g->abouts, err);
	if (r < 0)
		ward_index_abouts_clear(&g->abouts);
	return r == -ENODATA ? 0 : r;
}

/* By the index; *ret_names: sessions whose trails are to be read. */
static int ask_index(struct guarantees *g, struct ward_store_names *ret_names, struct ward_err *err)
{
	struct audit_cmd *c = g->c;
	const struct ward_index_wanted wanted = audit_labels_wanted(c);
	struct ward_index_result res = {.light = true};
	struct ward_err none = WARD_ERR_INIT;
	(void)!ward_index_update(c->store, false, &res, &none);
	int r = ward_index_walls(c->store, &wanted, c->since ? c->since_time : NULL,
		c->until ? c->until_time : NULL, take_walls, g, ret_names, err);
	if (r < 0 && r != -ENODATA)
		return r;
	if (r == 0)
		r = audit_left_out_ledger(c, &g->ledger, err);
	g->whole = r == 0 && audit_left_out_none(c, &g->ledger);
	if (r != -ENODATA && (r < 0 || g->whole))
		return r;
	/* What the index misses is in the trails. */
	ward_store_names_free(ret_names);
	json_object_clear(g->all);
	json_array_clear(g->failed);
	g->sessions = g->without = 0;
	r = open_index(g, err);
	return r == 0 ? ward_store_list(c->store, ret_names, err) : r;
}

static int look_all(struct guarantees *g, struct ward_err *err)
{
	struct ward_store_names names = {0};
	int r = ask_index(g, &names, err);
	g->index = ward_index_open(g->c->store);
	for (size_t i = 0; r == 0 && i < names.n; i++)
		r = look(g, names.v[i], err);
	ward_store_names_free(&names);
	return r;
}

static int run_guarantees(struct audit_cmd *c, struct ward_err *err)
{
	struct guarantees g = {.c = c, .all = json_object(), .failed = json_array()};
	ward_cleanup(ward_buf_clear) struct ward_buf said = WARD_BUF_INIT;
	ward_buf_printf(&said, "%s%s%s", c->since ? c->since_time : "",
		c->until ? (c->since ? " to " : "until ") : "", c->until ? c->until_time : "");
	audit_ledger_note_question(c, ward_buf_str(&said));
	int r = g.all && g.failed ? look_all(&g, err) : ward_err_sys(err, -ENOMEM, "guarantees");
	if (r == 0)
		r = g.whole ? audit_left_out_indexed(c, false, &g.ledger, &g.left, err)
			    : audit_left_out_absent(c, &g.left, err);
	bool missing = r == 0 && any_missing(&g);
	if (r == 0 && c->json)
		ward_print_json(json_pack("{s:I, s:I, s:O, s:O}", "sessions", g.sessions,
			"without_sandbox", g.without, "guarantees", g.all, "failed", g.failed));
	else if (r == 0)
		print(&g);
	if (r == 0 && ward_out_flush() < 0)
		r = ward_err_sys(err, -EIO, "stdout");
	if (r == 0)
		ward_say(
			"these trails were not verified; 'wardfs audit verify --all' verifies them");
	if (r == 0)
		r = audit_left_out_say(&g.left, err);
	audit_left_out_clear(&g.left);
	ward_index_close(g.index);
	ward_index_abouts_clear(&g.abouts);
	ward_ledger_view_free(&g.ledger);
	json_decref(g.all);
	json_decref(g.failed);
	return r < 0 ? r : missing;
}

/* --- on the command line --- */

static const struct argp_option guarantees_options[] = {
	{"json", 'j', NULL, 0, "One JSON object", 0},
	{"since", AUDIT_OPTION_SINCE, "TIME", 0,
		"Only sessions that started at TIME or later. TIME is as for --since of audit "
		"show",
		0},
	{"until", AUDIT_OPTION_UNTIL, "TIME", 0,
		"Only sessions that started up to and including that second, minute or day", 0},
	{0},
};
const struct argp audit_guarantees_argp = {guarantees_options, audit_verb_parse, NULL,
	"For each guarantee, prints in how many sessions it held, and in which it was missing "
	"and why: a user allowed that, or the mode lacks it. Also prints attempts to break a "
	"layer that were not refused. Sessions with the same answer share a line; --json lists "
	"each.\vExit status: 0; 1 a guarantee was missing, or an attempt succeeded; 2 usage; "
	"125 a trail cannot be read.",
	audit_options_sessions, NULL, NULL};
static const struct audit_verb guarantees_verb = {
	.name = "guarantees",
	.argp = &audit_guarantees_argp,
	.words = "",
	.run = run_guarantees,
};

int ward_audit_cmd_guarantees(int argc, char **argv)
{
	return audit_verb_call(&guarantees_verb, argc, argv);
}
