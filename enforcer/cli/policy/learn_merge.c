/* SPDX-License-Identifier: Apache-2.0 */
/* Merges a proposal with what is there. */
#include "enforcer/cli/policy/learn_merge.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/cli/policy/policy_lines.h"
#include "enforcer/policy/read.h"

/* Where the owner's text is cut, by numbers of lines from 1; 0: nowhere. */
struct block {
	unsigned begin, end; /* of the two comments */
	unsigned files;	     /* the first header [files] */
};

static bool is(const char *line, size_t n, const char *text)
{
	return n == strlen(text) && memcmp(line, text, n) == 0;
}

static struct block find_block(const struct ward_buf *text)
{
	struct block b = {0, 0, 0};
	const char *s = ward_buf_str(text);
	for (unsigned line = 1; *s; line++) {
		const size_t n = strcspn(s, "\n");
		if (!b.begin && is(s, n, LEARN_BEGINS))
			b.begin = line;
		else if (b.begin && !b.end && is(s, n, LEARN_ENDS))
			b.end = line;
		if (!b.files && strncmp(s, "[files]", 7) == 0)
			b.files = line;
		s += n + (s[n] == '\n');
	}
	if (!b.end)
		b.begin = 0;
	return b;
}

static bool is_files(const struct policy_line *l)
{
	return strcmp(l->section, "[files]") == 0;
}

static bool takes(const struct policy_line *l)
{
	return strcmp(l->key, "deny") == 0 || strcmp(l->key, "hide") == 0 ||
	       strcmp(l->key, "secret") == 0;
}

/* The first line of a proposal says what holds of the rest of the project. */
static const struct policy_line *first_of(const struct policy_lines *l, unsigned from, unsigned to)
{
	for (size_t i = 0; i < l->n; i++)
		if (is_files(&l->v[i]) && l->v[i].line > from && l->v[i].line < to)
			return &l->v[i];
	return NULL;
}

/* Behind the last line that takes something away, lines give some of it back. */
static size_t last_that_takes(const struct policy_lines *l)
{
	size_t last = 0;
	for (size_t i = 0; i < l->n; i++)
		if (is_files(&l->v[i]) && takes(&l->v[i]))
			last = i;
	return last;
}

static void put(struct ward_buf *b, const struct policy_line *l)
{
	ward_buf_printf(b, "%s = %s\n", l->key, l->value);
}

/* Lines of the proposal that the block lacks; give_back: those behind all that take. */
static void put_missing(struct ward_buf *b, const struct policy_lines *have, const struct block *at,
	const struct policy_lines *proposal, bool give_back)
{
	const struct policy_line *first = first_of(proposal, 0, ~0U);
	const size_t last = last_that_takes(proposal);
	for (size_t i = 0; i < proposal->n; i++) {
		const struct policy_line *l = &proposal->v[i];
		bool known = false;
		if (!is_files(l) || l == first ||
			(i > last && takes(&proposal->v[last])) != give_back)
			continue;
		for (size_t k = 0; k < have->n; k++)
			known = known ||
				(have->v[k].line > at->begin && have->v[k].line < at->end &&
					policy_line_is(&have->v[k], l->section, l->key, l->value));
		if (!known)
			put(b, l);
	}
}

static void put_block(struct ward_buf *b, const struct policy_lines *proposal)
{
	ward_buf_puts(b, "[files]\n" LEARN_BEGINS "\n");
	for (size_t i = 0; i < proposal->n; i++)
		if (is_files(&proposal->v[i]))
			put(b, &proposal->v[i]);
	ward_buf_puts(b, LEARN_ENDS "\n\n");
}

/* Guards that the owner's file lacks, at its end. */
static void put_guards(
	struct ward_buf *b, const struct policy_lines *have, const struct policy_lines *proposal)
{
	bool header = false;
	for (size_t i = 0; i < proposal->n; i++) {
		const struct policy_line *l = &proposal->v[i];
		bool known = strcmp(l->section, "[guard]") != 0;
		for (size_t k = 0; k < have->n && !known; k++)
			known = policy_line_is(&have->v[k], l->section, l->key, l->value);
		if (known)
			continue;
		if (!header)
			ward_buf_puts(b, "\n[guard]\n");
		header = true;
		put(b, l);
	}
}

/* Of which tree a line is. */
struct trees {
	struct ward_buf *b;
	char *tree; /* NULL: the section is no tree */
};

static int tree_section(
	void *user, const char *kind, const char *arg, unsigned line, struct ward_err *err)
{
	struct trees *t = user;
	(void)line, (void)err;
	free(t->tree);
	t->tree = strcmp(kind, "tree") == 0 ? strdup(arg) : NULL;
	return 0;
}

static int tree_pair(
	void *user, const char *key, const char *value, unsigned line, struct ward_err *err)
{
	struct trees *t = user;
	(void)line, (void)err;
	if (t->tree && strcmp(key, "changes") == 0)
		ward_buf_printf(t->b, "\n[tree %s]\nchanges = %s\n", t->tree, value);
	return 0;
}

void learn_put_trees(const char *file, const struct ward_buf *text, struct ward_buf *b)
{
	static const struct ward_read_ops ops = {tree_section, tree_pair};
	struct trees t = {.b = b};
	(void)!ward_policy_read(file, ward_buf_str(text), text->len, &ops, &t, NULL);
	free(t.tree);
}

/* Trees whose changes are staged, where the owner's file says nothing of that. */
static void put_trees(
	struct ward_buf *b, const struct policy_lines *have, const struct policy_lines *proposal)
{
	for (size_t i = 0; i < proposal->n; i++) {
		const struct policy_line *l = &proposal->v[i];
		bool known =
			strncmp(l->section, "[tree ", 6) != 0 || strcmp(l->key, "changes") != 0;
		for (size_t k = 0; k < have->n && !known; k++)
			known = strcmp(have->v[k].section, l->section) == 0 &&
				strcmp(have->v[k].key, l->key) == 0;
		if (known)
			continue;
		ward_buf_printf(b, "\n%s\n", l->section);
		put(b, l);
	}
}

int learn_merge(const char *file, const struct ward_buf *have, const struct ward_buf *proposal,
	struct ward_buf *ret, struct ward_err *err)
{
	ward_cleanup(policy_lines_clear) struct policy_lines old = POLICY_LINES_INIT;
	ward_cleanup(policy_lines_clear) struct policy_lines new = POLICY_LINES_INIT;
	int r = policy_lines_read(file, have, &old, err);
	if (r == 0)
		r = policy_lines_read("the proposal", proposal, &new, err);
	if (r < 0)
		return r;
	const struct block at = find_block(have);
	const struct policy_line *first = first_of(&old, at.begin, at.end);
	const struct policy_line *now = first_of(&new, 0, ~0U);
	if (at.begin && (!first || !now || strcmp(first->key, now->key) != 0))
		return ward_err_set(err, -EEXIST,
			"%s: what was learned there begins with '%s = %s', and this with '%s = %s' (--reads "
			"makes the difference); --force replaces the file",
			file, first ? first->key : "", first ? first->value : "",
			now ? now->key : "", now ? now->value : "");
	const char *s = ward_buf_str(have);
	for (unsigned line = 1; *s; line++) {
		const size_t n = strcspn(s, "\n") + (s[strcspn(s, "\n")] == '\n');
		if (!at.begin && line == at.files)
			put_block(ret, &new);
		if (at.begin && line == at.end)
			put_missing(ret, &old, &at, &new, true);
		ward_buf_add(ret, s, n);
		if (at.begin && line == first->line)
			put_missing(ret, &old, &at, &new, false);
		s += n;
	}
	if (!at.begin && !at.files) {
		if (ret->len && ret->data[ret->len - 1] != '\n')
			ward_buf_putc(ret, '\n');
		ward_buf_putc(ret, '\n');
		put_block(ret, &new);
	}
	if (ret->len && ret->data[ret->len - 1] != '\n')
		ward_buf_putc(ret, '\n');
	put_trees(ret, &old, &new);
	put_guards(ret, &old, &new);
	r = ward_buf_error(ret);
	return r < 0 ? ward_err_sys(err, r, "%s", file) : 0;
}
