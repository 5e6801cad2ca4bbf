/* SPDX-License-Identifier: Apache-2.0 */
/* What people did with the changes that a session staged, for its report. */
#pragma once

#include <jansson.h>

#include "audit/verify/ledger_view.h"
#include "enforcer/base/err.h"

/*
 * Fills `reviewed` of a report of ward_report_collect() from the genuine entries of known (NULL:
 * there are none) and the files review.N in the session's directory dir_fd: [{time, what, who,
 * manifest, path, before, after, text}], all texts. who: "user UID". Of entries and of their
 * changes the first WARD_REPORT_PATHS each; what is left out is counted in a last row, whose what
 * is "more".
 */
int ward_report_reviews(json_t *report, int dir_fd, const struct ward_ledger_session *known,
	struct ward_err *err) ward_must_check;
