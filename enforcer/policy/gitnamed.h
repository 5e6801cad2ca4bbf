/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a repository's configuration names in the tree and git then runs or reads as configuration:
 * core.hooksPath, include.path, the programs of filters, aliases and the like (gitconfig(1)).
 * Writing such a file is writing the configuration. Git's files are read, nothing is executed.
 */
#pragma once

#include <stdbool.h>

#include "enforcer/base/budget.h"
#include "enforcer/base/buf.h"
#include "enforcer/base/err.h"

struct ward_named {
	int tree_fd;		     /* the tree's directory */
	const char *root;	     /* where that is served, as a pattern */
	struct ward_buf *text;	     /* gets lines "read = pattern" */
	size_t section;		     /* where in text the guards begin: those are not said again */
	unsigned lines, files, hops; /* how many, of what is bounded */
	struct ward_budget *budget;  /* what all of this may cost */
	void *read;		     /* owned: which configuration was read (tsearch(3)) */
	struct ward_buf culprit;     /* owned: the first file that ended it, relative to the tree */
};

/* A git's file with configuration has at most these bytes. */
#define WARD_NAMED_FILE_MAX ((size_t)1 << 20)

/* Frees what it owns. */
void ward_named_clear(struct ward_named *n);

/*
 * Guards what the configuration of a git directory names. Paths are relative to the tree, without
 * symbolic links, "" is the top. work_tree: where its programs run; NULL: what core.worktree says,
 * else the git directory. What lies outside the tree is left alone, so is what begins with "~".
 * -E2BIG: more than anyone has; -EFBIG, -EACCES: a configuration that cannot be read; -ELOOP;
 * -ETIME, -EDQUOT: beyond the budget; -ETIMEDOUT: it leads to a file system that does not answer.
 */
int ward_named_git_dir(
	struct ward_named *n, const char *git_dir, const char *work_tree) ward_must_check;

/*
 * The directory that `commondir` of a git directory names, and in which git finds objects, refs,
 * hooks and config: 1 and its path appended to ret; 0: there is none in the tree. Guards links on
 * the way, and the name if nothing is there. Errors as above.
 */
int ward_named_common(
	struct ward_named *n, const char *git_dir, struct ward_buf *ret) ward_must_check;

/* The same for what `.npmrc` at the top names; what cannot be read there names nothing. */
int ward_named_npmrc(struct ward_named *n) ward_must_check;

/*
 * A name at the top that programs of the host follow (such as .vscode) may be a symbolic link, or
 * lie behind one: guards the links and what they lead to in the tree, also where it is missing.
 */
int ward_named_link(struct ward_named *n, const char *name) ward_must_check;

/*
 * For a `.git` in dir that is a file or a symbolic link: 1 and the git directory it names appended
 * to ret_dir, if that lies in the tree; 0: it does not. Guards links on the way. Errors as above.
 */
int ward_named_git_file(
	struct ward_named *n, const char *dir, struct ward_buf *ret_dir) ward_must_check;
