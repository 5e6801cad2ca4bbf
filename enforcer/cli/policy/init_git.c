/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Serves a git directory outside of the project where it is the project's own. `.git`, and all that
 * lies in the project, may come from whoever worked there; so nothing in the project can be a
 * reason to serve what lies elsewhere. Two layouts of git are known (gitrepository-layout(5)), and
 * each is shown by the directory that is served: COMMON/worktrees/NAME is a worktree's and says in
 * `gitdir` where the work tree is, and a submodule's says so in core.worktree of its configuration.
 */
#include "enforcer/cli/policy/init_git.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/policy/git_guards.h"
#include "enforcer/policy/policy.h"

/* Directories above one that are looked at: more than PATH_MAX can name. */
#define ABOVE_MAX 4096

/* A regular file of at most `max` bytes. */
static bool read_small(int dir, const char *name, size_t max, struct ward_buf *ret)
{
	ward_cleanup_fd int fd = ward_fd_open_regular(dir, name, O_RDONLY);
	return fd >= 0 && ward_fd_read_all(fd, max, ret) >= 0;
}

/* The first line of a small file, without what is in front of it. False: none, or no such line. */
static bool first_line(int dir, const char *name, const char *front, struct ward_buf *ret)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	if (!read_small(dir, name, 8192, &b))
		return false;
	size_t n = strlen(front), len = strcspn(ward_buf_str(&b), "\n");
	if (len <= n || strncmp(ward_buf_str(&b), front, n) != 0)
		return false;
	ward_buf_add(ret, b.data + n, len - n);
	return ward_buf_error(ret) == 0;
}

static bool exists(int dir, const char *path)
{
	struct stat st;
	return fstatat(dir, path, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

static bool same_dir(int a, int b)
{
	struct stat x, y;
	return fstat(a, &x) == 0 && fstat(b, &y) == 0 && x.st_dev == y.st_dev &&
	       x.st_ino == y.st_ino;
}

/* The path of an open directory, as the kernel names it and as a policy can. */
static bool path_of(int fd, char **ret)
{
	if (ward_fd_path(fd, ret) < 0)
		return false;
	for (const char *c = *ret; *c; c++)
		if ((unsigned char)*c < 0x20 || strchr("];#~\\\x7f", *c))
			return false;
	return true;
}

static int open_dir(int at, const char *path)
{
	return openat(at, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* Is the directory `fd` the directory `top`, or beneath it? Where it cannot be told: yes. */
static bool within(int fd, int top)
{
	ward_cleanup_fd int here = open_dir(fd, ".");
	for (int i = 0; here >= 0 && i < ABOVE_MAX && !same_dir(here, top); i++) {
		ward_cleanup_fd int below = ward_steal_fd(&here);
		here = open_dir(below, "..");
		if (here >= 0 && same_dir(here, below))
			return false;
	}
	return true;
}

/* "PROJECT/.git" or a directory, as the git directory names the project: is it this one? */
static bool names(int git, const char *path, int project)
{
	ward_cleanup_fd int fd = open_dir(git, path);
	return fd >= 0 && same_dir(fd, project);
}

/* Of a worktree: COMMON/worktrees/NAME, whose `gitdir` is PROJECT/.git. */
static bool is_worktree(int git, int common, int project)
{
	ward_cleanup(ward_buf_clear) struct ward_buf back = WARD_BUF_INIT;
	ward_cleanup_fd int above = open_dir(git, "../..");
	ward_cleanup_fd int worktrees =
		above >= 0
			? openat(above, "worktrees", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
			: -1;
	ward_cleanup_fd int parent = open_dir(git, "..");
	if (worktrees < 0 || parent < 0 || !same_dir(above, common) ||
		!same_dir(parent, worktrees) || !first_line(git, "gitdir", "", &back))
		return false;
	char *slash = strrchr(ward_buf_str(&back), '/');
	if (!slash || strcmp(slash, "/.git") != 0)
		return false;
	*slash = 0;
	return names(git, back.data, project);
}

/* Of a submodule: core.worktree, relative to the git directory. */
static bool is_submodule(int git, int project)
{
	ward_cleanup(ward_buf_clear) struct ward_buf config = WARD_BUF_INIT;
	if (!read_small(git, "config", 1 << 20, &config))
		return false;
	const char *s = strstr(ward_buf_str(&config), "\tworktree = ");
	if (!s)
		return false;
	s += strlen("\tworktree = ");
	ward_cleanup_free char *path = strndup(s, strcspn(s, "\n"));
	return path && names(git, path, project);
}

/* own: the git directory, in which a worktree's own state is. path: what it shares with others. */
static void put_outside(struct ward_buf *text, const char *path, const char *own)
{
	static const char *const written[] = {"objects", "refs", "logs", "packed-refs",
		"packed-refs.*", "info/refs", "shallow", "shallow.lock"};
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

/* The git directory that the project's `.git` names, and what it shares with others; -1: none. */
static void open_named(int project, int *ret_git, int *ret_common)
{
	ward_cleanup(ward_buf_clear) struct ward_buf line = WARD_BUF_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf rel = WARD_BUF_INIT;
	if (first_line(project, ".git", "gitdir: ", &line))
		*ret_git = open_dir(project, ward_buf_str(&line));
	if (*ret_git >= 0)
		*ret_common = open_dir(*ret_git,
			first_line(*ret_git, "commondir", "", &rel) ? ward_buf_str(&rel) : ".");
}

static bool is_own(int project, int git, int common)
{
	if (git < 0 || common < 0 || !exists(common, "objects") || !exists(common, "HEAD") ||
		within(git, project) || within(common, project))
		return false;
	return same_dir(git, common) ? is_submodule(git, project)
				     : is_worktree(git, common, project);
}

void ward_init_git(int project, struct ward_buf *text)
{
	struct stat st;
	ward_cleanup_free char *path = NULL, *own = NULL;
	ward_cleanup_fd int git = -1, common = -1;
	if (fstatat(project, ".git", &st, AT_SYMLINK_NOFOLLOW) < 0)
		return;
	if (S_ISDIR(st.st_mode)) {
		ward_buf_puts(text,
			"\n; git: hooks, config and the like of .git, its submodules and worktrees are\n"
			"; guarded by medium. wardfs policy explain write .git/config shows it.\n");
		return;
	}
	open_named(project, &git, &common);
	if (is_own(project, git, common) && path_of(common, &path) && path_of(git, &own))
		put_outside(text, path, own);
	else
		ward_buf_puts(text,
			"\n; .git is a file, but what it names is no git directory of this project: not\n"
			"; served, git does not work inside.\n");
}
