/* SPDX-License-Identifier: Apache-2.0 */
/* Changes single lines of a policy's text. */
#include "enforcer/cli/policy/policy_lines.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/policy/read.h"

void policy_lines_clear(struct policy_lines *l)
{
	for (size_t i = 0; i < l->n; i++) {
		free(l->v[i].section);
		free(l->v[i].key);
		free(l->v[i].value);
	}
	free(l->v);
	*l = POLICY_LINES_INIT;
}

struct reading {
	struct policy_lines lines;
	size_t room;
	struct ward_buf section;
};

static int on_section(
	void *user, const char *kind, const char *arg, unsigned line, struct ward_err *err)
{
	struct reading *r = user;
	(void)line;
	ward_buf_clear(&r->section);
	ward_buf_printf(&r->section, "[%s%s%s]", kind, *arg ? " " : "", arg);
	return ward_buf_error(&r->section) < 0 ? ward_err_sys(err, -ENOMEM, "policy") : 0;
}

static int on_pair(
	void *user, const char *key, const char *value, unsigned line, struct ward_err *err)
{
	struct reading *r = user;
	struct policy_lines *l = &r->lines;
	if (l->n == r->room) {
		size_t room = r->room ? 2 * r->room : 64;
		struct policy_line *v = reallocarray(l->v, room, sizeof(*v));
		if (!v)
			return ward_err_sys(err, -ENOMEM, "policy");
		l->v = v;
		r->room = room;
	}
	struct policy_line *p = &l->v[l->n++];
	*p = (struct policy_line){
		line, strdup(ward_buf_str(&r->section)), strdup(key), strdup(value)};
	return p->section && p->key && p->value ? 0 : ward_err_sys(err, -ENOMEM, "policy");
}

int policy_lines_read(const char *file, const struct ward_buf *text, struct policy_lines *ret,
	struct ward_err *err)
{
	static const struct ward_read_ops ops = {on_section, on_pair};
	struct reading r = {.lines = POLICY_LINES_INIT};
	int e = ward_policy_read(file, ward_buf_str(text), text->len, &ops, &r, err);
	ward_buf_clear(&r.section);
	if (e < 0)
		policy_lines_clear(&r.lines);
	else
		*ret = r.lines;
	return e;
}

bool policy_line_is(
	const struct policy_line *l, const char *section, const char *key, const char *value)
{
	return strcmp(l->section, section) == 0 && strcmp(l->key, key) == 0 &&
	       strcmp(l->value, value) == 0;
}

const struct policy_line *policy_lines_find(const struct policy_lines *l, size_t from,
	const char *section, const char *key, const char *value)
{
	for (size_t i = from; i < l->n; i++)
		if (policy_line_is(&l->v[i], section, key, value))
			return &l->v[i];
	return NULL;
}

/* The last header of the text, to the end of its line; NULL: it has none. */
static const char *last_header(const struct ward_buf *text)
{
	const char *last = NULL;
	for (const char *s = ward_buf_str(text); s; s = strchr(s, '\n')) {
		s += *s == '\n';
		if (*s == '[')
			last = s;
	}
	return last;
}

void policy_lines_append(
	struct ward_buf *text, const char *section, const char *key, const char *value)
{
	if (text->len && text->data[text->len - 1] != '\n')
		ward_buf_putc(text, '\n');
	/* a section may stand more than once: the line is in the right one whatever was before */
	const char *last = last_header(text);
	const size_t n = strlen(section);
	if (!last || strncmp(last, section, n) != 0 || (last[n] != '\n' && last[n] != ' '))
		ward_buf_printf(text, "\n%s\n", section);
	ward_buf_printf(text, "%s = %s\n", key, value);
}

/* Where line number n begins, and where the one behind it does. */
static size_t offset_of(const struct ward_buf *text, unsigned n)
{
	size_t at = 0;
	for (unsigned i = 1; i < n && at < text->len; i++) {
		const char *end = memchr(text->data + at, '\n', text->len - at);
		at = end ? (size_t)(end - text->data) + 1 : text->len;
	}
	return at;
}

static void cut(struct ward_buf *text, size_t from, size_t to)
{
	memmove(text->data + from, text->data + to, text->len - to);
	text->len -= to - from;
	text->data[text->len] = 0;
}

static bool is_blank(const struct ward_buf *text, unsigned line)
{
	size_t from = offset_of(text, line);
	return from < text->len && text->data[from + strspn(text->data + from, " \t\r")] == '\n';
}

/* The first byte of the line behind those that are blank; 0: the end. */
static char first_of(const struct ward_buf *text, unsigned line)
{
	while (is_blank(text, line))
		line++;
	size_t at = offset_of(text, line);
	return (char)(at < text->len ? text->data[at] : 0);
}

int policy_lines_remove(struct ward_buf *text, unsigned line)
{
	size_t from = offset_of(text, line);
	if (!line || from >= text->len)
		return -ENOENT;
	cut(text, from, offset_of(text, line + 1));
	unsigned above = line - 1;
	while (above > 0 && is_blank(text, above))
		above--;
	const char next = first_of(text, line);
	if (above == 0 || text->data[offset_of(text, above)] != '[' || (next && next != '['))
		return 0;
	const unsigned end = above + 1;
	while (above > 1 && is_blank(text, above - 1))
		above--;
	cut(text, offset_of(text, above), offset_of(text, end));
	return 0;
}

static void put_lines(struct ward_buf *ret, const char *mark, const char *s, const char *end)
{
	while (s < end) {
		const char *eol = memchr(s, '\n', (size_t)(end - s));
		size_t n = eol ? (size_t)(eol - s) : (size_t)(end - s);
		ward_buf_puts(ret, mark);
		ward_buf_add(ret, s, n);
		ward_buf_putc(ret, '\n');
		s += n + 1;
	}
}

void policy_lines_difference(
	const struct ward_buf *before, const struct ward_buf *after, struct ward_buf *ret)
{
	const char *a = ward_buf_str(before), *b = ward_buf_str(after);
	const char *a_end = a + before->len, *b_end = b + after->len;
	/* what both begin with, in whole lines */
	size_t same = 0;
	for (size_t i = 0; a + i < a_end && b + i < b_end && a[i] == b[i]; i++)
		if (a[i] == '\n')
			same = i + 1;
	a += same;
	b += same;
	/* and what both end with */
	const char *x = a_end, *y = b_end;
	while (x > a && y > b && x[-1] == y[-1]) {
		x--;
		y--;
		if ((x == a || x[-1] == '\n') && (y == b || y[-1] == '\n')) {
			a_end = x;
			b_end = y;
		}
	}
	put_lines(ret, "- ", a, a_end);
	put_lines(ret, "+ ", b, b_end);
}
