/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs audit show, denials */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/query.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/cli/cmd_audit.h"

#define RED "\033[31m"
#define DIM "\033[2m"
#define PLAIN "\033[0m"

/* Finds the session and opens its log. *ret_name is the caller's. */
static int open_session(struct audit_cmd *c, char **ret_name, int *ret_fd, struct ward_err *err)
{
	ward_cleanup_free char *name = NULL;
	int r = ward_store_find(c->store, c->session, &name, err);
	if (r == 0)
		r = ward_store_open_log(c->store, name, ret_fd, err);
	if (r == 0)
		*ret_name = ward_steal_ptr(&name);
	return r;
}

/* --- show --- */

static void print_rights(const json_t *set)
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

static void print_text(const char *before, const char *text, const char *after)
{
	if (text && *text)
		printf("%s%s%s", before, text, after);
}

/* Texts as long as a policy are for --json. */
#define TEXT_SHOWN 160

static void print_numbers(const json_t *rec)
{
	static const char *const members[] = {"read", "written", "size", "status", "signal"};
	for (size_t i = 0; i < sizeof(members) / sizeof(*members); i++) {
		const json_t *v = json_object_get(rec, members[i]);
		if (json_is_integer(v))
			printf("  %s %" JSON_INTEGER_FORMAT, members[i], json_integer_value(v));
	}
}

/*
 * All text in a record is escaped already: no byte that a terminal obeys is in it. "detail" alone
 * is free JSON, whose characters beyond ASCII the writer wrote as \u.
 */
static int show_record(void *ctx, const char *line, size_t len, const json_t *rec)
{
	const struct audit_cmd *c = ctx;
	if (!rec) {
		printf("  (a line that is no record)\n");
		return 0;
	}
	const char *kind = ward_query_text(rec, "kind");
	const char *time = ward_query_text(rec, "time");
	const char *action = ward_query_text(rec, "action");
	bool deny = kind && strcmp(kind, "deny") == 0;
	printf("%6" JSON_INTEGER_FORMAT "  %.12s  ",
		json_integer_value(json_object_get(rec, "seq")),
		time && strlen(time) > 23 ? time + 11 : "?");
	printf("%s%-13s%s", c->color && deny ? RED : "", kind ? kind : "?",
		c->color && deny ? PLAIN : "");
	if (action && (!kind || strcmp(kind, action) != 0))
		printf(" %s", action);
	print_text(" ", ward_query_text(rec, "path"), "");
	print_text(" -> ", ward_query_text(rec, "path2"), "");
	print_rights(json_object_get(rec, "asked"));
	print_text("  ", ward_query_text(rec, "errno"), "");
	if (c->color)
		fputs(DIM, stdout);
	print_text("  [", ward_query_text(rec, "rule"), "");
	print_text(" ", ward_query_text(rec, "rule_text"), "");
	if (ward_query_text(rec, "rule"))
		putchar(']');
	print_numbers(rec);
	const char *text = ward_query_text(rec, "text");
	if (text && strlen(text) <= TEXT_SHOWN)
		print_text("  ", text, "");
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
	return 0;
}

static int show_line(void *ctx, const char *line, size_t len, const json_t *rec)
{
	return fwrite(line, 1, len, stdout) == len && putchar('\n') != EOF ? 0 : -EIO;
}

int audit_cmd_show(struct audit_cmd *c, struct ward_err *err)
{
	ward_cleanup_free char *name = NULL;
	ward_cleanup_fd int fd = -1;
	int r = open_session(c, &name, &fd, err);
	if (r < 0)
		return r;
	r = ward_query_walk(fd, !c->json, c->json ? show_line : show_record, c, err);
	if (fflush(stdout) != 0 && r == 0)
		r = ward_err_sys(err, -EIO, "stdout");
	audit_cmd_warn(c, name, fd);
	return r;
}

/* --- denials --- */

static json_t *denial_json(const struct ward_denial *d)
{
	static const char *const members[] = {"action", "path", "path2", "asked", "given",
		"verdict", "errno", "rule", "rule_text", "source", "comm", "pid", "time"};
	json_t *o = json_pack(
		"{s:I, s:I}", "count", (json_int_t)d->count, "first_seq", (json_int_t)d->first_seq);
	for (size_t i = 0; i < sizeof(members) / sizeof(*members); i++) {
		json_t *v = json_object_get(d->record, members[i]);
		if (v)
			json_object_set(o, members[i], v);
	}
	json_object_set_new(o, "permit",
		d->line ? json_pack("{s:s, s:s?}", "line", d->line, "file", d->file) : json_null());
	json_object_set_new(
		o, "forbidden_by", d->forbidden_by ? json_string(d->forbidden_by) : json_null());
	if (d->reason)
		json_object_set_new(o, "reason", json_string(d->reason));
	return o;
}

static void print_denial(const struct audit_cmd *c, const struct ward_denial *d)
{
	const json_t *rec = d->record;
	const char *verdict = ward_query_text(rec, "verdict");
	printf("%s%" PRIu64 "x %s%s", c->color ? RED : "", d->count, verdict ? verdict : "deny",
		c->color ? PLAIN : "");
	print_text("  ", ward_query_text(rec, "action"), "");
	print_text(" ", ward_query_text(rec, "path"), "");
	print_text(" -> ", ward_query_text(rec, "path2"), "");
	print_rights(json_object_get(rec, "asked"));
	print_text("  (", ward_query_text(rec, "errno"), ")");
	printf("\n    rule:      %s", ward_query_text(rec, "rule") ?: "?");
	print_text("  ", ward_query_text(rec, "rule_text"), "");
	print_text("  (", ward_query_text(rec, "source"), ")");
	if (d->line)
		printf("\n    to permit: %s\n    in:        [files] of %s\n", d->line,
			d->file ? d->file : "the owner's policy file for this project");
	else if (d->forbidden_by)
		printf("\n    forbidden by %s: no other rule lifts that\n", d->forbidden_by);
	else
		printf("\n    %s\n", d->reason ? d->reason : "");
}

int audit_cmd_denials(struct audit_cmd *c, struct ward_err *err)
{
	ward_cleanup_free char *name = NULL;
	ward_cleanup_fd int fd = -1;
	struct ward_denials d;
	int r = open_session(c, &name, &fd, err);
	if (r == 0)
		r = ward_query_denials(fd, &d, err);
	if (r < 0)
		return r;
	json_t *all = json_array();
	for (size_t i = 0; i < d.n; i++) {
		if (c->json)
			json_array_append_new(all, denial_json(&d.v[i]));
		else
			print_denial(c, &d.v[i]);
	}
	if (c->json) {
		json_dumpf(all, stdout, JSON_INDENT(2) | JSON_ENSURE_ASCII);
		putchar('\n');
	} else {
		printf("%s%" PRIu64 " refusals in session %s\n", d.n ? "\n" : "", d.total, name);
	}
	if (d.left_out > 0)
		fprintf(stderr, "wardfs: %" PRIu64 " more refusals of other kinds are not listed\n",
			d.left_out);
	json_decref(all);
	ward_denials_free(&d);
	if (fflush(stdout) != 0)
		return ward_err_sys(err, -EIO, "stdout");
	audit_cmd_warn(c, name, fd);
	return 0;
}
