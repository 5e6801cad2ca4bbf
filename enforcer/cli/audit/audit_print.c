/* SPDX-License-Identifier: Apache-2.0 */
/* Records as people read them: a line each, and the names that a file had. */
#include "enforcer/cli/audit/audit_print.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/query/query.h"
#include "audit/record_table.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"
#include "enforcer/base/cut.h"
#include "enforcer/base/escape.h"
#include "enforcer/base/out.h"
#include "enforcer/cli/base/say.h"

#define RED "\033[31m"
#define DIM "\033[2m"
#define PLAIN "\033[0m"

void audit_print_rights(const json_t *set)
{
	size_t i = 0;
	json_t *v = NULL;
	const char *comma = "  ";
	json_array_foreach(set, i, v)
	{
		if (json_is_string(v))
			ward_outf("%s%s", comma, json_string_value(v));
		comma = ",";
	}
}

void audit_print_text(const char *before, const char *text, const char *after)
{
	if (text && *text)
		ward_outf("%s%s%s", before, text, after);
}

/* Texts as long as a policy are for --json, and `audit policy`. */
#define TEXT_SHOWN 160
/* The same of details, in bytes as JSON: of the records of every day they are shorter. */
#define DETAIL_SHOWN ((size_t)400)
/* The words of a command, so that one with a script in it leaves room for the rest. */
#define WORDS_SHOWN 80

enum shown { SHOWN_HEAD, SHOWN_WORD, SHOWN_LIST, SHOWN_NUMBER, SHOWN_BARE, SHOWN_REST };

/* Where each member of a record is printed: the column SHOW of the table. */
static const struct {
	const char *name;
	const char *unit;
	enum shown where;
} members[] = {
#define FRAME(id, name, csv, what)
#define MEMBER(id, name, type, unit, show, csv, cef, ocsf, what) {(name), (unit), SHOWN_##show},
#include "audit/record_members.def"
#undef FRAME
#undef MEMBER
};

/* "-" is null: not known, or (of a lock) to the end. */
static void print_value(const json_t *v)
{
	size_t i = 0;
	json_t *item = NULL;
	if (json_is_string(v))
		ward_outf("%s", json_string_value(v));
	else if (json_is_integer(v))
		ward_outf("%" JSON_INTEGER_FORMAT, json_integer_value(v));
	else if (json_array_size(v) == 0)
		ward_outf("-");
	json_array_foreach(v, i, item)
	{
		ward_outf(
			"%s%s", i ? " " : "", json_is_string(item) ? json_string_value(item) : "?");
	}
}

/* Nanoseconds as seconds, with as many digits as there are: "1.5 s". */
static void print_seconds(json_int_t ns)
{
	const long long second = (long long)WARD_NS_PER_SEC;
	char digits[16];
	size_t n = (size_t)snprintf(digits, sizeof(digits), ".%09lld", llabs(ns % second));
	while (n > 0 && (digits[n - 1] == '0' || digits[n - 1] == '.'))
		digits[--n] = '\0';
	ward_outf("%s%lld%s s", ns < 0 ? "-" : "", llabs(ns / second), digits);
}

static void print_members(const json_t *rec, enum shown where)
{
	for (size_t i = 0; i < sizeof(members) / sizeof(*members); i++) {
		const json_t *v = json_object_get(rec, members[i].name);
		/* What stands elsewhere without its name needs it where there is no value. */
		bool empty = json_is_null(v) || (json_is_array(v) && json_array_size(v) == 0);
		if (!v || (empty ? SHOWN_REST : members[i].where) != where)
			continue;
		ward_outf("  %s%s", where == SHOWN_LIST ? "" : members[i].name,
			where == SHOWN_LIST ? "" : " ");
		/* All else that has a unit are bytes, and names. */
		if (json_is_integer(v) && strcmp(members[i].unit, "ns") == 0)
			print_seconds(json_integer_value(v));
		else
			print_value(v);
	}
}

/* Who: the last thing of a line, where it is known. */
static void print_who(const json_t *rec)
{
	const char *comm = ward_query_text(rec, "comm");
	const json_t *pid = json_object_get(rec, "pid");
	if (comm)
		ward_outf("  %s[%" JSON_INTEGER_FORMAT "]", comm, json_integer_value(pid));
	else if (pid)
		ward_outf("  pid %" JSON_INTEGER_FORMAT, json_integer_value(pid));
	audit_print_text(" via ", ward_query_text(rec, "via"), "");
	if (json_is_true(json_object_get(rec, "cut")))
		ward_outf("  cut");
}

/* What was run where, and as what: the members of a long detail that people ask for first. */
static const char *const first_members[] = {"argv", "project", "mode", "owner", "version"};

static void put_words(struct ward_buf *b, const json_t *list)
{
	size_t i = 0;
	const json_t *v = NULL;
	json_array_foreach(list, i, v)
	{
		if (i)
			ward_buf_putc(b, ' ');
		ward_shell_word(b, json_is_string(v) ? json_string_value(v) : "?");
	}
}

/* The first things that a detail says, and how to see the rest. */
static void print_first(const json_t *detail, size_t len)
{
	for (size_t i = 0; i < sizeof(first_members) / sizeof(*first_members); i++) {
		ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
		const json_t *v = json_object_get(detail, first_members[i]);
		if (json_is_string(v))
			ward_buf_puts(&b, json_string_value(v));
		else
			put_words(&b, v);
		char shown[WORDS_SHOWN + 1];
		ward_cut(shown, sizeof(shown), ward_buf_str(&b), b.len);
		if (ward_buf_error(&b) == 0 && b.len)
			ward_outf("  %s %s", first_members[i], shown);
	}
	ward_outf("  (%zu bytes; -v prints them)", len);
}

static void print_detail(const struct audit_cmd *c, json_t *detail)
{
	if (json_object_size(detail) == 0)
		return;
	const size_t len = json_dumpb(detail, NULL, 0, JSON_COMPACT);
	if (!c->verbose && len > DETAIL_SHOWN) {
		print_first(detail, len);
		return;
	}
	ward_outf("  ");
	ward_put_json(detail, JSON_COMPACT);
}

void audit_print_record(const struct audit_cmd *c, const json_t *rec)
{
	if (!rec) {
		ward_outf("  (a line that is no record)\n");
		return;
	}
	const char *kind = ward_query_text(rec, "kind");
	const char *time = ward_query_text(rec, "time");
	const char *action = ward_query_text(rec, "action");
	bool deny = ward_record_named_is(kind, WARD_KIND_REFUSAL);
	ward_outf("%6" JSON_INTEGER_FORMAT "  %.12s  ",
		json_integer_value(json_object_get(rec, "seq")),
		time && strlen(time) > 23 ? time + 11 : "?");
	if (c->color && deny)
		ward_outf(RED "%-13s" PLAIN, kind);
	else
		ward_outf("%-13s", kind);
	if (action && (!kind || strcmp(kind, action) != 0))
		ward_outf(" %s", action);
	audit_print_text(" ", ward_query_text(rec, "path"), "");
	audit_print_text(" -> ", ward_query_text(rec, "path2"), "");
	audit_print_rights(json_object_get(rec, "asked"));
	audit_print_text("  ", ward_query_text(rec, "errno"), "");
	if (c->color)
		ward_outf(DIM);
	audit_print_text("  [", ward_query_text(rec, "rule"), "");
	audit_print_text(" ", ward_query_text(rec, "rule_text"), "");
	if (ward_query_text(rec, "rule"))
		ward_outf("]");
	print_members(rec, SHOWN_WORD);
	print_members(rec, SHOWN_LIST);
	print_members(rec, SHOWN_NUMBER);
	const char *text = ward_query_text(rec, "text");
	if (text && strlen(text) <= TEXT_SHOWN)
		audit_print_text("  ", text, "");
	else if (text)
		ward_outf("  (%zu bytes)", strlen(text));
	print_detail(c, json_object_get(rec, "detail"));
	print_members(rec, SHOWN_REST);
	print_who(rec);
	if (c->color)
		ward_outf(PLAIN);
	ward_outf("\n");
}

void audit_print_line(const char *line, size_t len, const json_t *rec)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	if (rec)
		ward_escape_in_json(&b, line, len);
	else
		ward_escape(&b, line, len);
	ward_out_lines(b.data, b.len);
	ward_outf("\n");
}

void audit_print_names(const struct ward_file_names *names)
{
	const char *name = NULL;
	for (size_t i = 1; (name = ward_file_names_get(names, i)); i++) {
		/* A name can have meant the file more than once. */
		size_t k = 0;
		while (k < i && strcmp(ward_file_names_get(names, k), name) != 0)
			k++;
		if (k == i && !ward_file_names_elsewhere(names, i))
			ward_sayf("this file also had the name %s", name);
	}
}
