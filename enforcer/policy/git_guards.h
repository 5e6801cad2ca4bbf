/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Guards for the files that the host executes later (conf/host-executed.list), as policy text made
 * for the project at hand: what a git directory holds is guarded where one is there at the start,
 * so that `git init`, `clone` and the like still work inside.
 */
#pragma once

#include "enforcer/base/budget.h"
#include "enforcer/base/buf.h"
#include "enforcer/base/err.h"

/* A line of a shipped policy behind which the guards are added. */
#define WARD_PRESENT_MARK ";@host-executed"

/*
 * Appends lines "verb = pattern" under a [guard] of their own. tree_fd: the project's directory,
 * served at /workspace; -1: none is at hand, only what holds everywhere is written. The search for
 * repositories takes at most half of the budget; where it ends, guards stand at every depth.
 * -ENOMEM, the errno of a directory that cannot be read, or beyond the budget; err names the
 * repository where it is one's, the file, and the bound.
 */
int ward_present_guards(int tree_fd, struct ward_budget *budget, struct ward_buf *text,
	struct ward_err *err) ward_must_check;

/*
 * Appends lines "verb = pattern" for a git directory that is served at `path` (absolute), and for
 * those of submodules and worktrees beneath it. The caller has begun [guard].
 */
void ward_git_dir_guards(const char *path, struct ward_buf *text);
