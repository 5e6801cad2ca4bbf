/* SPDX-License-Identifier: Apache-2.0 */
#include "enforcer/session/project.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"

/* Directory levels that we look upwards; PATH_MAX has room for 2048 one-letter names. */
#define LEVELS_MAX 2048

const char *ward_path_beneath(const char *path, const char *dir)
{
	size_t n = strlen(dir);
	while (n > 0 && dir[n - 1] == '/')
		n--;
	if (strncmp(path, dir, n) != 0 || (path[n] != '/' && path[n] != '\0'))
		return NULL;
	path += n;
	while (*path == '/')
		path++;
	return path;
}

/* True if `name` is in dir and of one of the two owners: what anybody can plant is no mark. */
static bool mark(int dir, const char *name, uid_t a, uid_t b)
{
	struct stat st;
	return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       (st.st_uid == a || st.st_uid == b);
}

static bool same_dir(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* True for "/" and for home: what must not become a tree. */
static bool forbidden(const struct stat *st, const char *home)
{
	struct stat other;
	if (stat("/", &other) == 0 && same_dir(st, &other))
		return true;
	return home && stat(home, &other) == 0 && same_dir(st, &other);
}

/* Drops the last component of path in place. */
static void parent_path(char *path)
{
	char *slash = strrchr(path, '/');
	if (slash == path)
		slash++;
	*slash = '\0';
}

/* Looks upwards from fd (consumed) for a mark. Returns the directory in *ret_fd, levels climbed. */
static int climb(
	int start, const struct stat *start_st, const char *home, int *ret_fd, size_t *ret_levels)
{
	ward_cleanup_fd int fd = start;
	struct stat st = *start_st;
	for (size_t level = 0; level < LEVELS_MAX; level++) {
		uid_t a = start_st->st_uid;
		uid_t b = getuid();
		/* Where others can write, they can also move something of ours under such a name.
		 */
		bool ours = (st.st_uid == a || st.st_uid == b) &&
			    (level == 0 || !(st.st_mode & S_IWOTH));
		if (ours && (mark(fd, ".wardfs.policy", a, b) || mark(fd, ".git", a, b))) {
			*ret_fd = ward_steal_fd(&fd);
			*ret_levels = level;
			return 0;
		}
		int up = openat(fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (up < 0)
			break;
		close(fd);
		fd = up;
		struct stat up_st;
		if (fstat(fd, &up_st) < 0 || same_dir(&up_st, &st) || forbidden(&up_st, home))
			break;
		st = up_st;
	}
	return -ENOENT;
}

int ward_project_find(const char *home, struct ward_project *ret, struct ward_err *err)
{
	ward_cleanup_fd int fd = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return ward_err_sys(err, -errno, "current directory");
	ward_cleanup_free char *cwd = getcwd(NULL, 0);
	if (!cwd)
		return ward_err_sys(err, -errno, "current directory");
	if (cwd[0] != '/')
		return ward_err_set(
			err, -ENOENT, "the current directory cannot be reached: %s", cwd);
	struct stat st;
	if (fstat(fd, &st) < 0)
		return ward_err_sys(err, -errno, "%s", cwd);
	if (forbidden(&st, home))
		return ward_err_set(err, -EPERM,
			"%s is your home directory or the root of the host: it cannot be a workspace. "
			"Change into a project directory first",
			cwd);
	ward_cleanup_fd int found = -1;
	size_t levels = 0;
	ward_cleanup_fd int start = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (start < 0)
		return ward_err_sys(err, -errno, "%s", cwd);
	ward_cleanup_free char *path = strdup(cwd);
	if (!path)
		return ward_err_sys(err, -ENOMEM, "%s", cwd);
	if (climb(ward_steal_fd(&start), &st, home, &found, &levels) == 0) {
		for (size_t i = 0; i < levels; i++)
			parent_path(path);
		if (fstat(found, &st) < 0)
			return ward_err_sys(err, -errno, "%s", path);
		close(fd);
		fd = ward_steal_fd(&found);
	}
	*ret = (struct ward_project){.fd = ward_steal_fd(&fd),
		.path = ward_steal_ptr(&path),
		.cwd = ward_steal_ptr(&cwd),
		.uid = st.st_uid};
	return 0;
}

char *ward_project_git_elsewhere(const struct ward_project *p)
{
	static const char front[] = "gitdir: ";
	const size_t n = sizeof(front) - 1;
	ward_cleanup_fd int fd =
		openat(p->fd, ".git", O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	char text[4097] = "";
	struct stat st;
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return NULL;
	ssize_t got = read(fd, text, sizeof(text) - 1);
	text[got > 0 ? got : 0] = '\0';
	text[strcspn(text, "\n")] = '\0';
	if (strncmp(text, front, n) != 0 || !text[n])
		return NULL;
	char *path = NULL;
	if (asprintf(&path, "%s%s%s", text[n] == '/' ? "" : p->path, text[n] == '/' ? "" : "/",
		    text + n) < 0)
		return NULL;
	return path;
}

char *ward_project_entered(const struct ward_project *p, const char *pwd)
{
	if (!pwd || pwd[0] != '/' || strcmp(pwd, p->cwd) == 0)
		return NULL;
	const char *rel = ward_path_beneath(p->cwd, p->path);
	size_t n = strlen(pwd), tail = rel ? strlen(rel) : 0;
	if (!rel || n <= tail + 1 || strcmp(pwd + n - tail, rel) != 0 ||
		(tail && pwd[n - tail - 1] != '/'))
		return NULL;
	ward_cleanup_free char *top = strndup(pwd, n - (tail ? tail + 1 : 0));
	struct stat here, there;
	/* What stood in PWD may be about another directory by now. */
	if (!top || stat(top, &there) < 0 || fstat(p->fd, &here) < 0 || !same_dir(&there, &here) ||
		stat(pwd, &there) < 0 || stat(p->cwd, &here) < 0 || !same_dir(&there, &here))
		return NULL;
	return ward_steal_ptr(&top);
}

void ward_project_clear(struct ward_project *p)
{
	if (p->fd >= 0)
		close(p->fd);
	free(p->path);
	free(p->cwd);
	*p = (struct ward_project){.fd = -1};
}
