/* SPDX-License-Identifier: Apache-2.0 */
/* Parses a record as JSON. */
#include "audit/query/parse.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "enforcer/base/buf.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/out.h"

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

/* --- records --- */

/* No text in the line holds more than printable ASCII: true of most lines. */
static bool is_plain(const char *line, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (line[i] < ' ' || line[i] > '~')
			return false;
		if (line[i] != '\\')
			continue;
		/* "\n", "\u001b" and their like stand for something else than themselves. */
		if (i + 1 == len || !strchr("\"\\/", line[i + 1]))
			return false;
		i++;
	}
	return true;
}

static int show_text(json_t *text)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	const char *s = json_string_value(text);
	ward_shown(&b, s);
	int r = ward_buf_error(&b);
	if (r == 0 && b.len != strlen(s))
		r = json_string_setn(text, ward_buf_str(&b), b.len);
	return r;
}

/* Escapes the texts in v; how deep JSON can be nested, jansson bounds. */
static int show_texts(json_t *v)
{
	int r = 0;
	size_t i = 0;
	const char *name = NULL;
	json_t *item = NULL;
	if (json_is_string(v))
		return show_text(v);
	json_array_foreach(v, i, item)
	{
		if (r == 0)
			r = show_texts(item);
	}
	json_object_foreach(v, name, item)
	{
		if (r == 0)
			r = show_texts(item);
	}
	return r;
}

json_t *ward_parse_record(const char *line, size_t len)
{
	json_t *rec = ward_parse(line, len, 0, "");
	const char *name = NULL;
	json_t *v = NULL;
	if (!rec || is_plain(line, len))
		return rec;
	json_object_foreach(rec, name, v)
	{
		if (strcmp(name, "detail") != 0 && show_texts(v) < 0) {
			json_decref(rec);
			return NULL;
		}
	}
	return rec;
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
