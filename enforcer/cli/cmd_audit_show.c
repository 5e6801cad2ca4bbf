/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs audit show, file, process, summary */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/index.h"
#include "audit/query.h"
#include "audit/summary.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/escape.h"
#include "enforcer/cli/cmd_audit.h"
#include "enforcer/cli/say.h"

#define RED "\033[31m"
#define DIM "\033[2m"
#define PLAIN "\033[0m"
/* --follow: how often the log is looked at. */
#define FOLLOW_MS 250
/* summary: names a group. */
#define SUMMARY_LINES 10

int audit_cmd_open(
	struct audit_cmd *c, char **ret_name, struct ward_log **ret, struct ward_err *err)
{
	ward_cleanup_free char *name = NULL;
	int r = ward_store_find(c->store, c->session, &name, err);
	if (r == 0)
		r = ward_store_open_log(c->store, name, ret, err);
	if (r < 0)
		return audit_cmd_gone(c, name ? name : c->session, r, err);
	audit_cmd_note_read(c, name);
	*ret_name = ward_steal_ptr(&name);
	return 0;
}

void audit_cmd_inside(const char *path, struct ward_buf *ret)
{
	if (path[0] != '/')
		ward_buf_puts(ret, "/workspace/");
	ward_escape(ret, path, strlen(path));
}

/* --- show --- */

void audit_cmd_print_rights(const json_t *set)
{
	size_t i = 0;
	json_t *v = NULL;
	const char *comma = "  ";
	json_array_foreach(set, i, v)
	{
		if (json_is_string(v))
			printf("%s%s", comma, json_string_value(v));
		comma = ",";
	}
}

void audit_cmd_print_text(const char *before, const char *text, const char *after)
{
	if (text && *text)
		printf("%s%s%s", before, text, after);
}

/* Texts as long as a policy are for --json. */
#define TEXT_SHOWN 160

static void print_numbers(const json_t *rec)
{
	static const char *const members[] = {"read", "written", "size", "status", "signal",
		"offset", "length", "owner", "group", "limit", "used", "step", "port", "sent",
		"received", "duration", "parent"};
	for (size_t i = 0; i < sizeof(members) / sizeof(*members); i++) {
		const json_t *v = json_object_get(rec, members[i]);
		if (json_is_integer(v))
			printf("  %s %" JSON_INTEGER_FORMAT, members[i], json_integer_value(v));
	}
}

/* Members that some kinds alone have; "detail" and the like stand elsewhere. */
static void print_words(const json_t *rec)
{
	static const char *const members[] = {"exe", "cwd", "how", "name", "layer", "result",
		"control", "attempt", "quota", "unit", "done", "by", "policy_before", "request",
		"scope", "until", "host", "addr", "proto", "sni", "sha256_before", "sha256"};
	static const char *const lists[] = {"argv", "answers"};
	for (size_t i = 0; i < sizeof(members) / sizeof(*members); i++) {
		const char *v = ward_query_text(rec, members[i]);
		if (v)
			printf("  %s %s", members[i], v);
	}
	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++) {
		const json_t *list = json_object_get(rec, lists[i]);
		size_t n = json_array_size(list);
		for (size_t k = 0; k < n; k++)
			audit_cmd_print_text(
				k ? " " : "  ", json_string_value(json_array_get(list, k)), "");
	}
}

/*
 * All text in a record is escaped already: no byte that a terminal obeys is in it. "detail" alone
 * is free JSON, whose characters beyond ASCII the writer wrote as \u.
 */
void audit_cmd_print(const struct audit_cmd *c, const json_t *rec)
{
	if (!rec) {
		printf("  (a line that is no record)\n");
		return;
	}
	const char *kind = ward_query_text(rec, "kind");
	const char *time = ward_query_text(rec, "time");
	const char *action = ward_query_text(rec, "action");
	bool deny = kind && ward_query_is_refusal(kind);
	printf("%6" JSON_INTEGER_FORMAT "  %.12s  ",
		json_integer_value(json_object_get(rec, "seq")),
		time && strlen(time) > 23 ? time + 11 : "?");
	printf("%s%-13s%s", c->color && deny ? RED : "", kind ? kind : "?",
		c->color && deny ? PLAIN : "");
	if (action && (!kind || strcmp(kind, action) != 0))
		printf(" %s", action);
	audit_cmd_print_text(" ", ward_query_text(rec, "path"), "");
	audit_cmd_print_text(" -> ", ward_query_text(rec, "path2"), "");
	audit_cmd_print_rights(json_object_get(rec, "asked"));
	audit_cmd_print_text("  ", ward_query_text(rec, "errno"), "");
	if (c->color)
		fputs(DIM, stdout);
	audit_cmd_print_text("  [", ward_query_text(rec, "rule"), "");
	audit_cmd_print_text(" ", ward_query_text(rec, "rule_text"), "");
	if (ward_query_text(rec, "rule"))
		putchar(']');
	print_words(rec);
	print_numbers(rec);
	const char *text = ward_query_text(rec, "text");
	if (text && strlen(text) <= TEXT_SHOWN)
		audit_cmd_print_text("  ", text, "");
	else if (text)
		printf("  (%zu bytes)", strlen(text));
	json_t *detail = json_object_get(rec, "detail");
	if (json_object_size(detail) > 0) {
		fputs("  ", stdout);
		json_dumpf(detail, stdout, JSON_COMPACT | JSON_ENSURE_ASCII);
	}
	const char *comm = ward_query_text(rec, "comm");
	if (comm)
		printf("  %s[%" JSON_INTEGER_FORMAT "]", comm,
			json_integer_value(json_object_get(rec, "pid")));
	if (c->color)
		fputs(PLAIN, stdout);
	putchar('\n');
}

/* A walk that prints what is asked for. */
struct show {
	struct audit_cmd *c;
	const struct ward_file_names *names; /* NULL: by filter alone */
	bool ended;			     /* a session.end came by */
	bool indexed;			     /* not every line was looked at */
	uint64_t shown;			     /* records printed */
	/* tail: offsets of the last records that are asked for, a ring */
	uint64_t *last;
	uint64_t n_last, seen, offset;
};

static bool asked_for(const struct show *s, const json_t *rec)
{
	return !rec || (ward_filter_match(&s->c->filter->f, rec) &&
			       (!s->names || ward_file_names_match(s->names, rec)));
}

static void note_end(struct show *s, const json_t *rec)
{
	const char *kind = rec ? ward_query_text(rec, "kind") : NULL;
	s->ended |= kind && strcmp(kind, "session.end") == 0;
}

/* tail, the first time: where the last ones begin. */
static int note_record(void *ctx, const char *line, size_t len, const json_t *rec)
{
	struct show *s = ctx;
	note_end(s, rec);
	if (asked_for(s, rec))
		s->last[s->seen++ % s->n_last] = s->offset;
	s->offset += len + 1;
	return 0;
}

static int show_record(void *ctx, const char *line, size_t len, const json_t *rec)
{
	struct show *s = ctx;
	note_end(s, rec);
	if (!asked_for(s, rec))
		return 0;
	s->shown++;
	if (!s->c->json)
		audit_cmd_print(s->c, rec);
	else if (fwrite(line, 1, len, stdout) != len || putchar('\n') == EOF)
		return -EIO;
	return 0;
}

/* Prints what there is, and with --follow what comes until the session ends. */
static int walk(struct show *s, struct ward_log *log, struct ward_err *err)
{
	uint64_t offset = s->offset;
	for (;;) {
		int r = ward_query_walk_from(log, &offset, true, show_record, s, err);
		if (r == 0 && fflush(stdout) != 0)
			r = ward_err_sys(err, -EIO, "stdout");
		if (r == 0 && ward_actors_error(s->c->filter->f.actors) < 0)
			r = ward_err_sys(err, -ENOMEM, "processes");
		if (r < 0 || !s->c->follow || s->ended)
			return r;
		(void)poll(NULL, 0, FOLLOW_MS);
	}
}

/* Renames and links, with the index where it is there and of this trail. */
static int find_names(struct audit_cmd *c, const char *name, struct ward_log *log, const char *path,
	struct ward_file_names **ret, struct ward_err *err)
{
	ward_cleanup(ward_query_lines_clear) struct ward_query_lines lines = {0};
	int r = c->no_index ? -ENODATA
			    : ward_index_find(c->store, name, log, &c->filter->f, NULL,
				      WARD_INDEX_MOVES, &lines, err);
	if (r < 0 && r != -ENODATA)
		return r;
	return ward_file_names_find_in(log, &lines, path, ret, err);
}

/* What the index knows is printed; s->offset becomes where it ends, 0 without one. */
static int show_indexed(
	struct show *s, const char *name, struct ward_log *log, struct ward_err *err)
{
	ward_cleanup(ward_query_lines_clear) struct ward_query_lines lines = {0};
	const struct ward_filter *f = &s->c->filter->f;
	if (s->c->no_index || (!s->names && ward_filter_empty(f)))
		return 0;
	int r = ward_index_find(
		s->c->store, name, log, f, s->names, WARD_INDEX_MATCHES, &lines, err);
	if (r == 0)
		r = ward_query_walk_at(log, &lines, show_record, s, err);
	if (r == 0) {
		s->offset = lines.end;
		s->indexed = true;
	}
	return r == -ENODATA ? 0 : r;
}

void audit_cmd_say_names(const struct ward_file_names *names)
{
	const char *name = NULL;
	for (size_t i = 1; (name = ward_file_names_get(names, i)); i++) {
		/* A name can have meant the file more than once. */
		size_t k = 0;
		while (k < i && strcmp(ward_file_names_get(names, k), name) != 0)
			k++;
		if (k == i && !ward_file_names_elsewhere(names, i))
			ward_sayf("it was %s as well", name);
	}
}

static int show(struct audit_cmd *c, bool file, struct ward_err *err)
{
	ward_cleanup_free char *name = NULL;
	ward_cleanup(ward_log_closep) struct ward_log *log = NULL;
	ward_cleanup(ward_buf_clear) struct ward_buf path = WARD_BUF_INIT;
	struct ward_file_names *names = NULL;
	struct show s = {.c = c};
	if (c->proof && c->follow)
		return ward_err_set(err, -EINVAL,
			"--proof is of what has a checkpoint already: not with --follow");
	if (c->proof)
		return audit_cmd_show_proofs(c, file ? c->object : NULL, err);
	int r = audit_cmd_open(c, &name, &log, err);
	if (r == 0 && file) {
		audit_cmd_inside(c->object, &path);
		r = find_names(c, name, log, ward_buf_str(&path), &names, err);
		s.names = names;
	}
	if (r == 0)
		r = audit_filter_prepare(c, name, log, err);
	if (r == 0)
		r = show_indexed(&s, name, log, err);
	if (r == 0)
		r = walk(&s, log, err);
	if (r == 0)
		audit_cmd_say_names(names);
	ward_file_names_free(names);
	if (r == 0 && s.shown == 0 && file)
		ward_sayf("session %s has no record of %s (a path is meant as it is called inside)",
			name, ward_buf_str(&path));
	else if (r == 0 && s.shown == 0)
		ward_sayf("session %s has no such record", name);
	if (r == 0)
		audit_select_warn(c, name, log, s.indexed);
	return r;
}

int audit_cmd_show(struct audit_cmd *c, struct ward_err *err)
{
	return show(c, false, err);
}

/* More than anybody reads at the end of a trail. */
#define TAIL_MAX 1000000

int audit_cmd_tail(struct audit_cmd *c, struct ward_err *err)
{
	ward_cleanup_free char *name = NULL;
	ward_cleanup(ward_log_closep) struct ward_log *log = NULL;
	struct show s = {.c = c, .n_last = c->lines ? c->lines : 10};
	if (s.n_last > TAIL_MAX)
		return ward_err_set(err, -EINVAL, "at most %d lines", TAIL_MAX);
	ward_cleanup_free uint64_t *last = calloc(s.n_last, sizeof(*last));
	int r = last ? audit_cmd_open(c, &name, &log, err) : ward_err_sys(err, -ENOMEM, "tail");
	if (r == 0)
		r = audit_filter_prepare(c, name, log, err);
	if (r == 0) {
		s.last = last;
		r = ward_query_walk(log, true, note_record, &s, err);
	}
	if (r < 0)
		return r;
	/* The oldest of those that were kept; none: what comes. */
	if (s.seen > 0)
		s.offset = last[s.seen < s.n_last ? 0 : s.seen % s.n_last];
	r = walk(&s, log, err);
	if (r == 0)
		audit_cmd_warn(c, name, log);
	return r;
}

int audit_cmd_file(struct audit_cmd *c, struct ward_err *err)
{
	return show(c, true, err);
}

int audit_cmd_process(struct audit_cmd *c, struct ward_err *err)
{
	struct ward_filter *f = &c->filter->f;
	char *end = NULL;
	errno = 0;
	f->pid = strtoull(c->object, &end, 10);
	if (errno || *end || f->pid == 0)
		return ward_err_set(err, -EINVAL, "%s is no process number", c->object);
	return show(c, false, err);
}

/* --- summary --- */

static int compare_counts(const void *a, const void *b)
{
	const json_t *const *x = a;
	const json_t *const *y = b;
	json_int_t n = json_integer_value(json_array_get(*x, 1));
	json_int_t m = json_integer_value(json_array_get(*y, 1));
	return n < m ? 1 : n > m ? -1 : 0;
}

/* The names with the highest counts. */
static void print_counts(const char *title, json_t *counts)
{
	size_t n = json_object_size(counts);
	json_t **v = calloc(n ? n : 1, sizeof(json_t *));
	const char *name = NULL;
	json_t *count = NULL;
	size_t i = 0;
	if (!v)
		return;
	json_object_foreach(counts, name, count)
	{
		if (i < n)
			v[i++] = json_pack("[s,O]", name, count);
	}
	qsort(v, i, sizeof(json_t *), compare_counts);
	for (size_t k = 0; k < i; k++) {
		if (k < SUMMARY_LINES)
			printf("%-10s %8" JSON_INTEGER_FORMAT "  %s\n", k == 0 ? title : "",
				json_integer_value(json_array_get(v[k], 1)),
				json_string_value(json_array_get(v[k], 0)));
		json_decref(v[k]);
	}
	if (i > SUMMARY_LINES)
		printf("%-10s %8zu  more\n", "", i - SUMMARY_LINES);
	free(v);
}

static json_int_t figure(const json_t *o, const char *group, const char *name)
{
	return json_integer_value(json_object_get(json_object_get(o, group), name));
}

static void print_summary(const json_t *o)
{
	printf("records    %8" JSON_INTEGER_FORMAT "  from %s to %s\n",
		json_integer_value(json_object_get(o, "records")), ward_query_text(o, "first"),
		ward_query_text(o, "last"));
	printf("files      %8" JSON_INTEGER_FORMAT "  read\n", figure(o, "files", "read"));
	printf("           %8" JSON_INTEGER_FORMAT "  written\n", figure(o, "files", "written"));
	printf("           %8" JSON_INTEGER_FORMAT "  created\n", figure(o, "files", "created"));
	printf("           %8" JSON_INTEGER_FORMAT "  removed\n", figure(o, "files", "removed"));
	printf("           %8" JSON_INTEGER_FORMAT "  refused\n", figure(o, "files", "refused"));
	if (json_is_null(json_object_get(o, "bytes")))
		printf("bytes             -  a close tells neither process nor rule: leave those filters out\n");
	else
		printf("bytes      %8" JSON_INTEGER_FORMAT "  read, %" JSON_INTEGER_FORMAT
		       " written; %" JSON_INTEGER_FORMAT " handles whose bytes were not seen\n",
			figure(o, "bytes", "read"), figure(o, "bytes", "written"),
			figure(o, "bytes", "unseen"));
	print_counts("kinds", json_object_get(o, "kinds"));
	print_counts("programs", json_object_get(o, "programs"));
	print_counts("refused by", json_object_get(json_object_get(o, "refusals"), "rules"));
}

int audit_cmd_summary(struct audit_cmd *c, struct ward_err *err)
{
	ward_cleanup_free char *name = NULL;
	ward_cleanup(ward_log_closep) struct ward_log *log = NULL;
	ward_cleanup(audit_selected_clear) struct audit_selected s = {0};
	json_t *o = NULL;
	int r = audit_cmd_open(c, &name, &log, err);
	if (r == 0)
		r = audit_select(c, name, log, &s, err);
	if (r == 0)
		r = ward_query_summary(log, s.sel, &o, err);
	if (r < 0)
		return r;
	bool none = json_integer_value(json_object_get(o, "records")) == 0;
	if (c->json)
		ward_print_json(json_incref(o));
	else if (!none)
		print_summary(o);
	json_decref(o);
	if (none && s.sel)
		ward_sayf("session %s has no such record", name);
	audit_select_warn(c, name, log, s.indexed);
	return 0;
}
