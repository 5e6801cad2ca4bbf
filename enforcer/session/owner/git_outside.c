/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Serves a git directory outside of the project where it is the project's own. `.git`, and all that
 * lies in the project, may come from anybody who worked there. So nothing in the project can be a
 * reason to serve what lies elsewhere: the directory that is served has to say so
 * (session/owner/worktree.h).
 */
#include "enforcer/session/owner/git_outside.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/policy/git_guards.h"
#include "enforcer/policy/load.h"
#include "enforcer/policy/policy.h"
#include "enforcer/session/owner/worktree.h"

/* Directories above one that are looked at: more than PATH_MAX can name. */
#define ABOVE_MAX 4096

static bool exists(int dir, const char *path)
{
	struct stat st;
	return fstatat(dir, path, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

/* The path of an open directory, as the kernel names it and as a policy can. */
static bool path_of(int fd, char **ret)
{
	if (ward_fd_path(fd, ret) < 0)
		return false;
	for (const char *c = *ret; *c; c++)
		if ((unsigned char)*c < 0x20 || strchr("];#~\\\x7f", *c))
			return false;
	/* A blank at the end of a value is cut: that would be another directory. */
	const size_t n = strlen(*ret);
	return n == 0 || (*ret)[n - 1] != ' ';
}

/* Is the directory `fd` the directory `top`, or beneath it? True also where that is unknown. */
static bool within(int fd, int top)
{
	ward_cleanup_fd int here = ward_git_open_dir(fd, ".");
	for (int i = 0; here >= 0 && i < ABOVE_MAX && !ward_git_same_dir(here, top); i++) {
		ward_cleanup_fd int below = ward_steal_fd(&here);
		here = ward_git_open_dir(below, "..");
		if (here >= 0 && ward_git_same_dir(here, below))
			return false;
	}
	return true;
}

/* own: the git directory, in which a worktree's own state is. path: what it shares with others. */
static void put_outside(struct ward_buf *text, const char *path, const char *own)
{
	static const char *const written[] = {"objects", "refs", "logs", "packed-refs",
		"packed-refs.*", "info/refs", "shallow", "shallow.lock", "lfs"};
	ward_buf_printf(text,
		"\n; The git directory of this work tree lies outside of it: served at its own path, so\n"
		"; that git finds it. Work at the project's own path inside, not in /workspace.\n"
		"[tree %s]\nsource = %s\nat = none\n\n[files]\n",
		path, path);
	ward_cleanup(ward_buf_clear) struct ward_buf q = WARD_BUF_INIT;
	ward_pattern_quote(&q, path, strlen(path));
	const char *p = ward_buf_str(&q);
	ward_buf_printf(text, "read = %s\n; what commits write\n", p);
	for (size_t i = 0; i < sizeof(written) / sizeof(written[0]); i++)
		ward_buf_printf(text, "write = %s/%s\n", p, written[i]);
	ward_buf_puts(text, "write = ");
	ward_pattern_quote(text, own, strlen(own));
	ward_buf_puts(text, "\n\n[guard]\n; what git on the host executes later\n");
	ward_git_dir_guards(path, text);
	ward_buf_printf(text, "read = %s/config.lock\n", p);
}

static bool is_own(int project, int git, int common)
{
	if (git < 0 || common < 0 || !exists(common, "objects") || !exists(common, "HEAD") ||
		within(git, project) || within(common, project))
		return false;
	return ward_git_same_dir(git, common) ? ward_git_is_submodule(git, project)
					      : ward_git_is_worktree(git, common, project);
}

bool ward_git_outside(int project, struct ward_buf *text)
{
	ward_cleanup_free char *path = NULL, *own = NULL;
	ward_cleanup_fd int git = -1, common = -1;
	ward_git_named(project, &git, &common);
	if (!is_own(project, git, common) || !path_of(common, &path) || !path_of(git, &own))
		return false;
	put_outside(text, path, own);
	return true;
}

/* The git directory of the project that this file of the owner's is for; -1: unknown. */
static int git_of(const char *file)
{
	ward_cleanup(ward_buf_clear) struct ward_buf path = WARD_BUF_INIT;
	const char *slash = strrchr(file, '/');
	if (!slash || ward_project_file_path(slash + 1, &path) < 0)
		return -1;
	ward_buf_puts(&path, "/.git");
	return ward_buf_error(&path) < 0 ? -1 : ward_git_open_dir(AT_FDCWD, ward_buf_str(&path));
}

static bool is_served(const struct ward_policy *p, const char *path)
{
	const struct ward_settings *s = ward_policy_settings(p);
	for (size_t i = 0; i < s->n_trees; i++)
		if (s->trees[i].source && ward_path_beneath(path, s->trees[i].source))
			return true;
	return false;
}

void ward_git_shared(
	const char *shared, int project, const struct ward_policy *p, struct ward_buf *text)
{
	ward_cleanup_free char *path = NULL;
	ward_cleanup_fd int git = -1, common = -1;
	if (!shared || project < 0)
		return;
	ward_cleanup_fd int main = git_of(shared);
	ward_git_named(project, &git, &common);
	if (main >= 0 && common >= 0 && ward_git_same_dir(main, common) && path_of(common, &path) &&
		!is_served(p, path))
		(void)ward_git_outside(project, text);
}
