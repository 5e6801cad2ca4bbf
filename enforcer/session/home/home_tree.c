/* SPDX-License-Identifier: Apache-2.0 */
/* Counts and removes what is in a kept home. */
#include "enforcer/session/home/home_tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"

/* Levels that removing goes down, a descriptor each; what lies deeper is moved up first. */
#define LEVELS_MAX 64
/* Names between two words of progress. */
#define PROGRESS_EVERY 256

/* A directory beneath at, of any name: no link, no other file system. -errno. */
static int enter(int at, const char *path, uint64_t flags)
{
	const struct open_how how = {.flags = O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | flags,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS |
			   RESOLVE_NO_XDEV};
	return ward_fd_openat2(at, path, &how);
}

static bool is_dot(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* Takes fd over. */
static DIR *list(int fd)
{
	DIR *d = fdopendir(fd);
	if (!d) {
		int e = errno;
		close(fd);
		errno = e;
	}
	return d;
}

/*
 * Opens a directory of the home to be listed, with the rights in `need` on it. Caches of modules
 * can lack the right to write (go's), and a command inside may close any directory. The owner opens
 * it again, by descriptor, because chmod(2) of a name could follow a link.
 */
static int enter_with(int at, const char *name, mode_t need)
{
	char self[64];
	struct stat st;
	ward_cleanup_fd int path = enter(at, name, O_PATH);
	if (path < 0)
		return path;
	if (fstat(path, &st) < 0)
		return -errno;
	snprintf(self, sizeof(self), "/proc/self/fd/%d", path);
	if ((st.st_mode & need) != need && chmod(self, (st.st_mode & 07777) | need) < 0)
		return -errno;
	return enter(path, ".", O_RDONLY);
}

/* --- counting --- */

static int measure(int fd, unsigned depth, struct ward_home_size *size)
{
	ward_cleanup_dir DIR *d = list(fd);
	if (!d)
		return -errno;
	if (depth > WARD_HOME_DEPTH_MAX)
		return -ELOOP;
	for (;;) {
		errno = 0;
		const struct dirent *e = readdir(d);
		struct stat st;
		if (!e)
			return -errno;
		if (is_dot(e->d_name))
			continue;
		int r = fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 ? -errno : 0;
		if (r == 0 && S_ISDIR(st.st_mode)) {
			int sub = enter_with(dirfd(d), e->d_name, 0500);
			r = sub < 0 ? sub : measure(sub, depth + 1, size);
		} else if (r == 0) {
			size->files++;
			size->bytes += (uint64_t)st.st_size / (st.st_nlink ? st.st_nlink : 1);
		}
		/* Another session of the project is at work. */
		if (r < 0 && r != -ENOENT && r != -ENOTDIR)
			return r;
	}
}

int ward_home_measure(int dir, struct ward_home_size *ret, struct ward_err *err)
{
	struct ward_home_size size = {0, 0};
	int fd = enter_with(dir, ".", 0500);
	int r = fd < 0 ? fd : measure(fd, 0, &size);
	if (r == -ELOOP)
		return ward_err_set(err, r,
			"the kept home has directories nested deeper than %d; 'wardfs home "
			"clear' empties it",
			WARD_HOME_DEPTH_MAX);
	if (r < 0)
		return ward_err_sys(err, r, "the kept home");
	*ret = size;
	return 0;
}

/* --- removing --- */

struct removal {
	int top; /* where what lies too deep is moved to */
	uint64_t gone;
	uint64_t moved;
	bool any; /* the listing at the top had names */
	ward_home_progress *progress;
	void *user;
};

static void one_gone(struct removal *m)
{
	if (++m->gone % PROGRESS_EVERY == 0 && m->progress)
		m->progress(m->user, m->gone);
}

static int remove_one(struct removal *m, int at, const char *name, unsigned level);

/* Takes fd over. */
static int empty(struct removal *m, int fd, unsigned level)
{
	ward_cleanup_dir DIR *d = list(fd);
	if (!d)
		return -errno;
	for (;;) {
		errno = 0;
		const struct dirent *e = readdir(d);
		if (!e)
			return -errno;
		if (is_dot(e->d_name))
			continue;
		m->any = true;
		int r = remove_one(m, dirfd(d), e->d_name, level + 1);
		if (r < 0)
			return r;
	}
}

/* What lies too deep: a name at the top, where it is come to again. */
static int move_up(struct removal *m, int at, const char *name)
{
	char new[64];
	for (unsigned tries = 0; tries < 1000; tries++) {
		snprintf(new, sizeof(new), "wardfs-deep.%llu", (unsigned long long)m->moved++);
		if (renameat2(at, name, m->top, new, RENAME_NOREPLACE) == 0)
			return 0;
		if (errno != EEXIST)
			return -errno;
	}
	return -EEXIST;
}

static int remove_one(struct removal *m, int at, const char *name, unsigned level)
{
	if (unlinkat(at, name, 0) == 0) {
		one_gone(m);
		return 0;
	}
	/* POSIX has EPERM for a directory, Linux EISDIR (unlink(2)). */
	if (errno != EISDIR && errno != EPERM)
		return errno == ENOENT ? 0 : -errno;
	int fd = enter_with(at, name, 0700);
	if (fd < 0)
		return fd;
	if (level >= LEVELS_MAX) {
		close(fd);
		return move_up(m, at, name);
	}
	int r = empty(m, fd, level);
	if (r < 0)
		return r;
	if (unlinkat(at, name, AT_REMOVEDIR) < 0 && errno != ENOENT)
		return -errno;
	one_gone(m);
	return 0;
}

int ward_home_empty(int dir, ward_home_progress *progress, void *user, struct ward_err *err)
{
	struct removal m = {.top = dir, .any = true, .progress = progress, .user = user};
	int r = 0;
	/* Once more for what was moved up. */
	while (r == 0 && m.any) {
		m.any = false;
		int fd = enter_with(dir, ".", 0700);
		r = fd < 0 ? fd : empty(&m, fd, 0);
	}
	return r < 0 ? ward_err_sys(err, r, "emptying the kept home") : 0;
}

/*
 * The directory above the last name of path; -ENOENT: it does not exist. Programs that use the path
 * would follow a link on the way. So the link is removed, and its target is no longer reached under
 * this name.
 */
static int enter_above(int dir, const char **path)
{
	ward_cleanup_fd int at = enter_with(dir, ".", 0700);
	for (const char *slash; at >= 0 && (slash = strchr(*path, '/')); *path = slash + 1) {
		char name[256];
		size_t n = (size_t)(slash - *path);
		if (n == 0 || n >= sizeof(name))
			return -EINVAL;
		memcpy(name, *path, n);
		name[n] = '\0';
		int next = enter_with(at, name, 0700);
		char target[1];
		if (next == -ENOTDIR && readlinkat(at, name, target, sizeof(target)) >= 0)
			next = unlinkat(at, name, 0) < 0 ? -errno : -ENOENT;
		close(at);
		at = next;
	}
	return ward_steal_fd(&at);
}

static int remove_path(int dir, const char *path, struct ward_err *err)
{
	const char *name = path;
	ward_cleanup_fd int at = enter_above(dir, &name);
	if (at == -ENOENT || at == -ENOTDIR)
		return 0;
	if (at < 0)
		return ward_err_sys(err, at, "%s", path);
	struct removal m = {.top = at};
	int r = remove_one(&m, at, name, 0);
	for (uint64_t k = 0; r == 0 && k < m.moved; k++) {
		char new[64];
		snprintf(new, sizeof(new), "wardfs-deep.%llu", (unsigned long long)k);
		r = remove_one(&m, at, new, 0);
	}
	return r < 0 ? ward_err_sys(err, r, "%s", path) : 0;
}

/* Names of a directory that fit, in a list of their own: what is listed is removed meanwhile. */
static int list_fitting(int dir, const char *pattern, char ***ret, size_t *ret_n)
{
	int fd = enter_with(dir, ".", 0700);
	ward_cleanup_dir DIR *d = fd < 0 ? NULL : list(fd);
	char **names = NULL;
	size_t n = 0, room = 0;
	int r = fd < 0 ? fd : d ? 0 : -errno;
	for (const struct dirent *e = NULL; r == 0 && (errno = 0, (e = readdir(d)));) {
		if (is_dot(e->d_name) || fnmatch(pattern, e->d_name, FNM_NOESCAPE) != 0)
			continue;
		if (n == room) {
			room = room ? 2 * room : 16;
			char **more = reallocarray(names, room, sizeof(*names));
			if (!more) {
				r = -ENOMEM;
				break;
			}
			names = more;
		}
		names[n] = strdup(e->d_name);
		r = names[n] ? 0 : -ENOMEM;
		n += r == 0;
	}
	if (r == 0 && d)
		r = -errno;
	*ret = names;
	*ret_n = n;
	return r;
}

/* path holds what it says up to `from`, and patterns behind that. */
static int remove_fitting(int dir, const char *path, size_t from, struct ward_err *err)
{
	const char *star = strchr(path + from, '*');
	if (!star)
		return remove_path(dir, path, err);
	char **names = NULL;
	size_t n = 0;
	while (star > path && star[-1] != '/')
		star--;
	const size_t above = (size_t)(star - path), len = strcspn(star, "/");
	ward_cleanup_free char *to_pattern = strndup(path, above + len);
	if (!to_pattern)
		return ward_err_sys(err, -ENOMEM, "%s", path);
	const char *pattern = to_pattern;
	ward_cleanup_fd int at = enter_above(dir, &pattern);
	int r = at < 0 ? at : list_fitting(at, pattern, &names, &n);
	if (r == -ENOENT || r == -ENOTDIR)
		r = 0;
	else if (r < 0)
		ward_err_sys(err, r, "%s", path);
	for (size_t i = 0; i < n; i++) {
		char *one = NULL;
		if (r == 0 &&
			asprintf(&one, "%.*s%s%s", (int)above, path, names[i], star + len) < 0)
			r = ward_err_sys(err, -ENOMEM, "%s", path);
		else if (r == 0)
			r = remove_fitting(dir, one, above + strlen(names[i]), err);
		free(one);
		free(names[i]);
	}
	free(names);
	return r;
}

int ward_home_remove(int dir, const char *path, struct ward_err *err)
{
	return remove_fitting(dir, path, 0, err);
}
