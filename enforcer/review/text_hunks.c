/* SPDX-License-Identifier: Apache-2.0 */
#include "enforcer/review/text_hunks.h"

#include <stdlib.h>
#include <string.h>

#define CONTEXT 3U

int ward_text_pair_make(
	const char *a, size_t a_len, const char *b, size_t b_len, struct ward_text_pair *ret)
{
	*ret = (struct ward_text_pair){.a = a, .b = b, .a_len = a_len, .b_len = b_len};
	return ward_text_changes(a, a_len, b, b_len, &ret->v, &ret->n);
}

void ward_text_pair_clear(struct ward_text_pair *p)
{
	free(p->v);
	*p = (struct ward_text_pair){.v = NULL};
}

size_t ward_text_hunk_end(const struct ward_text_pair *p, size_t i)
{
	for (i++; i < p->n; i++)
		if (p->v[i].a_line - p->v[i - 1].a_line - p->v[i - 1].a_lines > 2 * CONTEXT)
			break;
	return i;
}

/* The line that begins at `at`, with its line feed. */
static size_t line_len(const char *text, size_t len, size_t at)
{
	const char *feed = memchr(text + at, '\n', len - at);
	return feed ? (size_t)(feed - text) + 1 - at : len - at;
}

static void put_lines(
	struct ward_buf *b, char sign, const char *text, size_t len, size_t at, size_t lines)
{
	while (lines-- > 0) {
		const size_t n = line_len(text, len, at);
		ward_buf_putc(b, sign);
		ward_buf_add(b, text + at, n);
		at += n;
		if (!n || text[at - 1] != '\n')
			ward_buf_puts(b, "\n\\ No newline at end of file\n");
	}
}

static void put_range(struct ward_buf *b, char sign, size_t from, size_t n)
{
	ward_buf_printf(b, n == 1 ? "%c%zu" : "%c%zu,%zu", sign, n ? from + 1 : from, n);
}

/* Equal lines of a before the change `of`, as far as three and the one before it go. */
static size_t lines_before(const struct ward_text_pair *p, size_t of, size_t *ret_at)
{
	const size_t least = of ? p->v[of - 1].a_at + p->v[of - 1].a_len : 0;
	size_t n = 0, at = p->v[of].a_at;
	for (; n < CONTEXT && at > least; n++) {
		const char *feed = memrchr(p->a + least, '\n', at - 1 - least);
		at = feed ? (size_t)(feed - p->a) + 1 : least;
	}
	*ret_at = at;
	return n;
}

static size_t lines_after(const struct ward_text_pair *p, size_t of)
{
	const size_t most = of + 1 < p->n ? p->v[of + 1].a_at : p->a_len;
	size_t n = 0;
	for (size_t at = p->v[of].a_at + p->v[of].a_len; n < CONTEXT && at < most; n++)
		at += line_len(p->a, p->a_len, at);
	return n;
}

void ward_text_hunk_put(
	const struct ward_text_pair *p, size_t from, size_t to, struct ward_buf *ret)
{
	const struct ward_text_change *first = &p->v[from], *last = &p->v[to - 1];
	size_t at;
	const size_t before = lines_before(p, from, &at), after = lines_after(p, to - 1);
	ward_buf_puts(ret, "@@ ");
	put_range(ret, '-', first->a_line - before,
		before + last->a_line + last->a_lines - first->a_line + after);
	ward_buf_putc(ret, ' ');
	put_range(ret, '+', first->b_line - before,
		before + last->b_line + last->b_lines - first->b_line + after);
	ward_buf_puts(ret, " @@\n");
	put_lines(ret, ' ', p->a, p->a_len, at, before);
	for (const struct ward_text_change *c = first; c <= last; c++) {
		put_lines(ret, '-', p->a, p->a_len, c->a_at, c->a_lines);
		put_lines(ret, '+', p->b, p->b_len, c->b_at, c->b_lines);
		put_lines(ret, ' ', p->a, p->a_len, c->a_at + c->a_len,
			c < last ? c[1].a_line - c->a_line - c->a_lines : after);
	}
}

int ward_text_diff(const char *a, size_t a_len, const char *b, size_t b_len, struct ward_buf *ret)
{
	struct ward_text_pair p;
	int r = ward_text_pair_make(a, a_len, b, b_len, &p);
	for (size_t i = 0, end; r == 0 && i < p.n; i = end) {
		end = ward_text_hunk_end(&p, i);
		ward_text_hunk_put(&p, i, end, ret);
	}
	ward_text_pair_clear(&p);
	return r < 0 ? r : ward_buf_error(ret);
}

int ward_text_take(const struct ward_text_pair *p, const bool *taken, struct ward_buf *ret)
{
	size_t at = 0;
	for (size_t i = 0; i < p->n; i++) {
		const struct ward_text_change *c = &p->v[i];
		if (!taken[i])
			continue;
		ward_buf_add(ret, p->a + at, c->a_at - at);
		ward_buf_add(ret, p->b + c->b_at, c->b_len);
		at = c->a_at + c->a_len;
	}
	ward_buf_add(ret, p->a + at, p->a_len - at);
	return ward_buf_error(ret);
}

/* --- merged --- */

static bool same_change(const struct ward_text_pair *p, const struct ward_text_change *c,
	const struct ward_text_pair *q, const struct ward_text_change *d)
{
	return c->a_line == d->a_line && c->a_lines == d->a_lines && c->b_len == d->b_len &&
	       memcmp(p->b + c->b_at, q->b + d->b_at, c->b_len) == 0;
}

static int merge(
	const struct ward_text_pair *p, const struct ward_text_pair *q, struct ward_buf *ret)
{
	size_t at = 0;
	for (size_t i = 0, k = 0; i < p->n || k < q->n;) {
		const struct ward_text_change *c = i < p->n ? &p->v[i] : NULL;
		const struct ward_text_change *d = k < q->n ? &q->v[k] : NULL;
		const bool same = c && d && same_change(p, c, q, d);
		const bool first = c && (!d || same || c->a_line < d->a_line);
		const struct ward_text_pair *of = first ? p : q;
		const struct ward_text_change *it = first ? c : d, *other = first ? d : c;
		/* As git has it: a line between the two that neither changed. */
		if (!same && other && it->a_line + it->a_lines >= other->a_line)
			return 1;
		ward_buf_add(ret, p->a + at, it->a_at - at);
		ward_buf_add(ret, of->b + it->b_at, it->b_len);
		at = it->a_at + it->a_len;
		i += first;
		k += same || !first;
	}
	ward_buf_add(ret, p->a + at, p->a_len - at);
	return ward_buf_error(ret);
}

int ward_text_merge(const char *base, size_t base_len, const char *a, size_t a_len, const char *b,
	size_t b_len, struct ward_buf *ret)
{
	struct ward_text_pair p, q = {.v = NULL};
	int r = ward_text_pair_make(base, base_len, a, a_len, &p);
	if (r == 0)
		r = ward_text_pair_make(base, base_len, b, b_len, &q);
	if (r == 0)
		r = merge(&p, &q, ret);
	ward_text_pair_clear(&p);
	ward_text_pair_clear(&q);
	return r;
}
