/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a session did to the branches of a repository: HEAD and refs/heads before and after it, and
 * the commits between. An agent may have written every file there, so no program is run and nothing
 * is followed that leads elsewhere: files beneath .git are opened without links, on the tree's own
 * mount, and read up to a bound. Loose objects are unpacked by a process that can do nothing else
 * (git_objects.h), and count only where their content has the digest that they are named by.
 *
 * Not looked at, which `why` says where it matters: a git directory elsewhere (worktrees,
 * submodules), repositories beneath the top of the tree, reftables, packed objects, objects of
 * alternates, tags.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "enforcer/base/err.h"
#include "enforcer/session/tree/git_objects.h"

/* Branches, and bytes of one's name (refs/heads/ is in front). */
#define WARD_GIT_REFS_MAX 512U
#define WARD_GIT_REF_NAME_MAX 256U
/* Commits of one session; those beyond are counted as far as they were found. */
#define WARD_GIT_COMMITS_MAX 1024U
#define WARD_GIT_WHY_MAX 200U

struct ward_git_ref {
	char name[WARD_GIT_REF_NAME_MAX]; /* "HEAD" where it names a commit itself */
	char id[WARD_GIT_ID_SIZE];
};

/* Zero it; ward_git_heads_clear(). */
struct ward_git_heads {
	bool there;		  /* a git directory at the top of the tree */
	struct ward_git_ref *ref; /* owned, by name */
	size_t n;
	char why[WARD_GIT_WHY_MAX]; /* something was not looked at; "": all was */
};
/* Looks at the tree (O_PATH directory, borrowed). -ENOMEM. */
int ward_git_heads_read(int tree, struct ward_git_heads *ret) ward_must_check;
void ward_git_heads_clear(struct ward_git_heads *h);

struct ward_git_moved {
	char name[WARD_GIT_REF_NAME_MAX];
	char before[WARD_GIT_ID_SIZE], after[WARD_GIT_ID_SIZE]; /* "": it was not there */
};
struct ward_git_commit {
	char id[WARD_GIT_ID_SIZE], tree[WARD_GIT_ID_SIZE];
};
/* Zero it; ward_git_made_clear(). */
struct ward_git_made {
	struct ward_git_moved *moved; /* owned */
	size_t n_moved;
	struct ward_git_commit *commit; /* owned; reachable from a branch, and from none before */
	size_t n_commits;
	char why[WARD_GIT_WHY_MAX];
};
/* What is new of the tree since `before`. -ENOMEM. */
int ward_git_made_find(
	int tree, const struct ward_git_heads *before, struct ward_git_made *ret) ward_must_check;
void ward_git_made_clear(struct ward_git_made *m);
