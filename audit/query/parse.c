/* SPDX-License-Identifier: Apache-2.0 */
/* Parses a record as JSON. */
#include "audit/query/parse.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "enforcer/base/buf.h"
#include "enforcer/base/cleanup.h"

/* The largest json_int_t. */
#define LARGEST "9223372036854775807"

/* How long the number at the beginning is; 0: there is none. */
static size_t number_at(const char *p, const char *end)
{
	size_t n = 0;
	while (p + n < end && p[n] && strchr("+-.0123456789Ee", p[n]))
		n++;
	return n;
}

static bool too_large(const char *p, size_t n)
{
	const size_t most = strlen(LARGEST);
	for (size_t i = 0; i < n; i++)
		if (p[i] < '0' || p[i] > '9')
			return false;
	return n > most || (n == most && memcmp(p, LARGEST, most) > 0);
}

/* The text with such integers as strings. */
static void quote_large(const char *p, size_t len, const char *mark, struct ward_buf *ret)
{
	const char *end = p + len;
	bool in_string = false;
	while (p < end) {
		size_t n = in_string ? 0 : number_at(p, end);
		if (n == 0) {
			n = in_string && *p == '\\' && p + 1 < end ? 2 : 1;
			in_string ^= n == 1 && *p == '"';
			ward_buf_add(ret, p, n);
		} else if (too_large(p, n)) {
			ward_buf_printf(ret, "\"%s%.*s\"", mark, (int)n, p);
		} else {
			ward_buf_add(ret, p, n);
		}
		p += n;
	}
}

json_t *ward_parse(const char *text, size_t len, size_t flags, const char *mark)
{
	json_error_t err;
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	json_t *v = json_loadb(text, len, flags, &err);
	if (v || json_error_code(&err) != json_error_numeric_overflow)
		return v;
	quote_large(text, len, mark, &b);
	return ward_buf_error(&b) < 0 ? NULL : json_loadb(b.data, b.len, flags, NULL);
}

char *ward_json_ascii(const json_t *v, size_t flags)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	ward_cleanup_free char *text = json_dumps(v, flags | JSON_ENSURE_ASCII);
	if (!text)
		return NULL;
	/* DEL is ASCII, and within a string. */
	for (const char *s = text; *s;) {
		const size_t n = strcspn(s, "\177");
		ward_buf_add(&b, s, n);
		s += n;
		if (*s && s++)
			ward_buf_puts(&b, "\\u007f");
	}
	return ward_buf_steal(&b);
}
