/* SPDX-License-Identifier: Apache-2.0 */
/* Turns a line of a trail into the columns of its row in the index. */
#include "audit/query/index_bind.h"

#include <errno.h>
#include <jansson.h>
#include <string.h>

#include "audit/query/parse.h"
#include "audit/query/scan.h"

static const struct {
	const char *name;
	size_t len;
	bool text;
} columns[] = {
#define TEXT(n)                                                                                    \
	{                                                                                          \
		(n), sizeof(n) - 1, true                                                           \
	}
#define NUMBER(n)                                                                                  \
	{                                                                                          \
		(n), sizeof(n) - 1, false                                                          \
	}
	TEXT("time"), TEXT("kind"), TEXT("verdict"), TEXT("action"), TEXT("path"), TEXT("path2"),
	TEXT("comm"), TEXT("rule"), TEXT("errno"), NUMBER("pid"), NUMBER("process"),
	NUMBER("parent"), NUMBER("read"), NUMBER("written")};
#define COLUMNS (sizeof(columns) / sizeof(*columns))

static int column_of(const struct ward_scan_member *m)
{
	for (size_t i = 0; i < COLUMNS; i++)
		if (m->name_len == columns[i].len &&
			memcmp(m->name, columns[i].name, m->name_len) == 0)
			return (int)i;
	return -1;
}

/* -EBADMSG: it takes a parser. */
static int bind_scanned(sqlite3_stmt *s, int first, const char *line, size_t len, char *scratch)
{
	struct ward_scan scan;
	struct ward_scan_member m;
	unsigned seen = 0;
	int r = 0;
	ward_scan_begin(&scan, line, len);
	while ((r = ward_scan_next(&scan, &m)) == 1) {
		int c = column_of(&m);
		if (c < 0)
			continue;
		/* Of two members of one name a parser takes the last. */
		if (seen >> c & 1)
			return -EBADMSG;
		seen |= 1U << c;
		if (columns[c].text && m.type == WARD_SCAN_STRING) {
			const char *text = m.value;
			size_t n = m.len;
			if (m.escaped) {
				text = scratch;
				n = ward_scan_text(&m, scratch);
				scratch += n;
			}
			(void)sqlite3_bind_text(s, first + c, text, (int)n, SQLITE_STATIC);
		} else if (!columns[c].text && m.type == WARD_SCAN_INTEGER) {
			(void)sqlite3_bind_int64(s, first + c, m.number);
		}
	}
	return r;
}

static int bind_parsed(sqlite3_stmt *s, int first, const char *line, size_t len)
{
	json_t *rec = ward_parse_record(line, len);
	bool good = json_is_object(rec);
	for (size_t i = 0; good && i < COLUMNS; i++) {
		const json_t *v = json_object_get(rec, columns[i].name);
		if (columns[i].text && json_is_string(v))
			(void)sqlite3_bind_text(
				s, first + (int)i, json_string_value(v), -1, SQLITE_TRANSIENT);
		else if (!columns[i].text && json_is_integer(v))
			(void)sqlite3_bind_int64(s, first + (int)i, json_integer_value(v));
	}
	json_decref(rec);
	return good ? 0 : -EBADMSG;
}

int ward_index_bind(sqlite3_stmt *s, int first, const char *line, size_t len, char *scratch)
{
	(void)sqlite3_clear_bindings(s);
	int r = bind_scanned(s, first, line, len, scratch);
	if (r != -EBADMSG)
		return r;
	(void)sqlite3_clear_bindings(s);
	return bind_parsed(s, first, line, len);
}
