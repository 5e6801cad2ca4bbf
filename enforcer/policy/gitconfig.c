/* SPDX-License-Identifier: Apache-2.0 */
/* Parses git's configuration format. */
#include "enforcer/policy/gitconfig.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "enforcer/base/buf.h"
#include "enforcer/base/cleanup.h"

struct reader {
	const char *s, *end;
};

/* The next byte, a line's end always as '\n'; -1 at the end. */
static int next(struct reader *r)
{
	if (r->s < r->end && *r->s == '\r' && r->s + 1 < r->end && r->s[1] == '\n')
		r->s++;
	return r->s < r->end ? (unsigned char)*r->s++ : -1;
}

static bool is_name(int c)
{
	return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '-';
}

static void put_lower(struct ward_buf *b, int c)
{
	ward_buf_putc(b, (char)(c >= 'A' && c <= 'Z' ? c | 0x20 : c));
}

static bool is_blank(int c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

static void skip_line(struct reader *r)
{
	for (int c = next(r); c >= 0 && c != '\n';)
		c = next(r);
}

/* After '['; the section's name without its subsection, and that. False: malformed. */
static bool section(struct reader *r, struct ward_buf *name, struct ward_buf *in)
{
	ward_buf_clear(name);
	ward_buf_clear(in);
	bool sub = false;
	for (int c = next(r); c != ']'; c = next(r)) {
		if (is_blank(c))
			break;
		if (!is_name(c) && c != '.')
			return false;
		if (sub)
			put_lower(in, c);
		sub = sub || c == '.'; /* [section.subsection], the old way */
		if (!sub)
			put_lower(name, c);
	}
	if (r->s[-1] == ']')
		return true;
	int c = next(r);
	while (is_blank(c))
		c = next(r);
	if (c != '"')
		return false;
	for (c = next(r); c != '"'; c = next(r)) {
		if (c == '\\')
			c = next(r);
		if (c <= 0 || c == '\n')
			return false;
		ward_buf_putc(in, (char)c);
	}
	return next(r) == ']';
}

/* After '\' in a value. False: malformed. */
static bool escaped(struct reader *r, struct ward_buf *v)
{
	static const char from[] = "tbn\\\"", to[] = "\t\bn\\\"";
	int c = next(r);
	const char *at = c > 0 ? strchr(from, c) : NULL;
	if (c == '\n')
		return true;
	if (at)
		ward_buf_putc(v, c == 'n' ? '\n' : to[at - from]);
	return at != NULL;
}

/* After '='. False: malformed. */
static bool value(struct reader *r, struct ward_buf *v)
{
	bool quoted = false;
	size_t keep = 0; /* blanks behind it do not count, unless something follows */
	for (int c = next(r); c >= 0 && c != '\n'; c = next(r)) {
		if (c == 0)
			return false;
		if (!quoted && (c == '#' || c == ';')) {
			skip_line(r);
			break;
		}
		if (!quoted && is_blank(c)) {
			if (v->len)
				ward_buf_putc(v, (char)c);
			continue;
		}
		if (c == '"')
			quoted = !quoted;
		else if (c == '\\' && !escaped(r, v))
			return false;
		else if (c != '\\')
			ward_buf_putc(v, (char)c);
		keep = v->len;
	}
	if (v->data && keep < v->len) {
		v->data[keep] = 0;
		v->len = keep;
	}
	return !quoted;
}

/* An entry whose first byte is c. False: malformed. */
static bool entry(struct reader *r, int c, struct ward_buf *name, struct ward_buf *v)
{
	for (; is_name(c); c = next(r))
		put_lower(name, c);
	while (is_blank(c))
		c = next(r);
	if (c == '=')
		return value(r, v);
	if (c == '#' || c == ';')
		skip_line(r);
	return c < 0 || c == '\n' || c == '#' || c == ';';
}

int ward_git_config_read(const char *text, size_t len, ward_git_config_fn fn, void *user)
{
	struct reader r = {text, text + len};
	ward_cleanup(ward_buf_clear) struct ward_buf in = WARD_BUF_INIT, sub = WARD_BUF_INIT;
	if (len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
		r.s += 3;
	for (int c = next(&r); c >= 0; c = next(&r)) {
		if (is_blank(c) || c == '\n')
			continue;
		if (c == '#' || c == ';') {
			skip_line(&r);
			continue;
		}
		if (c == '[') {
			if (!section(&r, &in, &sub))
				return 0;
			continue;
		}
		ward_cleanup(ward_buf_clear) struct ward_buf name = WARD_BUF_INIT;
		ward_cleanup(ward_buf_clear) struct ward_buf v = WARD_BUF_INIT;
		ward_buf_printf(&name, "%s.", ward_buf_str(&in));
		if (!is_name(c) || !in.len || !entry(&r, c, &name, &v))
			return ward_buf_error(&in);
		int e = ward_buf_error(&name) < 0 ? ward_buf_error(&name) : ward_buf_error(&v);
		if (e == 0)
			e = ward_buf_error(&sub);
		if (e == 0)
			e = fn(user, ward_buf_str(&name), ward_buf_str(&sub), ward_buf_str(&v));
		if (e < 0)
			return e;
	}
	return ward_buf_error(&in);
}
