/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the owner's policy file for a project said before: WARD_OWNER_HISTORY_MAX texts at most, in
 * CONFIG/wardfs/history/NAME/N, the highest N being the last one. No session can write
 * there (plan/policy_files.h). The caller does all of it as the owner (as_owner.h); no
 * link and nothing but a regular file is followed or opened below CONFIG/wardfs.
 */
#pragma once

#include "enforcer/base/buf.h"
#include "enforcer/base/err.h"

#define WARD_OWNER_HISTORY_MAX 20U

/*
 * Keeps text as the last one. An empty text stands for "there was no file". file: the owner's
 * policy file, CONFIG/wardfs/projects/NAME.policy.
 */
int ward_owner_history_push(
	const char *file, const struct ward_buf *text, struct ward_err *err) ward_must_check;

/* Appends the last text to ret. 1: got it, 0: nothing is kept. */
int ward_owner_history_last(
	const char *file, struct ward_buf *ret, struct ward_err *err) ward_must_check;

/* Forgets the last one, which was put back. */
int ward_owner_history_pop(const char *file, struct ward_err *err) ward_must_check;
