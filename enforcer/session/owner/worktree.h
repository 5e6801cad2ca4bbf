/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which repository a work tree belongs to. `.git`, and all that lies in the project, may come from
 * anybody who worked there, so nothing in the project is believed alone. Two layouts of git are
 * known (gitrepository-layout(5)), and each is shown by the directory that the project's `.git`
 * names: COMMON/worktrees/NAME is a worktree's and says in `gitdir` where the work tree is, and a
 * submodule's says so in core.worktree of its configuration. Sessions do not write there.
 */
#pragma once

#include <stdbool.h>

#include "enforcer/base/err.h"
#include "enforcer/session/owner/identity.h"
#include "enforcer/session/owner/project.h"

/* O_PATH; -errno is not told: -1. */
int ward_git_open_dir(int at, const char *path);
bool ward_git_same_dir(int a, int b);
/* The git directory that the project's `.git` names, and what it shares with others, the caller's;
 * -1: none. */
void ward_git_named(int project, int *ret_git, int *ret_common);
/* Does COMMON/worktrees/NAME, which is `git`, say that its work tree is the project? */
bool ward_git_is_worktree(int git, int common, int project);
/* Does core.worktree of this git directory say so? */
bool ward_git_is_submodule(int git, int project);

/*
 * The main checkout whose policy the owner may want for this work tree too, the caller's; NULL:
 * none. It is one where the owner has no policy for the project, the project is a worktree as
 * above, the owner has a policy for the main checkout, and all of these directories are the
 * owner's. It is for an offer alone: a session of the main checkout can make a work tree that it
 * says lies elsewhere, and a session there the `.git` that points back; two agents, or one that
 * worked in both, would move grants from one project to another. Nothing that git keeps tells
 * whether the owner made either. With the owner's rights. config: the owner's configuration
 * directory, or NULL.
 */
int ward_worktree_main(const struct ward_project *p, const struct ward_identity *id,
	const char *config, char **ret_path, struct ward_err *err) ward_must_check;
/*
 * The owner shares a policy between projects by a symbolic link: where the owner's file for the
 * project is one to another file beside it, that one's absolute path, the caller's; else NULL. With
 * the owner's rights.
 */
int ward_shared_policy(const struct ward_identity *id, const char *config, const char *project,
	char **ret_file, struct ward_err *err) ward_must_check;
