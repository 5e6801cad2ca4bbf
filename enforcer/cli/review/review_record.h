/* SPDX-License-Identifier: Apache-2.0 */
/* What somebody does with staged changes goes to the ledger (docs/audit-format.md, Reviews). */
#pragma once

#include "enforcer/cli/review/review_find.h"

/* Of the file beside the trail: of a million changes with long names. */
#define REVIEW_LINES_MAX ((size_t)2 << 30)

/* "show", "apply", "applied", …: so many changes, and so many that were wanted and not done. */
struct review_record {
	const char *verb;
	size_t changes, left;
	struct ward_buf *lines; /* of the file beside the trail; NULL: none. It may be changed */
};

/* Appends the entry, and to disk. */
int review_record(const struct ward_review_meant *m, const struct review_record *w,
	struct ward_err *err) ward_must_check;
/*
 * A change, and how it ended, as a line of that file. trees: sandbox paths of the roots, NULL where
 * the policy serves none. before, after: a digest, or "". part: what came in the place of what is
 * staged; NULL: nothing did.
 */
void review_record_line(struct ward_buf *lines, const char *const trees[16],
	const struct ward_change *c, const struct ward_part *part, const char *before,
	const char *after, enum ward_apply_end end, const char *done, const char *why);
