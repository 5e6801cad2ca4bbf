/* SPDX-License-Identifier: Apache-2.0 */
/* The words of `wardfs review`, and what they were given. */
#pragma once

#include "enforcer/cli/review/review_find.h"
#include "enforcer/cli/review/review_named.h"

/* Of a patch: it is made in memory, so that there is a whole one or none. */
#define REVIEW_PATCH_MAX ((size_t)2 << 30)

/* A patch with escapes for what is not printable; colours are ours. */
void review_show_patch(const struct ward_buf *text, bool color);
/* Does standard output take colours? */
bool review_has_colors(void);
/*
 * What applies have done, and an undo has not taken back: the last one of each change, or NULL. The
 * array is the caller's; NULL: no memory.
 */
const struct ward_done **review_applied_marks(const struct ward_review_meant *m);

/* Each prints on stdout what it has to say; 0, an exit status, or a negative errno with err. */
int review_show(const struct review_args *a, struct ward_review_meant *m,
	struct ward_err *err) ward_must_check;
int review_diff(const struct review_args *a, struct ward_review_meant *m,
	struct ward_err *err) ward_must_check;
int review_apply(const struct review_args *a, struct ward_review_meant *m,
	struct ward_err *err) ward_must_check;
int review_undo(const struct review_args *a, struct ward_review_meant *m,
	struct ward_err *err) ward_must_check;
/* Runs a->command; its exit status. */
int review_check(const struct review_args *a, struct ward_review_meant *m,
	struct ward_err *err) ward_must_check;
int review_sign(const struct review_args *a, struct ward_review_meant *m,
	struct ward_err *err) ward_must_check;
int review_export(const struct review_args *a, struct ward_review_meant *m,
	struct ward_err *err) ward_must_check;
/* mark, log, back: of a session that runs; log of one that has ended, too. */
int review_steps(const struct review_args *a, struct ward_err *err) ward_must_check;
/* Of two sessions. */
int review_compare(const struct review_args *a, struct ward_err *err) ward_must_check;
int review_discard(const struct review_args *a, struct ward_review_meant *m,
	struct ward_err *err) ward_must_check;
