/* SPDX-License-Identifier: Apache-2.0 */
/* Groups connections by where they went, who made them, and what was decided. */
#include "audit/query/traffic.h"

#include <errno.h>
#include <fnmatch.h>
#include <string.h>

#include "audit/query/query.h"
#include "enforcer/base/buf.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/timestamp.h"

/* What makes a row. */
static const char *const members[] = {
	"action", "host", "addr", "port", "proto", "comm", "via", "rule"};
#define MEMBERS (sizeof(members) / sizeof(*members))

void ward_traffic_clear(struct ward_traffic *n)
{
	json_decref(n->rows);
	json_decref(n->places);
	*n = (struct ward_traffic){0};
}

static bool is_host(const char *asked, const char *have)
{
	return have && (strcmp(asked, have) == 0 || fnmatch(asked, have, FNM_NOESCAPE) == 0);
}

static bool is_asked(const struct ward_traffic *n, enum ward_event_kind kind, const json_t *rec)
{
	const char *action = ward_query_text(rec, "action");
	const char *time = ward_query_text(rec, "time");
	if (kind == WARD_EVENT_DENY &&
		(!action || (strcmp(action, "connect") != 0 && strcmp(action, "resolve") != 0)))
		return false;
	if (kind != WARD_EVENT_DENY && kind != WARD_EVENT_CONNECT)
		return false;
	if (!ward_timestamp_within(time, n->since, n->until))
		return false;
	return !n->host || is_host(n->host, ward_query_text(rec, "host")) ||
	       is_host(n->host, ward_query_text(rec, "addr"));
}

/* What tells rows apart: no text of a record has a NUL, and JSON writes none. */
static char *key_of(const char *session, bool refused, const json_t *rec)
{
	json_t *key = json_pack("[s, b]", session, refused);
	for (size_t i = 0; i < MEMBERS; i++) {
		json_t *v = json_object_get(rec, members[i]);
		json_array_append(key, v ? v : json_null());
	}
	char *text = json_dumps(key, JSON_COMPACT);
	json_decref(key);
	return text;
}

static json_t *add_row(struct ward_traffic *n, const char *session, bool refused, const json_t *rec)
{
	const char *action = ward_query_text(rec, "action");
	json_t *row = json_pack("{s:s, s:s, s:s}", "session", session, "decision",
		refused ? "refused" : "allowed", "direction",
		action && strcmp(action, "accept") == 0 ? "in" : "out");
	for (size_t i = 0; row && i < MEMBERS; i++) {
		json_t *v = json_object_get(rec, members[i]);
		json_object_set(row, members[i], v ? v : json_null());
	}
	json_t *rest = json_pack("{s:i, s:n, s:n, s:O?}", "times", 0, "sent", "received", "first",
		json_object_get(rec, "time"));
	if (!row || !rest || json_object_update_new(row, rest) < 0 ||
		json_array_append_new(n->rows, row) < 0)
		return NULL;
	return row;
}

static int add_bytes(json_t *row, const char *member, const json_t *rec)
{
	const json_t *v = json_object_get(rec, member);
	const json_int_t sum = json_integer_value(json_object_get(row, member));
	return json_is_integer(v)
		       ? json_object_set_new(row, member, json_integer(sum + json_integer_value(v)))
		       : 0;
}

static json_t *row_of(struct ward_traffic *n, const char *session, bool refused, const json_t *rec)
{
	ward_cleanup_free char *key = key_of(session, refused, rec);
	const json_t *place = key ? json_object_get(n->places, key) : NULL;
	if (!key || place)
		return place ? json_array_get(n->rows, (size_t)json_integer_value(place)) : NULL;
	const size_t at = json_array_size(n->rows);
	return json_object_set_new(n->places, key, json_integer((json_int_t)at)) < 0
		       ? NULL
		       : add_row(n, session, refused, rec);
}

int ward_traffic_take(struct ward_traffic *n, const char *session, const json_t *rec)
{
	const enum ward_event_kind kind = ward_query_kind(rec);
	if (!is_asked(n, kind, rec))
		return 0;
	/* An end has how long it took; a refusal has none. */
	const bool begins = !json_object_get(rec, "duration");
	if (!n->rows) {
		n->rows = json_array();
		n->places = json_object();
	}
	if (json_array_size(n->rows) >= WARD_TRAFFIC_ROWS_MAX) {
		n->not_listed += begins;
		return 0;
	}
	json_t *row = row_of(n, session, kind == WARD_EVENT_DENY, rec);
	if (!row)
		return -ENOMEM;
	int r = add_bytes(row, "sent", rec);
	if (r == 0)
		r = add_bytes(row, "received", rec);
	if (r == 0 && begins)
		r = json_integer_set(json_object_get(row, "times"),
			json_integer_value(json_object_get(row, "times")) + 1);
	json_t *time = json_object_get(rec, "time");
	if (r == 0 && time)
		r = json_object_set(row, "last", time);
	return r < 0 ? -ENOMEM : 0;
}

struct reading {
	struct ward_traffic *n;
	const char *session;
};

static int take(void *ctx, const char *line, size_t len, const json_t *rec)
{
	const struct reading *r = ctx;
	(void)line, (void)len;
	if (ward_query_kind(rec) == WARD_EVENT_SESSION_START) {
		const char *network = ward_query_text(
			json_object_get(json_object_get(rec, "detail"), "sandbox"), "network");
		r->n->unrecorded = network && strcmp(network, "none") == 0;
	}
	return rec ? ward_traffic_take(r->n, r->session, rec) : 0;
}

int ward_traffic_read(
	struct ward_traffic *n, const char *session, struct ward_log *log, struct ward_err *err)
{
	struct reading r = {n, session};
	return ward_query_walk(log, true, take, &r, err);
}
