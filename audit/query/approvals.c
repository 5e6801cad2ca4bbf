/* SPDX-License-Identifier: Apache-2.0 */
/* Puts questions, answers, grants and uses of a trail together. */
#include "audit/query/approvals.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/query/query.h"
#include "enforcer/base/buf.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/plural.h"

#define COUNT(list) (sizeof(list) / sizeof(*(list)))

struct reading {
	const struct ward_filter *when;
	json_t *rows;
	json_t *asked;	/* request: row that has no answer yet */
	json_t *shown;	/* request: what was shown of it, by digest; several where paths joined */
	json_t *grants; /* id: grant */
};

static void copy(json_t *to, const json_t *rec, const char *const members[], size_t n)
{
	for (size_t i = 0; i < n; i++) {
		json_t *v = json_object_get(rec, members[i]);
		if (v)
			json_object_set(to, members[i], v);
	}
}

/* The members that each record about a question has. */
static void copy_about(json_t *row, const json_t *rec)
{
	static const char *const members[] = {"request", "action", "asked", "path", "path2", "host",
		"addr", "port", "rule", "rule_text", "shown"};
	copy(row, rec, members, COUNT(members));
}

static void copy_decided(json_t *row, const json_t *rec)
{
	static const char *const members[] = {"seq", "time", "session", "result", "by", "uid",
		"login_uid", "terminal", "how", "scope", "duration", "text", "token", "key"};
	copy(row, rec, members, COUNT(members));
}

static json_t *add_row(struct reading *r)
{
	json_t *row = json_pack("{s:[]}", "grants");
	return json_array_append_new(r->rows, row) < 0 ? NULL : row;
}

static int take_ask(struct reading *r, const json_t *rec)
{
	const char *request = ward_query_text(rec, "request");
	const char *digest = ward_query_text(rec, "shown");
	json_t *row = request ? json_object_get(r->asked, request) : NULL;
	json_t *shown = json_object_get(rec, "detail");
	json_t *texts = request ? json_object_get(r->shown, request) : NULL;
	if (!row && !(row = add_row(r)))
		return -ENOMEM;
	if (request && !texts) {
		texts = json_object();
		json_object_set_new(r->shown, request, texts);
	}
	if (texts && digest && shown)
		json_object_set(texts, digest, shown);
	copy_about(row, rec);
	copy_decided(row, rec);
	json_object_set_new(row, "result", json_string("open"));
	if (shown)
		json_object_set(row, "question", shown);
	/* The question names the asking process; the members name the person who answers. */
	json_object_del(row, "uid");
	return request ? json_object_set(r->asked, request, row) : 0;
}

/* The grants that an answer names, with a space between. */
static void take_ids(struct reading *r, json_t *row, const char *ids)
{
	ward_cleanup_free char *list = ids ? strdup(ids) : NULL;
	char *rest = NULL;
	for (char *id = list ? strtok_r(list, " ", &rest) : NULL; id;
		id = strtok_r(NULL, " ", &rest)) {
		json_t *g = json_object_get(r->grants, id);
		/* An end of one question can end others: each row then has the same grant. */
		if (g) {
			json_array_append(json_object_get(row, "grants"), g);
			json_object_set_new(g, "answers", json_true());
		}
	}
}

static int take_answer(struct reading *r, const json_t *rec)
{
	const char *request = ward_query_text(rec, "request");
	json_t *row = request ? json_object_get(r->asked, request) : NULL;
	if (!row && !(row = add_row(r)))
		return -ENOMEM;
	copy_about(row, rec);
	copy_decided(row, rec);
	take_ids(r, row, ward_query_text(rec, "grant"));
	/* What the person saw, also where a path joined before the answer came. */
	json_t *texts = request ? json_object_get(r->shown, request) : NULL;
	json_t *saw = json_object_get(texts, ward_query_text(rec, "shown"));
	if (saw)
		json_object_set(row, "question", saw);
	if (request) {
		json_object_del(r->asked, request);
		json_object_del(r->shown, request);
	}
	return 0;
}

static int take_grant(struct reading *r, const json_t *rec)
{
	static const char *const members[] = {
		"grant", "seq", "time", "asked", "path", "host", "until", "uses", "text", "how"};
	const char *id = ward_query_text(rec, "grant"), *how = ward_query_text(rec, "how");
	json_t *g = id ? json_pack("{s:i, s:[], s:i}", "used", 0, "accesses", "more", 0) : NULL;
	if (!id)
		return take_answer(r, rec);
	copy(g, rec, members, COUNT(members));
	if (json_object_set_new(r->grants, id, g) < 0)
		return -ENOMEM;
	/* The answer that it comes from follows, and has the row. */
	if (how && strcmp(how, "answer") == 0)
		return 0;
	json_t *row = add_row(r), *lifts = json_object_get(json_object_get(rec, "detail"), "lifts");
	if (!row)
		return -ENOMEM;
	copy_about(row, rec);
	copy_decided(row, rec);
	if (lifts)
		json_object_set(row, "lifts", lifts);
	json_object_set_new(g, "answers", json_true());
	return json_array_append(json_object_get(row, "grants"), g);
}

static int take_use(struct reading *r, const json_t *rec)
{
	static const char *const members[] = {"seq", "time", "action", "path", "path2", "host",
		"addr", "port", "asked", "pid", "comm", "via"};
	const char *id = ward_query_text(rec, "grant");
	json_t *g = id ? json_object_get(r->grants, id) : NULL;
	if (!g)
		return 0;
	json_t *list = json_object_get(g, "accesses");
	const char *counter = json_array_size(list) < WARD_APPROVALS_ACCESSES ? "used" : "more";
	json_object_set_new(
		g, "used", json_integer(json_integer_value(json_object_get(g, "used")) + 1));
	if (strcmp(counter, "more") == 0)
		return json_object_set_new(g, "more",
			json_integer(json_integer_value(json_object_get(g, "more")) + 1));
	json_t *one = json_object();
	copy(one, rec, members, COUNT(members));
	return json_array_append_new(list, one);
}

static int take_end(struct reading *r, const json_t *rec)
{
	static const char *const members[] = {"time", "result", "by", "text"};
	const char *id = ward_query_text(rec, "grant"), *result = ward_query_text(rec, "result");
	json_t *g = id ? json_object_get(r->grants, id) : NULL;
	if (!g || json_object_get(g, "end") || (result && strcmp(result, "over") == 0))
		return 0;
	json_t *end = json_object();
	copy(end, rec, members, COUNT(members));
	return json_object_set_new(g, "end", end);
}

static int take(void *ctx, const char *line, size_t len, const json_t *rec)
{
	struct reading *r = ctx;
	int e = 0;
	(void)line, (void)len;
	const enum ward_event_kind kind = ward_query_kind(rec);
	if (kind == WARD_EVENT_ASK)
		e = take_ask(r, rec);
	else if (kind == WARD_EVENT_ANSWER)
		e = take_answer(r, rec);
	else if (kind == WARD_EVENT_GRANT)
		e = take_grant(r, rec);
	else if (kind == WARD_EVENT_USE)
		e = take_use(r, rec);
	else if (kind == WARD_EVENT_EXPIRE || kind == WARD_EVENT_REVOKE)
		e = take_end(r, rec);
	return e < 0 ? -ENOMEM : 0;
}

/* --- for people --- */

/* before, text, after, unless there is none. */
static void put(struct ward_buf *b, const char *before, const char *text, const char *after)
{
	if (text && *text)
		ward_buf_printf(b, "%s%s%s", before, text, after);
}

static void put_list(struct ward_buf *b, const json_t *list, const char *between)
{
	const json_t *v = NULL;
	size_t i = 0;
	json_array_foreach(list, i, v) if (json_string_value(v))
		ward_buf_printf(b, "%s%s", i ? between : "", json_string_value(v));
}

static void set(json_t *row, const char *member, struct ward_buf *b)
{
	json_object_set_new(row, member, json_string(ward_buf_error(b) < 0 ? "" : ward_buf_str(b)));
	ward_buf_clear(b);
}

static void put_who(struct ward_buf *b, const json_t *row)
{
	const json_t *login = json_object_get(row, "login_uid");
	const char *by = ward_query_text(row, "by"), *how = ward_query_text(row, "how");
	put(b, "", by ? by : "nobody", "");
	if (json_is_integer(login))
		ward_buf_printf(b, ", login uid %" JSON_INTEGER_FORMAT, json_integer_value(login));
	put(b, ", at ", ward_query_text(row, "terminal"), "");
	put(b, ", by ", how, "");
	put(b, ", key ", ward_query_text(row, "key"), "");
}

/* The rights that were asked for or given, and on what. */
static void put_what(struct ward_buf *b, const json_t *rec)
{
	const json_t *port = json_object_get(rec, "port");
	const char *host = ward_query_text(rec, "host");
	for (const char *p = ward_query_text(rec, "lifts"), *at = p; p && *at; at++) {
		put(b, at == p ? "BREAK GLASS lifts [guard] " : "",
			(char[]){*at == '\n' ? ',' : *at, 0}, "");
		put(b, "", at[1] ? "" : ": ", "");
	}
	put_list(b, json_object_get(rec, "asked"), ",");
	put(b, b->len ? " " : "", ward_query_text(rec, "path"), "");
	put(b, " -> ", ward_query_text(rec, "path2"), "");
	put(b, "connect ", host ? host : ward_query_text(rec, "addr"), "");
	if (json_is_integer(port))
		ward_buf_printf(b, ":%" JSON_INTEGER_FORMAT, json_integer_value(port));
}

/* The paths that joined the question. */
static void put_more(struct ward_buf *b, const json_t *row)
{
	const json_t *one = NULL;
	size_t i = 0;
	json_array_foreach(json_object_get(json_object_get(row, "question"), "more"), i, one)
	{
		put(b, ", ", ward_query_text(one, "path"), "");
		put(b, " -> ", ward_query_text(one, "path2"), "");
	}
}

static void put_end(struct ward_buf *b, const json_t *g)
{
	const json_t *uses = json_object_get(g, "uses"), *end = json_object_get(g, "end");
	const char *until = ward_query_text(g, "until");
	put_what(b, g);
	put(b, " until ", until ? until : "the session ends", "");
	if (json_is_integer(uses))
		ward_buf_printf(b, ", %" JSON_INTEGER_FORMAT " use%s", json_integer_value(uses),
			ward_s((uint64_t)json_integer_value(uses)));
	put(b, ", ", ward_query_text(end, "result"), "");
	put(b, " at ", ward_query_text(end, "time"), "");
	put(b, " by ", ward_query_text(end, "by"), "");
}

static void put_saw(struct ward_buf *b, const json_t *row)
{
	const json_t *q = json_object_get(row, "question"), *pid = json_object_get(q, "pid");
	const char *program = ward_query_text(q, "program");
	put(b, "", program, "");
	if (json_is_integer(pid))
		ward_buf_printf(b, " (%" JSON_INTEGER_FORMAT ")", json_integer_value(pid));
	if (json_array_size(json_object_get(q, "argv"))) {
		ward_buf_puts(b, ": ");
		put_list(b, json_object_get(q, "argv"), " ");
	}
	put(b, b->len ? "; rule " : "rule ", ward_query_text(row, "rule_text"), "");
	put(b, " (", ward_query_text(row, "rule"), ")");
}

static void put_used(struct ward_buf *b, const json_t *row)
{
	const json_t *g = NULL, *a = NULL;
	size_t i = 0, k = 0;
	json_int_t used = 0, listed = 0;
	json_array_foreach(json_object_get(row, "grants"), i, g)
	{
		used += json_integer_value(json_object_get(g, "used"));
		json_array_foreach(json_object_get(g, "accesses"), k, a)
		{
			if (listed++ >= 3)
				continue;
			ward_buf_printf(b, "%s#%" JSON_INTEGER_FORMAT " ", b->len ? ", " : "",
				json_integer_value(json_object_get(a, "seq")));
			put(b, "", ward_query_text(a, "comm"), " ");
			put_what(b, a);
		}
	}
	if (used > 3)
		ward_buf_printf(b, " and %" JSON_INTEGER_FORMAT " more", used - 3);
	if (!used)
		ward_buf_puts(b, "never");
}

static void add_texts(json_t *row)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	const json_t *g = NULL;
	size_t i = 0;
	put_who(&b, row);
	set(row, "who", &b);
	put_what(&b, row);
	put_more(&b, row);
	set(row, "what", &b);
	json_array_foreach(json_object_get(row, "grants"), i, g)
	{
		if (b.len)
			ward_buf_puts(&b, "; ");
		ward_cleanup(ward_buf_clear) struct ward_buf one = WARD_BUF_INIT;
		put_end(&one, g);
		put(&b, "", ward_buf_str(&one), "");
	}
	set(row, "lasts", &b);
	put_saw(&b, row);
	set(row, "saw", &b);
	if (i)
		put_used(&b, row);
	set(row, "used", &b);
}

/* --- all of it --- */

/* A grant of an answer that the trail has not: the session died between the two. */
static int add_orphans(struct reading *r)
{
	const char *id = NULL;
	json_t *g = NULL;
	json_object_foreach(r->grants, id, g)
	{
		json_t *row = json_object_get(g, "answers") ? NULL : add_row(r);
		if (json_object_del(g, "answers") == 0 || !row)
			continue;
		copy_about(row, g);
		copy_decided(row, g);
		json_object_set_new(row, "result", json_string("open"));
		if (json_array_append(json_object_get(row, "grants"), g) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int by_seq(const void *a, const void *b)
{
	const json_int_t x = json_integer_value(json_object_get(*(json_t *const *)a, "seq"));
	const json_int_t y = json_integer_value(json_object_get(*(json_t *const *)b, "seq"));
	return (x > y) - (x < y);
}

/* Those that are asked for, in the order of what decided, with texts. */
static int finish(struct reading *r, json_t **ret)
{
	const size_t n = json_array_size(r->rows);
	json_t **v = calloc(n + 1, sizeof(json_t *));
	json_t *all = json_array();
	int e = v && all ? 0 : -ENOMEM;
	for (size_t i = 0; e == 0 && i < n; i++)
		v[i] = json_array_get(r->rows, i);
	if (e == 0)
		qsort(v, n, sizeof(json_t *), by_seq);
	for (size_t i = 0; e == 0 && i < n; i++) {
		if (r->when && !ward_filter_match(r->when, v[i]))
			continue;
		add_texts(v[i]);
		e = json_array_append(all, v[i]) < 0 ? -ENOMEM : 0;
	}
	free(v);
	if (e == 0)
		*ret = all;
	else
		json_decref(all);
	return e;
}

int ward_approvals_read(
	struct ward_log *log, const struct ward_filter *when, json_t **ret, struct ward_err *err)
{
	struct reading r = {.when = when,
		.rows = json_array(),
		.asked = json_object(),
		.shown = json_object(),
		.grants = json_object()};
	int e = ward_query_walk(log, true, take, &r, err);
	if (e == 0)
		e = add_orphans(&r);
	if (e == 0)
		e = finish(&r, ret);
	json_decref(r.rows);
	json_decref(r.asked);
	json_decref(r.shown);
	json_decref(r.grants);
	return e < 0 ? ward_err_sys(err, e, "approvals") : 0;
}

char *ward_approvals_text(const json_t *rows)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	char *text = json_dumps(rows, JSON_INDENT(2));
	ward_buf_printf(&b, "%s\n", text ? text : "");
	char *all = text && ward_buf_error(&b) == 0 ? ward_buf_steal(&b) : NULL;
	free(text);
	return all;
}
