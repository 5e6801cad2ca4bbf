/* SPDX-License-Identifier: Apache-2.0 */
/* The words of `wardfs review`, and what they were given. */
#pragma once

#include "enforcer/cli/review/review_find.h"
#include "enforcer/cli/review/review_named.h"

/* Of a patch: it is made in memory, so that there is a whole one or none. */
#define REVIEW_PATCH_MAX ((size_t)2 << 30)

/* Each prints on stdout what it has to say; 0, an exit status, or a negative errno with err. */
int review_show(const struct review_args *a, struct ward_review_meant *m,
	struct ward_err *err) ward_must_check;
int review_diff(const struct review_args *a, struct ward_review_meant *m,
	struct ward_err *err) ward_must_check;
int review_apply(const struct review_args *a, struct ward_review_meant *m,
	struct ward_err *err) ward_must_check;
int review_undo(const struct review_args *a, struct ward_review_meant *m,
	struct ward_err *err) ward_must_check;
int review_export(const struct review_args *a, struct ward_review_meant *m,
	struct ward_err *err) ward_must_check;
int review_discard(const struct review_args *a, struct ward_review_meant *m,
	struct ward_err *err) ward_must_check;
