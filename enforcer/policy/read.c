/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the text of one source strictly, line by line. */
#include "enforcer/policy/read.h"

#include <errno.h>
#include <ini.h>
#include <stdbool.h>
#include <string.h>

#include "enforcer/policy/policy.h"

/* Stands for a value that inih would cut; control bytes cannot come from the file itself. */
#define STAND_IN "\x01"

struct reader {
	const char *file;
	bool no_line; /* `file` says all */
	const char *p, *end;
	unsigned line;
	bool in_section;
	int error; /* the first one; ends the reading */
	struct ward_err *err;
	const struct ward_read_ops *ops;
	void *user;
	char buf[WARD_POLICY_LINE_MAX + 1]; /* the line, cut into pieces */
	const char *parked;		    /* the value behind STAND_IN */
	bool delivered;			    /* inih made a pair of the line */
};

static int fail(struct reader *r, int code, const char *what)
{
	if (!r->error)
		r->error = ward_err_set(r->err, code, WARD_PLACE_FMT ": %s",
			WARD_PLACE(r->file, r->no_line ? 0 : r->line), what);
	return r->error;
}

static bool blank(char c)
{
	return c == ' ' || c == '\t';
}

static void cut_right(char *s)
{
	size_t n = strlen(s);
	while (n > 0 && blank(s[n - 1]))
		s[--n] = 0;
}

/* Ends the line at its comment: a ';' after a blank, as inih sees it. */
static void cut_comment(char *s)
{
	for (; *s; s++) {
		if (blank(s[0]) && s[1] == ';') {
			*s = 0;
			return;
		}
	}
}

/* Copies the next line into r->buf. 1 got one, 0 end of text, else the error. */
static int next_line(struct reader *r)
{
	if (r->p == r->end)
		return 0;
	r->line++;
	const char *nl = memchr(r->p, '\n', (size_t)(r->end - r->p));
	const char *stop = nl ? nl : r->end;
	size_t n = (size_t)(stop - r->p);
	if (n > 0 && r->p[n - 1] == '\r' && nl)
		n--;
	if (n > WARD_POLICY_LINE_MAX)
		return fail(r, -EINVAL, "the line is longer than 8448 bytes");
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)r->p[i];
		if (c == 0)
			return fail(r, -EINVAL, "a NUL byte");
		if ((c < 0x20 && c != '\t') || c == 0x7f)
			return fail(r, -EINVAL,
				"a control character (in a name, '?' stands for any byte)");
	}
	memcpy(r->buf, r->p, n);
	r->buf[n] = 0;
	r->p = nl ? nl + 1 : r->end;
	return 1;
}

static int header(struct reader *r)
{
	char *close = strchr(r->buf, ']');
	if (!close)
		return fail(r, -EINVAL, "a section without its ']'");
	char *rest = close + 1;
	cut_comment(rest);
	cut_right(rest);
	if (*rest && *rest != ';' && *rest != '#')
		return fail(r, -EINVAL, "text after the ']' of a section");
	*close = 0;
	char *kind = r->buf + 1;
	while (blank(*kind))
		kind++;
	cut_right(kind);
	if (!*kind)
		return fail(r, -EINVAL, "a section without a name");
	char *arg = kind + strcspn(kind, " \t");
	while (blank(*arg))
		*arg++ = 0;
	r->in_section = true;
	struct ward_err e = WARD_ERR_INIT;
	int rc = r->ops->section(r->user, kind, arg, r->line, &e);
	return rc < 0 ? fail(r, rc, e.text) : 0;
}

/* Checks a line "key = value" and writes what inih gets into out (of size bytes). */
static int pair_line(struct reader *r, char *out, size_t size)
{
	if (!r->in_section)
		return fail(r, -EINVAL, "a key before the first section");
	char *sep = strpbrk(r->buf, "=:");
	if (!sep)
		return fail(r, -EINVAL, "neither a [section], nor key = value, nor a comment");
	if (*sep == ':')
		return fail(r, -EINVAL, "':' after the key: write '='");
	size_t key = (size_t)(sep - r->buf);
	while (key > 0 && blank(r->buf[key - 1]))
		key--;
	if (key == 0 || memchr(r->buf, ';', key))
		return fail(r, -EINVAL, "a line without a key");
	/* inih keeps 49 bytes of a key */
	if (key > 40)
		return fail(r, -EINVAL, "no key is as long as this one");
	char *value = sep + 1;
	cut_comment(value);
	while (blank(*value))
		value++;
	cut_right(value);
	if (!*value)
		return fail(r, -EINVAL, "a key without a value");
	/* to whom reads it a comment; written with a blank before it, it is one */
	if (*value == ';')
		return fail(r, -EINVAL, "a value that begins with ';' (in a pattern: \\;)");
	r->parked = NULL;
	size_t len = strlen(value);
	if (key + 1 + len + 1 < size) {
		memcpy(out, r->buf, key);
		out[key] = '=';
		memcpy(out + key + 1, value, len + 1);
	} else {
		memcpy(out, r->buf, key);
		memcpy(out + key, "=" STAND_IN, sizeof("=" STAND_IN));
		r->parked = value;
	}
	return 0;
}

static bool is_origin(const struct reader *r)
{
	return r->ops->origin &&
	       strncmp(r->buf, WARD_ORIGIN_MARK, sizeof(WARD_ORIGIN_MARK) - 1) == 0;
}

static void origin(struct reader *r)
{
	struct ward_err e = WARD_ERR_INIT;
	const char *file = NULL;
	int rc = r->ops->origin(r->user, r->buf + sizeof(WARD_ORIGIN_MARK) - 1, &file, &e);
	if (rc < 0) {
		fail(r, rc, e.text);
		return;
	}
	r->file = file;
	r->no_line = true;
}

/* inih's reader: hands out what inih is to see of the next line; NULL ends. */
static char *give(char *out, int size, void *stream)
{
	struct reader *r = stream;
	if (size < 80)
		fail(r, -EINVAL, "the inih library reads too short lines");
	while (!r->error) {
		if (next_line(r) <= 0)
			return NULL;
		const char *s = r->buf + strspn(r->buf, " \t");
		if (!*s)
			continue;
		if (s != r->buf) {
			fail(r, -EINVAL, "an indented line: every line begins in the first column");
		} else if (*s == '[') {
			header(r);
		} else if (is_origin(r)) {
			origin(r);
		} else if (*s != ';' && *s != '#') {
			if (pair_line(r, out, (size_t)size) < 0)
				return NULL;
			r->delivered = false;
			return out;
		}
	}
	return NULL;
}

static int take(void *user, const char *section, const char *name, const char *value)
{
	struct reader *r = user;
	(void)section;
	r->delivered = true;
	struct ward_err e = WARD_ERR_INIT;
	int rc = r->ops->pair(r->user, name, r->parked ? r->parked : value, r->line, &e);
	if (rc < 0)
		fail(r, rc, e.text);
	return rc >= 0;
}

int ward_policy_read(const char *file, const char *text, size_t len,
	const struct ward_read_ops *ops, void *user, struct ward_err *err)
{
	struct reader r = {.file = file,
		.p = text,
		.end = text + len,
		.err = err,
		.ops = ops,
		.user = user,
		.delivered = true};
	if (len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
		r.p += 3;
	if (len > WARD_POLICY_TEXT_MAX) {
		for (size_t i = 0; i < WARD_POLICY_TEXT_MAX; i++)
			r.line += text[i] == '\n';
		r.line++;
		return fail(&r, -EINVAL, "the file is longer than 4 MiB");
	}
	int rc = ini_parse_stream(give, &r, take, &r);
	if (!r.error && (rc != 0 || !r.delivered))
		fail(&r, rc == -2 ? -ENOMEM : -EINVAL, "a line that cannot be read");
	return r.error;
}
