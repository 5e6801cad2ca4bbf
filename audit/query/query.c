/* SPDX-License-Identifier: Apache-2.0 */
/* Walks the records of a trail. */
#include "audit/query/query.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "audit/format.h"
#include "audit/log/lines.h"
#include "audit/query/parse.h"
#include "enforcer/base/cleanup.h"

int ward_query_walk(
	struct ward_log *log, bool parse, ward_query_fn *fn, void *ctx, struct ward_err *err)
{
	uint64_t offset = 0;
	return ward_query_walk_from(log, &offset, parse, fn, ctx, err);
}

int ward_query_walk_from(struct ward_log *log, uint64_t *offset, bool parse, ward_query_fn *fn,
	void *ctx, struct ward_err *err)
{
	ward_cleanup(ward_lines_close) struct ward_lines lines = {0};
	struct ward_lines_line text;
	int r = ward_lines_open(&lines, log, *offset);
	int e = r;
	while (r == 0 && (e = ward_lines_next(&lines, &text)) == 1) {
		if (!text.whole)
			continue;
		*offset = text.offset + text.len + 1;
		json_t *record = parse ? ward_parse_record(text.p, text.len) : NULL;
		r = fn(ctx, text.p, text.len, json_is_object(record) ? record : NULL);
		json_decref(record);
	}
	if (e < 0)
		return ward_err_sys(err, e, "trail");
	return r;
}

void ward_query_lines_clear(struct ward_query_lines *l)
{
	free(l->v);
	*l = (struct ward_query_lines){0};
}

/* The line at offset, into buf (WARD_LINE_MAX bytes). Its length; 0: there is none. */
static ssize_t read_line(struct ward_log *log, uint64_t offset, char *buf)
{
	/* Most are short. */
	static const size_t first = 4096;
	for (size_t want = first;; want = WARD_LINE_MAX) {
		ssize_t n = ward_log_read(log, buf, want, offset);
		if (n < 0)
			return n;
		const char *nl = n > 0 ? memchr(buf, '\n', (size_t)n) : NULL;
		if (nl || want == WARD_LINE_MAX)
			return nl ? nl - buf : 0;
	}
}

int ward_query_walk_at(struct ward_log *log, const struct ward_query_lines *l, ward_query_fn *fn,
	void *ctx, struct ward_err *err)
{
	ward_cleanup_free char *buf = malloc(WARD_LINE_MAX);
	int r = buf ? 0 : ward_err_sys(err, -ENOMEM, "trail");
	for (size_t i = 0; r == 0 && i < l->n; i++) {
		ssize_t len = read_line(log, l->v[i], buf);
		if (len < 0)
			return ward_err_sys(err, (int)len, "trail");
		json_t *record = ward_parse_record(buf, (size_t)len);
		r = fn(ctx, buf, (size_t)len, json_is_object(record) ? record : NULL);
		json_decref(record);
	}
	return r;
}

const char *ward_query_text(const json_t *record, const char *member)
{
	return json_string_value(json_object_get(record, member));
}

enum ward_event_kind ward_query_kind(const json_t *record)
{
	const char *kind = record ? ward_query_text(record, "kind") : NULL;
	return kind ? ward_record_kind_find(kind, strlen(kind)) : WARD_EVENT_NONE;
}
