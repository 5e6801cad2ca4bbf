/* SPDX-License-Identifier: Apache-2.0 */
/* What a session did to the branches of a repository, in the trail. */
#pragma once

#include "enforcer/session/guard/guard.h"
#include "enforcer/session/tree/git_heads.h"

/*
 * As many records of kind `git` as it takes, of the tree that stands at path inside; none where
 * nothing is new and all was looked at.
 */
int ward_record_git(
	struct ward_guard *g, const char *path, const struct ward_git_made *made) ward_must_check;
