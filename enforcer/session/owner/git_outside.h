/* SPDX-License-Identifier: Apache-2.0 */
/* The git directory of a worktree or a submodule, which lies outside of the project. */
#pragma once

#include <stdbool.h>

#include "enforcer/base/buf.h"
#include "enforcer/policy/policy.h"

/*
 * If the project's `.git` names a real git directory outside the project (worktree.h), appends to a
 * policy's text a tree that serves it at its own path, with the guards that its parts need. False:
 * it is not one, and nothing is appended. project: kept. What fails is in ward_buf_error(text).
 */
bool ward_git_outside(int project, struct ward_buf *text);

/*
 * The same for a worktree that shares the owner's policy of its main checkout (shared, as
 * ward_shared_policy() says; NULL: does nothing): the owner said whose worktree it is, so of that
 * checkout alone, and unless p serves it.
 */
void ward_git_shared(
	const char *shared, int project, const struct ward_policy *p, struct ward_buf *text);
