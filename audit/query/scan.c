/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the members of a line without building a JSON tree. */
#include "audit/query/scan.h"

#include <errno.h>
#include <string.h>

/* Digits that surely fit int64_t. */
#define DIGITS_MAX 18

void ward_scan_begin(struct ward_scan *s, const char *line, size_t len)
{
	*s = (struct ward_scan){.p = line, .end = line + len, .first = true};
}

static bool take(struct ward_scan *s, char c)
{
	if (s->p == s->end || *s->p != c)
		return false;
	s->p++;
	return true;
}

/* Behind the opening quote: to behind the closing one. */
static bool string(struct ward_scan *s, const char **ret, size_t *ret_len, bool *ret_escaped)
{
	const char *from = s->p;
	bool escaped = false;
	for (; s->p < s->end && *s->p != '"'; s->p++) {
		unsigned char c = (unsigned char)*s->p;
		/* Beyond ASCII it would have to be UTF-8. */
		if (c < ' ' || c > '~')
			return false;
		if (c != '\\')
			continue;
		escaped = true;
		if (++s->p == s->end || (*s->p != '\\' && *s->p != '"'))
			return false;
	}
	*ret = from;
	*ret_len = (size_t)(s->p - from);
	*ret_escaped = escaped;
	return take(s, '"');
}

static bool integer(struct ward_scan *s, int64_t *ret)
{
	bool negative = take(s, '-');
	const char *from = s->p;
	int64_t v = 0;
	for (; s->p < s->end && *s->p >= '0' && *s->p <= '9'; s->p++)
		if (s->p - from < DIGITS_MAX)
			v = 10 * v + (*s->p - '0');
	size_t n = (size_t)(s->p - from);
	if (n == 0 || n > DIGITS_MAX || (n > 1 && *from == '0'))
		return false;
	*ret = negative ? -v : v;
	return true;
}

static bool word(struct ward_scan *s, const char *text)
{
	size_t n = strlen(text);
	if ((size_t)(s->end - s->p) < n || memcmp(s->p, text, n) != 0)
		return false;
	s->p += n;
	return true;
}

/* Behind the opening bracket. */
static bool list(struct ward_scan *s)
{
	const char *item = NULL;
	size_t len = 0;
	bool escaped = false;
	if (take(s, ']'))
		return true;
	do {
		if (!take(s, '"') || !string(s, &item, &len, &escaped))
			return false;
	} while (take(s, ','));
	return take(s, ']');
}

static bool value(struct ward_scan *s, struct ward_scan_member *m)
{
	m->value = s->p;
	m->type = WARD_SCAN_OTHER;
	if (take(s, '"')) {
		m->type = WARD_SCAN_STRING;
		return string(s, &m->value, &m->len, &m->escaped);
	}
	if (take(s, '[')) {
		if (!list(s))
			return false;
	} else if (!word(s, "null") && !word(s, "true") && !word(s, "false")) {
		m->type = WARD_SCAN_INTEGER;
		if (!integer(s, &m->number))
			return false;
	}
	m->len = (size_t)(s->p - m->value);
	return true;
}

int ward_scan_next(struct ward_scan *s, struct ward_scan_member *ret)
{
	struct ward_scan_member m = {0};
	bool escaped = false;
	if (s->first) {
		s->first = false;
		if (!take(s, '{'))
			return -EBADMSG;
	} else if (take(s, '}')) {
		return s->p == s->end ? 0 : -EBADMSG;
	} else if (!take(s, ',')) {
		return -EBADMSG;
	}
	if (!take(s, '"') || !string(s, &m.name, &m.name_len, &escaped) || escaped ||
		!take(s, ':') || !value(s, &m))
		return -EBADMSG;
	*ret = m;
	return 1;
}

size_t ward_scan_text(const struct ward_scan_member *m, char *to)
{
	size_t n = 0;
	for (size_t i = 0; i < m->len; i++) {
		/* Nothing but a backslash or a quote is behind a backslash. */
		if (m->value[i] == '\\')
			i++;
		to[n++] = m->value[i];
	}
	return n;
}
