/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why a staged change is applied only where it is named itself. Each is judged by the project as it
 * will be with all changes: a link may lead out by way of another one, and a repository may come
 * together from several changes.
 */
#pragma once

#include "enforcer/cli/review/review_find.h"

/* Flags for all changes, by number: "" or a reason, borrowed. *ret is the caller's. -ENOMEM. */
int ward_review_flags(
	const struct ward_review_meant *m, const char ***ret, struct ward_err *err) ward_must_check;
