/* SPDX-License-Identifier: Apache-2.0 */
/* The table "The session" of a report: who, what, under which policy, when by which clock. */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "enforcer/base/buf.h"

/* One row. figure: the value is a number of ours; else it can hold any text of the trail. */
typedef void ward_report_fact_fn(
	struct ward_buf *b, const char *name, const char *value, bool figure);

/* Calls fn for each row about a report of ward_report_collect(). */
void ward_report_facts(struct ward_buf *b, const json_t *report, ward_report_fact_fn *fn);

/*
 * The places that the session saw, of which wardfs recorded accesses, or recorded none: at most
 * `most` names in a list, those first that people ask about; 0: all. Returns how many there are in
 * all.
 */
size_t ward_report_places(struct ward_buf *b, const json_t *report, bool recorded, size_t most);

/* What was done to a file as a report calls it: a verb of ward_diff_collect(). */
const char *ward_report_verb(const char *verb);
/* Of a session without connections: why there are none. */
const char *ward_report_no_network(const json_t *report);
