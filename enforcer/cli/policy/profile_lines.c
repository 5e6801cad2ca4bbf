/* SPDX-License-Identifier: Apache-2.0 */
/* Says what each line of a policy means. */
#include "enforcer/cli/policy/profile_lines.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/cli/base/say.h"
#include "enforcer/policy/keys.h"
#include "enforcer/policy/read.h"

/* Where a comment begins, unless the line is longer. */
#define COLUMN 44
/* Keys whose sentence is not repeated; more than there are. */
#define KEYS_MAX 256

struct explainer {
	const char *text, *end; /* the line that comes next */
	unsigned line;		/* its number */
	const struct ward_section *section;
	char in[4200];			       /* "tree /workspace" */
	const struct ward_key *said[KEYS_MAX]; /* whose sentence was printed */
	size_t n_said;
	struct ward_buf *text_to;
	json_t *to; /* one of both */
};

/* The comment of a line: from a ';' behind a blank on. NULL: it has none. */
static const char *comment_of(const char *line, const char *end)
{
	for (const char *s = line; s + 1 < end; s++)
		if ((*s == ' ' || *s == '\t') && s[1] == ';')
			return s + 1;
	return NULL;
}

/* The first sentence, without the marks of Markdown. */
static void put_doc(struct ward_buf *b, const char *doc)
{
	const char *end = strstr(doc, ". ");
	for (const char *s = doc; *s && s != end; s++)
		if (*s != '`')
			ward_buf_putc(b, *s);
	if (end)
		ward_buf_putc(b, '.');
}

/* Was the sentence of this key printed? From now on it was. */
static bool said_before(struct explainer *x, const struct ward_key *k)
{
	for (size_t i = 0; i < x->n_said; i++)
		if (x->said[i] == k)
			return true;
	if (x->n_said < KEYS_MAX)
		x->said[x->n_said++] = k;
	return false;
}

static void put_line(struct explainer *x, const struct ward_key *k)
{
	const char *nl = memchr(x->text, '\n', (size_t)(x->end - x->text));
	const char *stop = nl ? nl : x->end;
	if (x->text_to) {
		ward_buf_add(x->text_to, x->text, (size_t)(stop - x->text));
		if (k && !comment_of(x->text, stop) && !said_before(x, k)) {
			size_t n = (size_t)(stop - x->text);
			do
				ward_buf_putc(x->text_to, ' ');
			while (++n < COLUMN);
			ward_buf_puts(x->text_to, "; ");
			put_doc(x->text_to, k->doc);
		}
		if (nl)
			ward_buf_putc(x->text_to, '\n');
	}
	x->text = nl ? nl + 1 : x->end;
	x->line++;
}

static int on_section(
	void *user, const char *kind, const char *arg, unsigned line, struct ward_err *err)
{
	struct explainer *x = user;
	(void)line;
	(void)snprintf(x->in, sizeof(x->in), "%s%s%s", kind, *arg ? " " : "", arg);
	return ward_section_find(kind, &x->section, err);
}

static int add_json(struct explainer *x, const struct ward_key *k, const char *value)
{
	ward_cleanup(ward_buf_clear) struct ward_buf says = WARD_BUF_INIT;
	const char *nl = memchr(x->text, '\n', (size_t)(x->end - x->text));
	const char *stop = nl ? nl : x->end, *own = comment_of(x->text, stop);
	if (own)
		for (own++; own < stop && *own == ' ';)
			own++;
	if (own)
		ward_buf_add(&says, own, (size_t)(stop - own));
	else
		put_doc(&says, k->doc);
	return json_array_append_new(
		x->to, json_pack("{s:I, s:o, s:s, s:o, s:o}", "line", (json_int_t)x->line,
			       "section", ward_json_text(x->in), "key", k->name, "value",
			       ward_json_text(value), "says", ward_json_text(ward_buf_str(&says))));
}

static int on_pair(
	void *user, const char *key, const char *value, unsigned line, struct ward_err *err)
{
	struct explainer *x = user;
	const struct ward_key *k = NULL;
	int r = ward_key_find(x->section, key, &k, err);
	while (r == 0 && x->line < line && x->text < x->end)
		put_line(x, NULL);
	if (r == 0 && x->to)
		r = add_json(x, k, value) < 0 ? -ENOMEM : 0;
	if (r == 0)
		put_line(x, k);
	return r;
}

static int go(const char *file, const char *text, size_t len, struct ward_buf *to, json_t *json)
{
	static const struct ward_read_ops ops = {on_section, on_pair};
	struct explainer x = {
		.text = text, .end = text + len, .line = 1, .text_to = to, .to = json};
	struct ward_err err = WARD_ERR_INIT;
	int r = ward_policy_read(file, text, len, &ops, &x, &err);
	while (r == 0 && x.text < x.end)
		put_line(&x, NULL);
	return r == 0 && to ? ward_buf_error(to) : r;
}

int ward_lines_explain(const char *file, const char *text, size_t len, struct ward_buf *ret)
{
	return go(file, text, len, ret, NULL);
}

json_t *ward_lines_json(const char *file, const char *text, size_t len)
{
	json_t *all = json_array();
	if (go(file, text, len, NULL, all) == 0)
		return all;
	json_decref(all);
	return NULL;
}
