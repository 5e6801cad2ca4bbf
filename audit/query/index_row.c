/* SPDX-License-Identifier: Apache-2.0 */
/* Reads what the index has of a record out of its line. */
#include "audit/query/index_row.h"

#include <errno.h>
#include <string.h>

#include "audit/query/parse.h"
#include "audit/query/scan.h"
#include "enforcer/base/timestamp.h"

static const char *const texts[WARD_INDEX_TEXTS] = {[WARD_INDEX_KIND] = "kind",
	[WARD_INDEX_VERDICT] = "verdict",
	[WARD_INDEX_ACTION] = "action",
	[WARD_INDEX_PATH] = "path",
	[WARD_INDEX_PATH2] = "path2",
	[WARD_INDEX_COMM] = "comm",
	[WARD_INDEX_RULE] = "rule",
	[WARD_INDEX_ERRNO] = "errno",
	[WARD_INDEX_HOST] = "host",
	[WARD_INDEX_ADDR] = "addr",
	[WARD_INDEX_PROTO] = "proto",
	[WARD_INDEX_VIA] = "via",
	[WARD_INDEX_TIME] = "time"};
static const char *const numbers[WARD_INDEX_NUMBERS] = {[WARD_INDEX_PID] = "pid",
	[WARD_INDEX_PROCESS] = "process",
	[WARD_INDEX_PARENT] = "parent",
	[WARD_INDEX_READ] = "read",
	[WARD_INDEX_WRITTEN] = "written",
	[WARD_INDEX_PORT] = "port",
	[WARD_INDEX_SENT] = "sent",
	[WARD_INDEX_RECEIVED] = "received",
	[WARD_INDEX_DURATION] = "duration"};

static int place_of(const struct ward_scan_member *m, const char *const *names, int n)
{
	for (int i = 0; i < n; i++)
		if (strncmp(names[i], m->name, m->name_len) == 0 && !names[i][m->name_len])
			return i;
	return -1;
}

/* -EBADMSG: it takes a parser. */
static int scan_row(struct ward_index_row *row, const char *line, size_t len, char *scratch)
{
	struct ward_scan scan;
	struct ward_scan_member m;
	unsigned seen = 0;
	int r = 0;
	ward_scan_begin(&scan, line, len);
	while ((r = ward_scan_next(&scan, &m)) == 1) {
		const int t = place_of(&m, texts, WARD_INDEX_TEXTS);
		const int n = t < 0 ? place_of(&m, numbers, WARD_INDEX_NUMBERS) : -1;
		if (t < 0 && n < 0)
			continue;
		const unsigned bit = 1U << (t < 0 ? n + WARD_INDEX_TEXTS : t);
		/* Of two members of one name a parser takes the last. */
		if (seen & bit)
			return -EBADMSG;
		seen |= bit;
		if (t >= 0 && m.type == WARD_SCAN_STRING) {
			row->text[t] = m.escaped ? scratch : m.value;
			row->len[t] = m.escaped ? ward_scan_text(&m, scratch) : m.len;
			scratch += m.escaped ? row->len[t] : 0;
		} else if (n >= 0 && m.type == WARD_SCAN_INTEGER) {
			row->number[n] = m.number;
			row->has[n] = true;
		}
	}
	return r;
}

static int parse_row(struct ward_index_row *row, const char *line, size_t len)
{
	row->parsed = ward_parse_record(line, len);
	if (!json_is_object(row->parsed))
		return -EBADMSG;
	for (int i = 0; i < WARD_INDEX_TEXTS; i++) {
		row->text[i] = json_string_value(json_object_get(row->parsed, texts[i]));
		row->len[i] = row->text[i] ? strlen(row->text[i]) : 0;
	}
	for (int i = 0; i < WARD_INDEX_NUMBERS; i++) {
		const json_t *v = json_object_get(row->parsed, numbers[i]);
		row->has[i] = json_is_integer(v);
		row->number[i] = json_integer_value(v);
	}
	return 0;
}

/* As the writer writes it and no other way: the text can be made from the number again. */
static void take_time(struct ward_index_row *row)
{
	char have[WARD_CLOCK_TEXT_MAX] = "", want[WARD_CLOCK_TEXT_MAX];
	const size_t len = row->len[WARD_INDEX_TIME];
	row->ns = -1;
	if (!row->text[WARD_INDEX_TIME] || len >= sizeof(have))
		return;
	memcpy(have, row->text[WARD_INDEX_TIME], len);
	const uint64_t ns = ward_timestamp_ns(have);
	ward_clock_format(ns, want);
	if (ns > 0 && ns <= INT64_MAX && strcmp(have, want) == 0)
		row->ns = (int64_t)ns;
}

int ward_index_row_read(struct ward_index_row *row, const char *line, size_t len, char *scratch)
{
	*row = (struct ward_index_row){0};
	int r = scan_row(row, line, len, scratch);
	if (r == -EBADMSG) {
		*row = (struct ward_index_row){0};
		r = parse_row(row, line, len);
	}
	if (r == 0)
		take_time(row);
	return r;
}

void ward_index_row_clear(struct ward_index_row *row)
{
	json_decref(row->parsed);
	*row = (struct ward_index_row){0};
}
