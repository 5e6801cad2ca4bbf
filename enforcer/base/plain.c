/* SPDX-License-Identifier: Apache-2.0 */
/* Goes along a path that a person named. */
#include "enforcer/base/plain.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"

/*
 * A symbolic link in dir that the system has: root made it, and no project lies where it is. Links
 * that a session of root's makes are root's, too.
 */
static bool is_systems(int dir, const char *way, size_t above, const char *name)
{
	static const char *const places[] = {"/", "/usr/", "/var/", "/home/", "/proc/", "/dev/"};
	struct stat st;
	size_t i = 0;
	while (i < sizeof(places) / sizeof(*places) &&
		(strlen(places[i]) != above || strncmp(way, places[i], above) != 0))
		i++;
	return i < sizeof(places) / sizeof(*places) &&
	       fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode) &&
	       st.st_uid == 0 && fstat(dir, &st) == 0 && st.st_uid == 0;
}

/* One name of the way, which begins with what is above it. */
static int step(int dir, const char *way, size_t above, const char *name)
{
	struct open_how how = {.flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
		.resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS};
	int fd = ward_fd_openat2(dir, name, &how);
	if (fd != -ELOOP || !is_systems(dir, way, above, name))
		return fd;
	how.resolve = RESOLVE_NO_MAGICLINKS;
	return ward_fd_openat2(dir, name, &how);
}

/* way: path up to the name. */
static int refuse(
	const char *path, int dir, const char *way, const char *name, int r, struct ward_err *err)
{
	char target[PATH_MAX] = "";
	if (r != -ELOOP)
		return ward_err_sys(err, r, "%s", path);
	if (readlinkat(dir, name, target, sizeof(target) - 1) < 0)
		return ward_err_sys(err, r, "%s", path);
	return ward_err_set(err, r,
		"%s: a symbolic link is on the way: %s leads to %s. wardfs does not follow it, because a session can have made it; give the target's path, or remove the link",
		path, way, target);
}

/* The first len bytes of path. */
static int walk(const char *path, size_t len, int *ret_fd, struct ward_err *err)
{
	ward_cleanup_free char *way = strndup(path, len);
	if (!way)
		return ward_err_sys(err, -ENOMEM, "%s", path);
	ward_cleanup_fd int dir = open(*path == '/' ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return ward_err_sys(err, -errno, "%s", path);
	for (char *s = way; *s;) {
		s += strspn(s, "/");
		char *end = s + strcspn(s, "/");
		const char was = *end;
		if (end == s)
			break;
		*end = 0;
		int next = step(dir, way, (size_t)(s - way), s);
		if (next < 0)
			return refuse(path, dir, way, s, next, err);
		*end = was;
		close(dir);
		dir = next;
		s = end;
	}
	*ret_fd = ward_steal_fd(&dir);
	return 0;
}

int ward_plain_dir(const char *path, int *ret_fd, struct ward_err *err)
{
	if (!*path)
		return ward_err_sys(err, -ENOENT, "''");
	return walk(path, strlen(path), ret_fd, err);
}

int ward_plain_above(const char *path, int *ret_fd, const char **ret_name, struct ward_err *err)
{
	const char *slash = strrchr(path, '/');
	*ret_name = slash ? slash + 1 : path;
	return walk(path, (size_t)(*ret_name - path), ret_fd, err);
}
