/* SPDX-License-Identifier: Apache-2.0 */
/* What has become of each change, for people, and before that for the ledger. */
#pragma once

#include "enforcer/cli/review/review_find.h"

struct review_told {
	const char *done; /* "applied" */
	size_t n_done, n_left;
	size_t n_deep;	  /* not applied either, but no path can name them */
	size_t n_unnamed; /* paths of the command line that no change has */
	bool dry;
};

/* One change: its path, how it ended, and why. */
void review_tell(struct review_told *t, const char *path, enum ward_apply_end end, const char *why);
/* The sum. The exit status. */
int review_told_end(const struct review_told *t) ward_must_check;
/* Nothing is changed that the ledger does not know of: so many are wanted (one for each of n). */
int review_told_begin(const struct ward_review_meant *m, const char *verb, const bool *wanted,
	size_t n, struct ward_err *err) ward_must_check;
