/* SPDX-License-Identifier: Apache-2.0 */
/* The filter applied to one trail, with the index where there is one. */
#pragma once

/* Bytes of a trail that is verified also where the index answered: some 30 ms. */
#define AUDIT_SELECT_VERIFIED_MAX ((uint64_t)4 << 20)

#include <stdbool.h>

#include "audit/query/index.h"
#include "enforcer/base/err.h"
#include "enforcer/cli/audit/audit_cmd.h"

/* Where to look in a trail: zero; then of audit_select(); audit_selected_clear(). */
struct audit_selected {
	struct ward_query_lines lines;
	struct ward_select select;
	const struct ward_select *sel; /* for the library; NULL: nothing is asked for */
	bool indexed;		       /* not every line is looked at */
};

/*
 * Makes the filter ready for this trail: its processes are found, if they are asked for, with the
 * index where there is one.
 */
int audit_select_prepare(struct audit_cmd *c, const char *session, struct ward_log *log,
	struct ward_err *err) ward_must_check;
/* Does so, and asks the index, if there is one of this trail and it may be asked. */
int audit_select(struct audit_cmd *c, const char *session, struct ward_log *log,
	struct audit_selected *ret, struct ward_err *err) ward_must_check;
void audit_selected_clear(struct audit_selected *s);
/*
 * Says on stderr if the trail is not intact; or, of one where an index answered, that nobody
 * looked. Returns the exit status as audit_trail_warn() does, or 0 if nobody looked.
 */
int audit_select_warn(struct audit_cmd *c, const char *session, struct ward_log *log, bool indexed);
