/* SPDX-License-Identifier: Apache-2.0 */
/* What a person should know of the search for repositories before a command starts. */
#pragma once

#include "enforcer/base/buf.h"
#include "enforcer/policy/known.h"

/* Is the repository guarded although this start did not find it? */
bool ward_guards_remembered(const struct ward_known *k, const struct ward_known_repo *repo);
/* Why a search that ended early matters, and what to do; appended to the two. */
void ward_guards_stopped(
	const struct ward_known_tree *t, struct ward_buf *why, struct ward_buf *fix);

/* Does this entry guard every directory of a tree? Then why and fix as above. */
bool ward_guards_everywhere(const struct ward_known *k, const struct ward_known_repo *repo,
	struct ward_buf *why, struct ward_buf *fix);

/* A line for each search that ended early or found too much, and one for what is guarded as
 * remembered. -ENOMEM. */
int ward_guards_say(const struct ward_known *k, void (*say)(const char *text),
	struct ward_err *err) ward_must_check;
