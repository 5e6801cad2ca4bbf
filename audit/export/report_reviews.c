/* SPDX-License-Identifier: Apache-2.0 */
/* Collects what became of staged changes. */
#include "audit/export/report_reviews.h"

#include <errno.h>
#include <string.h>

#include "audit/export/report.h"
#include "audit/log/chain.h"
#include "audit/verify/signed_change.h"
#include "audit/verify/verify_reviews.h"
#include "enforcer/base/cleanup.h"

/* Of a file review.N: of 200,000 changes. */
#define FILE_MAX ((size_t)64 << 20)

static const char *text_of(const json_t *o, const char *name)
{
	const char *s = json_string_value(json_object_get(o, name));
	return s ? s : "";
}

/*
 * The changes of a session must not push out of the list who applied, checked and signed them: each
 * kind of row has WARD_REPORT_PATHS of its own.
 */
struct list {
	json_t *rows;
	size_t n_entries, n_changes, n_more;
};

/* A row of an entry, which its caller completes; NULL: enough of them, or no memory. */
static json_t *add_row(struct list *l, size_t *n, const json_t *entry)
{
	if (++*n > WARD_REPORT_PATHS) {
		l->n_more++;
		return NULL;
	}
	json_t *who = json_sprintf(
		"user %" JSON_INTEGER_FORMAT, json_integer_value(json_object_get(entry, "by")));
	json_t *row = json_pack("{s:O?, s:O?, s:O?, s:O?}", "time", json_object_get(entry, "time"),
		"what", json_object_get(entry, "verb"), "who", who, "manifest",
		json_object_get(entry, "manifest"));
	json_decref(who);
	return row && json_array_append_new(l->rows, row) == 0 ? row : NULL;
}

static json_t *add(struct list *l, const json_t *entry)
{
	return add_row(l, &l->n_entries, entry);
}

static void set(json_t *row, const char *name, json_t *value)
{
	if (row && value)
		json_object_set_new(row, name, value);
	else
		json_decref(value);
}

/* Each line of what an apply or an undo did. */
static void take_changes(struct list *l, const json_t *entry, char *text)
{
	static const char *const members[] = {"path", "before", "after"};
	for (char *save = NULL, *line = strtok_r(text, "\n", &save); line;
		line = strtok_r(NULL, "\n", &save)) {
		json_t *o = json_loads(line, JSON_REJECT_DUPLICATES, NULL);
		json_t *row = o ? add_row(l, &l->n_changes, entry) : NULL;
		for (size_t i = 0; row && i < 3; i++)
			if (json_is_string(json_object_get(o, members[i])))
				json_object_set(row, members[i], json_object_get(o, members[i]));
		const char *tree = text_of(o, "tree");
		if (row && *tree)
			set(row, "path",
				json_sprintf("%s/%s", strcmp(tree, "/") ? tree : "",
					text_of(o, "path")));
		if (row)
			set(row, "text",
				json_sprintf("%s: %s (%s)", text_of(o, "change"), text_of(o, "end"),
					text_of(o, "why")));
		json_decref(o);
	}
}

static json_t *words_of(const json_t *check)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	const json_t *word = NULL;
	size_t i;
	json_array_foreach(json_object_get(check, "command"), i, word)
		ward_buf_printf(&b, "%s%s", i ? " " : "", json_string_value(word) ?: "?");
	return json_sprintf("%s: status %d, session %s, trail %s", ward_buf_str(&b),
		(int)json_integer_value(json_object_get(check, "result")),
		text_of(check, "session"), text_of(check, "trail"));
}

static void take_check(struct list *l, const json_t *entry, const struct ward_buf *text)
{
	json_t *o = json_loadb(ward_buf_str(text), text->len, JSON_REJECT_DUPLICATES, NULL);
	set(add(l, entry), "text", words_of(o));
	json_decref(o);
}

/* By whom, and of which checks. The signature is verified. */
static void take_signed(struct list *l, const json_t *entry, const struct ward_buf *text)
{
	ward_cleanup(ward_signed_change_clear) struct ward_signed_change c = {.says = NULL};
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	struct ward_err why = WARD_ERR_INIT;
	const json_t *check = NULL;
	size_t i;
	json_t *row = add(l, entry);
	if (ward_chain_setup() < 0 ||
		ward_signed_change_read(ward_buf_str(text), text->len, &c, &why) < 0) {
		set(row, "text", json_string("the signature is not good"));
		return;
	}
	ward_buf_printf(&b, "key %s", c.key.name);
	json_array_foreach(json_object_get(c.says, "checks"), i, check)
	{
		json_t *words = words_of(check);
		ward_buf_printf(&b, "; %s", json_string_value(words) ?: "?");
		json_decref(words);
	}
	set(row, "text", json_string(ward_buf_str(&b)));
}

static void take(struct list *l, int dir_fd, const json_t *entry)
{
	ward_cleanup(ward_buf_clear) struct ward_buf text = {.max = FILE_MAX + 1};
	const char *verb = text_of(entry, "verb");
	const bool has_file = json_object_get(entry, "file");
	int r = has_file ? ward_review_file_read(dir_fd, entry, FILE_MAX, &text) : 0;
	if (r < 0)
		set(add(l, entry), "text",
			json_string(r == -EBADMSG ? "its file is not the one that the ledger knows"
						  : "its file cannot be read"));
	else if (has_file && strcmp(verb, "checked") == 0)
		take_check(l, entry, &text);
	else if (has_file && strcmp(verb, "signed") == 0)
		take_signed(l, entry, &text);
	else
		set(add(l, entry), "text",
			json_sprintf("%" JSON_INTEGER_FORMAT " changes, %" JSON_INTEGER_FORMAT
				     " not done",
				json_integer_value(json_object_get(entry, "changes")),
				json_integer_value(json_object_get(entry, "left"))));
	if (r == 0 && text.len && (!strcmp(verb, "applied") || !strcmp(verb, "undone")))
		take_changes(l, entry, text.data);
}

int ward_report_reviews(
	json_t *report, int dir_fd, const struct ward_ledger_session *known, struct ward_err *err)
{
	struct list l = {.rows = json_array()};
	const json_t *entry = NULL;
	size_t i;
	json_array_foreach(known ? known->review_entries : NULL, i, entry) take(&l, dir_fd, entry);
	if (l.n_more)
		json_array_append_new(
			l.rows, json_pack("{s:s, s:o}", "what", "more", "text",
					json_sprintf("%zu more are not listed", l.n_more)));
	return json_object_set_new(report, "reviewed", l.rows) < 0
		       ? ward_err_sys(err, -ENOMEM, "report")
		       : 0;
}
