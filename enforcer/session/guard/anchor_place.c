/* SPDX-License-Identifier: Apache-2.0 */
/* Opens what the floor names as an anchor, checking each directory on the way. */
#include "enforcer/session/guard/anchor_place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"

static bool is_roots(const struct stat *st)
{
	return st->st_uid == 0 && !(st->st_mode & (S_IWGRP | S_IWOTH));
}

static int refuse(const char *path, const char *why, struct ward_err *err)
{
	return ward_err_set(err, -EPERM,
		"anchor %s of the floor: %s. Root must own the program and each directory above it, only root may write there, and no name may be a symbolic link",
		path, why);
}

/* The directory of the last name of path, whose text *ret_name is a part of. */
static int open_above(const char *path, int *ret, const char **ret_name, struct ward_err *err)
{
	const struct open_how how = {.flags = O_PATH | O_CLOEXEC | O_DIRECTORY,
		.resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS};
	ward_cleanup_fd int dir = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct stat st;
	for (const char *s = path + 1;;) {
		if (dir < 0 || fstat(dir, &st) < 0)
			return ward_err_sys(err, -errno, "anchor %s", path);
		if (!is_roots(&st))
			return refuse(path, "others could put something else there", err);
		const char *slash = strchr(s, '/');
		if (!slash) {
			*ret = ward_steal_fd(&dir);
			*ret_name = s;
			return 0;
		}
		char name[256];
		size_t n = (size_t)(slash - s);
		if (n >= sizeof(name))
			return ward_err_sys(err, -ENAMETOOLONG, "anchor %s", path);
		memcpy(name, s, n);
		name[n] = '\0';
		int next = ward_fd_openat2(dir, name, &how);
		if (next == -ELOOP || next == -ENOTDIR)
			return refuse(path, "a name on the way is no directory", err);
		if (next < 0)
			return ward_err_sys(err, next, "anchor %s", path);
		close(dir);
		dir = next;
		s = slash + 1;
	}
}

static int open_at(const char *path, int flags, int *ret, struct stat *ret_st, struct ward_err *err)
{
	ward_cleanup_fd int dir = -1;
	const char *name = NULL;
	int r = open_above(path, &dir, &name, err);
	if (r < 0)
		return r;
	ward_cleanup_fd int fd =
		openat(dir, name, flags | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK | O_CLOEXEC, 0600);
	if (fd < 0 || fstat(fd, ret_st) < 0)
		return ward_err_sys(err, -errno, "anchor %s", path);
	if (!S_ISREG(ret_st->st_mode))
		return ward_err_sys(err, -EINVAL, "anchor %s", path);
	*ret = ward_steal_fd(&fd);
	return 0;
}

int ward_anchor_place_file(const char *path, uid_t owner, int *ret_fd, struct ward_err *err)
{
	ward_cleanup_fd int fd = -1;
	struct stat st;
	int r = open_at(path, O_WRONLY | O_APPEND | O_CREAT, &fd, &st, err);
	if (r < 0)
		return r;
	if (st.st_uid == owner && owner != 0)
		return refuse(path, "it belongs to the owner of this session", err);
	*ret_fd = ward_steal_fd(&fd);
	return 0;
}

int ward_anchor_place_program(const char *path, struct ward_err *err)
{
	ward_cleanup_fd int fd = -1;
	struct stat st;
	int r = open_at(path, O_PATH, &fd, &st, err);
	return r < 0 || is_roots(&st) ? r : refuse(path, "others could change it", err);
}
