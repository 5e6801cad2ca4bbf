/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Guards for the files that the host executes later (conf/host-executed.list), as policy text made
 * for the project at hand: what a git directory holds is guarded where one is there at the start,
 * so that `git init`, `clone` and the like still work inside.
 */
#pragma once

#include <stdbool.h>

#include "enforcer/base/budget.h"
#include "enforcer/base/buf.h"
#include "enforcer/base/err.h"
#include "enforcer/policy/known.h"

/* A line of a shipped policy behind which the guards are added. */
#define WARD_PRESENT_MARK ";@host-executed"

/*
 * A comment in the text behind a [guard]: from there to the next section stand guards that are kept
 * for what an earlier start found (known.h), and this search did not.
 */
#define WARD_REMEMBERED_MARK ";@remembered"

/* A tree that is looked through. */
struct ward_guarded_tree {
	int fd;		  /* its directory; -1: only what holds everywhere is written */
	const char *root; /* where it is served, absolute */
	const char *host; /* its absolute path on the host; NULL: nothing is remembered of it */
	bool part;	  /* it lies in another tree: what stands at its top does so in that one */
};

/*
 * Appends lines "verb = pattern" under a [guard] of their own. The search for repositories takes at
 * most half of the budget; where it ends, guards stand at every depth. known: what earlier starts
 * found on this host is guarded as well, and gets what this search finds; or NULL.
 * -ENOMEM, the errno of a directory that cannot be read, or beyond the budget; err names the
 * repository where it is one's, the file, and the bound.
 */
int ward_present_guards(const struct ward_guarded_tree *tree, struct ward_known *known,
	struct ward_budget *budget, struct ward_buf *text, struct ward_err *err) ward_must_check;

/*
 * Appends lines "verb = pattern" for a git directory that is served at `path` (absolute), and for
 * those of submodules and worktrees beneath it. The caller has begun [guard].
 */
void ward_git_dir_guards(const char *path, struct ward_buf *text);
