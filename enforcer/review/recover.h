/* SPDX-License-Identifier: Apache-2.0 */
/* What an apply or an undo that was ended left behind. */
#pragma once

#include "enforcer/review/applied.h"

/*
 * Looks at what the last apply announced, if it has no end: marks in `a` and in the log what did
 * not come about, and removes what was made ready for it. roots: as in ward_apply; what is of one
 * that is -1 stays as it is.
 */
int ward_applied_recover(int undo_fd, const int *roots, struct ward_applied *a,
	struct ward_undo_log *log) ward_must_check;
/* syncfs(2) for each file system of these directories (-1: none) and of undo_fd. */
int ward_sync_all(const int *roots, size_t n, int undo_fd) ward_must_check;
