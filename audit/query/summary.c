/* SPDX-License-Identifier: Apache-2.0 */
/* Counts what happened in a session. */
#include "audit/query/summary.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "audit/query/query.h"
#include "audit/record_table.h"

struct summary {
	json_t *kinds, *programs, *rules, *hidden, *executed; /* name: count */
	json_t *read, *written, *created, *removed, *refused; /* path: count */
	json_int_t records, refusals, expected, bytes_read, bytes_written, unseen, not_counted;
	char first[40], last[40];
	size_t names;
};

static int count(struct summary *s, json_t *in, const char *name)
{
	json_t *have = name ? json_object_get(in, name) : NULL;
	if (have)
		return json_integer_set(have, json_integer_value(have) + 1);
	if (!name || s->names >= WARD_SUMMARY_NAMES_MAX) {
		s->not_counted += name != NULL;
		return 0;
	}
	s->names++;
	return json_object_set_new(in, name, json_integer(1));
}

static bool has_right(const json_t *record, const char *right)
{
	size_t i = 0;
	json_t *v = NULL;
	json_array_foreach(json_object_get(record, "asked"), i, v)
	{
		const char *name = json_string_value(v);
		if (name && strcmp(name, right) == 0)
			return true;
	}
	return false;
}

static bool is(const json_t *record, const char *member, const char *value)
{
	const char *s = ward_query_text(record, member);
	return s && strcmp(s, value) == 0;
}

static int count_refusal(struct summary *s, const json_t *rec)
{
	char rule[1024];
	const char *where = ward_query_text(rec, "rule");
	const char *text = ward_query_text(rec, "rule_text");
	snprintf(rule, sizeof(rule), "%s%s%s", where ? where : "?", text ? " " : "",
		text ? text : "");
	s->refusals++;
	s->expected += json_object_get(rec, "expected") != NULL;
	int r = count(s, s->rules, rule);
	if (r == 0 && text && strstr(text, "secret = ") && is(rec, "action", "lookup"))
		r = count(s, s->hidden, ward_query_text(rec, "path"));
	return r == 0 ? count(s, s->refused, ward_query_text(rec, "path")) : r;
}

static int count_file(struct summary *s, enum ward_event_kind kind, const json_t *rec)
{
	const char *path = ward_query_text(rec, "path");
	int r = 0;
	if (kind == WARD_EVENT_CREATE)
		r = count(s, s->created, path);
	else if (kind == WARD_EVENT_REMOVE)
		r = count(s, s->removed, path);
	else if (kind != WARD_EVENT_OPEN)
		return 0;
	if (r == 0 && has_right(rec, "read"))
		r = count(s, s->read, path);
	if (r == 0 && (has_right(rec, "write") || has_right(rec, "append")))
		r = count(s, s->written, path);
	return r;
}

static void count_bytes(struct summary *s, const json_t *rec)
{
	const json_t *in = json_object_get(rec, "read");
	const json_t *out = json_object_get(rec, "written");
	if (json_is_integer(in))
		s->bytes_read += json_integer_value(in);
	if (json_is_integer(out))
		s->bytes_written += json_integer_value(out);
	if (json_is_null(in) || json_is_null(out))
		s->unseen++;
}

static int take_record(void *ctx, const char *line, size_t len, const json_t *rec)
{
	struct summary *s = ctx;
	const char *name = rec ? ward_query_text(rec, "kind") : NULL;
	const enum ward_event_kind kind = ward_query_kind(rec);
	const char *time = rec ? ward_query_text(rec, "time") : NULL;
	s->records++;
	if (!name)
		return 0;
	if (time) {
		if (!s->first[0])
			snprintf(s->first, sizeof(s->first), "%s", time);
		snprintf(s->last, sizeof(s->last), "%s", time);
	}
	int r = count(s, s->kinds, name);
	if (r == 0)
		r = count(s, s->programs, ward_query_text(rec, "comm"));
	if (r == 0 && ward_record_kind_is(kind, WARD_KIND_REFUSAL))
		r = count_refusal(s, rec);
	else if (r == 0)
		r = count_file(s, kind, rec);
	/* A path at which nothing is has no inode: a shell looks for a program in many places. */
	if (r == 0 && kind == WARD_EVENT_EXEC && json_object_get(rec, "ino"))
		r = count(s, s->executed, ward_query_text(rec, "path"));
	/* The close of the handle counts them again. */
	if (kind != WARD_EVENT_IO)
		count_bytes(s, rec);
	return r < 0 ? -ENOMEM : 0;
}

/* A close has neither the process nor the rule, so with such a filter the bytes are unknown. */
static bool tells_bytes(const struct ward_filter *f)
{
	return !ward_filter_asks_actors(f) && !f->comm && !f->verdict && !f->rule &&
	       (!f->kind || strcmp(f->kind, "close") == 0);
}

int ward_query_summary(
	struct ward_log *log, const struct ward_select *sel, json_t **ret, struct ward_err *err)
{
	struct summary s = {0};
	json_t **const sets[] = {&s.kinds, &s.programs, &s.rules, &s.read, &s.written, &s.created,
		&s.removed, &s.refused, &s.hidden, &s.executed};
	const size_t n_sets = sizeof(sets) / sizeof(*sets);
	for (size_t i = 0; i < n_sets; i++)
		*sets[i] = json_object();
	int r = ward_select_walk(log, sel, take_record, &s, err);
	json_t *o = NULL;
	if (r == 0) {
		o = json_pack(
			"{s:I,s:s,s:s,s:O,s:O,s:O,s:{s:I,s:I,s:O,s:O},s:{s:I,s:I,s:I,s:I,s:I},"
			"s:{s:I,s:I,s:I},s:I}",
			"records", s.records, "first", s.first, "last", s.last, "kinds", s.kinds,
			"programs", s.programs, "executed", s.executed, "refusals", "count",
			s.refusals, "expected", s.expected, "rules", s.rules, "hidden", s.hidden,
			"files", "read", (json_int_t)json_object_size(s.read), "written",
			(json_int_t)json_object_size(s.written), "created",
			(json_int_t)json_object_size(s.created), "removed",
			(json_int_t)json_object_size(s.removed), "refused",
			(json_int_t)json_object_size(s.refused), "bytes", "read", s.bytes_read,
			"written", s.bytes_written, "unseen", s.unseen, "not_counted",
			s.not_counted);
		if (!o)
			r = -ENOMEM;
		else if (sel && !tells_bytes(sel->filter))
			r = json_object_set_new(o, "bytes", json_null()) < 0 ? -ENOMEM : 0;
	}
	for (size_t i = 0; i < n_sets; i++)
		json_decref(*sets[i]);
	if (r < 0) {
		json_decref(o);
		return ward_err_sys(err, r, "trail");
	}
	*ret = o;
	return 0;
}
