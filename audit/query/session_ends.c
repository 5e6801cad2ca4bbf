/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the first and the last line of a trail. */
#include "audit/query/session_ends.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "audit/format.h"
#include "audit/query/parse.h"
#include "audit/query/query.h"
#include "audit/terms.h"
#include "enforcer/base/cleanup.h"

/* The record of this kind that the line is, or NULL. */
static json_t *of_kind(const char *line, size_t len, enum ward_event_kind kind)
{
	json_t *record = ward_parse_record(line, len);
	if (record && ward_query_kind(record) == kind)
		return record;
	json_decref(record);
	return NULL;
}

/* *ret becomes the last line, in buf, without its newline; its length, or 0. */
static ssize_t last_line(struct ward_log *log, char *buf, size_t want, const char **ret)
{
	uint64_t size = 0;
	int r = ward_log_size(log, &size);
	if (r < 0)
		return r;
	const uint64_t at = size > want ? size - want : 0;
	ssize_t n = ward_log_read(log, buf, want, at);
	if (n <= 0 || buf[n - 1] != '\n')
		return n < 0 ? n : 0;
	const char *before = memrchr(buf, '\n', (size_t)n - 1);
	if (!before && at > 0)
		return 0;
	*ret = before ? before + 1 : buf;
	return buf + n - 1 - *ret;
}

/* What a prepared session was taken for stands among its first records. */
#define TAKE_WITHIN ((size_t)1 << 20)

struct found {
	json_t *take;
	size_t seen;
};

static int find_take(void *ctx, const char *line, size_t len, const json_t *rec)
{
	struct found *f = ctx;
	f->seen += len;
	(void)line;
	if (rec && ward_query_kind(rec) == WARD_EVENT_TAKE)
		f->take = json_incref((json_t *)(uintptr_t)rec);
	return f->take || f->seen > TAKE_WITHIN ? 1 : 0;
}

void ward_session_taken(json_t *start, const json_t *take)
{
	json_t *detail = json_object_get(start, "detail");
	json_t *time = json_object_get(take, "time");
	if (!json_is_true(json_object_get(detail, "prepared")))
		return;
	if (take && time)
		(void)json_object_set(start, "time", time);
	if (take)
		(void)json_object_update(detail, json_object_get(take, "detail"));
	else
		(void)json_object_set_new(detail, "argv", json_string(WARD_TERM_PREPARED));
}

static int add_take(struct ward_log *log, json_t *start, struct ward_err *err)
{
	struct found f = {NULL, 0};
	if (!json_is_true(json_object_get(json_object_get(start, "detail"), "prepared")))
		return 0;
	int r = ward_query_walk(log, true, find_take, &f, err);
	ward_session_taken(start, f.take);
	json_decref(f.take);
	return r < 0 ? r : 0;
}

int ward_session_ends_read(
	struct ward_log *log, struct ward_session_ends *ret, struct ward_err *err)
{
	/* Most lines are short. */
	static const size_t windows[] = {4096, WARD_LINE_MAX + 1};
	ward_cleanup_free char *buf = malloc(WARD_LINE_MAX + 1);
	*ret = (struct ward_session_ends){0};
	if (!buf)
		return ward_err_sys(err, -ENOMEM, "trail");
	ssize_t n = ward_log_read(log, buf, WARD_LINE_MAX, 0);
	const char *newline = n > 0 ? memchr(buf, '\n', (size_t)n) : NULL;
	if (newline)
		ret->start = of_kind(buf, (size_t)(newline - buf), WARD_EVENT_SESSION_START);
	int r = ret->start ? add_take(log, ret->start, err) : 0;
	if (r < 0)
		return r;
	for (size_t i = 0; n > 0 && i < sizeof(windows) / sizeof(*windows); i++) {
		const char *line = NULL;
		n = last_line(log, buf, windows[i], &line);
		if (n > 0) {
			ret->end = of_kind(line, (size_t)n, WARD_EVENT_SESSION_END);
			return 0;
		}
		n = n == 0 ? 1 : n;
	}
	return n < 0 ? ward_err_sys(err, (int)n, "trail") : 0;
}

void ward_session_ends_clear(struct ward_session_ends *e)
{
	json_decref(e->start);
	json_decref(e->end);
	*e = (struct ward_session_ends){0};
}
