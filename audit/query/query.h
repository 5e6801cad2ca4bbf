/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a trail: its records as JSON. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "audit/log/log.h"
#include "audit/record_table.h"
#include "enforcer/base/err.h"

/*
 * Called for each whole line with its bytes (without newline) and the parsed object; NULL: the line
 * is no JSON object. Returns 0 to continue; anything else ends the walk and is returned.
 */
typedef int ward_query_fn(void *ctx, const char *line, size_t len, const json_t *record);

/* Walks the log from its beginning. parse false: record is always NULL. */
int ward_query_walk(struct ward_log *log, bool parse, ward_query_fn *fn, void *ctx,
	struct ward_err *err) ward_must_check;

/* The same from *offset on, which becomes the end of the last whole line. */
int ward_query_walk_from(struct ward_log *log, uint64_t *offset, bool parse, ward_query_fn *fn,
	void *ctx, struct ward_err *err) ward_must_check;

/* Lines of a trail that shall be looked at: those at these offsets, then all from `end` on. */
struct ward_query_lines {
	uint64_t *v; /* rising */
	size_t n;
	uint64_t end;
};
/* For ward_cleanup(): frees v. */
void ward_query_lines_clear(struct ward_query_lines *l);
/*
 * Walks the lines at l->v. If the trail was changed, a line may no longer be one (verify reports
 * that). It then comes without a record, as in ward_query_walk().
 */
int ward_query_walk_at(struct ward_log *log, const struct ward_query_lines *l, ward_query_fn *fn,
	void *ctx, struct ward_err *err) ward_must_check;

/* Text of a member, NULL if it is not a string. Borrowed. */
const char *ward_query_text(const json_t *record, const char *member);
/* WARD_EVENT_NONE: of NULL, or a kind that this program does not know. */
enum ward_event_kind ward_query_kind(const json_t *record);
