/* SPDX-License-Identifier: Apache-2.0 */
/* Asks about changes before they are applied, as `git add --patch` does. */
#pragma once

#include "enforcer/cli/review/review_find.h"

/*
 * Shows each change that is `wanted`, and its hunks if it changes a text, on standard output. Reads
 * the answers from standard input; its end is a "q". Afterwards `wanted` has those that somebody
 * said yes to, and parts the content of those of which not all hunks are wanted. What was shown is
 * compared with the digests of the changes. ends and why of ap get what could not be shown. The
 * caller acts as the owner.
 */
int review_ask(struct ward_review_meant *m, struct ward_apply *ap, bool *wanted,
	struct ward_part *parts, struct ward_err *err) ward_must_check;
