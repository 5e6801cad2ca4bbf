/* SPDX-License-Identifier: Apache-2.0 */
/* Names of a layer on the disk: checked, opened without following anything, removed. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/image/tree.h"
#include "enforcer/image/unpack/unpack.h"

#define NAME_LEN_MAX 255U

int unpack_name(const char *name, char ret[UNPACK_PATH_MAX + 1], struct ward_err *err)
{
	size_t at = 0, depth = 0;
	if (name[0] == '/')
		return ward_err_set(err, -EINVAL, "the image contains the absolute name %s", name);
	for (const char *s = name; *s;) {
		size_t n = strcspn(s, "/");
		if (n == 2 && s[0] == '.' && s[1] == '.')
			return ward_err_set(err, -EINVAL, "the image contains the name %s", name);
		if (n > NAME_LEN_MAX || at + n + 1 > UNPACK_PATH_MAX || depth > UNPACK_DEPTH_MAX)
			return ward_err_set(err, -EINVAL,
				"the image contains a name that is too long or too deep");
		if (n > 0 && !(n == 1 && s[0] == '.')) {
			if (at)
				ret[at++] = '/';
			memcpy(ret + at, s, n);
			at += n;
			depth++;
		}
		s += n;
		s += strspn(s, "/");
	}
	ret[at] = '\0';
	return 0;
}

static int open_directory(int at, const char *name)
{
	struct open_how how = {.flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV};
	return ward_fd_openat2(at, name, &how);
}

/* dir: without the last name. */
static int make_directories(int root, char *dir, uint64_t *made, int *ret_fd)
{
	ward_cleanup_fd int at = fcntl(root, F_DUPFD_CLOEXEC, 3);
	if (at < 0)
		return -errno;
	for (char *s = dir, *end; *s; s = end) {
		end = s + strcspn(s, "/");
		const bool more = *end == '/';
		*end = '\0';
		if (mkdirat(at, s, 0755) == 0)
			(*made)++;
		else if (errno != EEXIST)
			return -errno;
		int next = open_directory(at, s);
		if (next < 0)
			return next;
		close(at);
		at = next;
		if (more)
			*end++ = '/';
	}
	*ret_fd = ward_steal_fd(&at);
	return 0;
}

int unpack_parent(int root, const char *path, uint64_t *made, int *ret_fd, const char **ret_name,
	struct ward_err *err)
{
	char dir[UNPACK_PATH_MAX + 1];
	const char *slash = strrchr(path, '/');
	const size_t n = slash ? (size_t)(slash - path) : 0;
	memcpy(dir, path, n);
	dir[n] = '\0';
	int fd = open_directory(root, n ? dir : ".");
	if (fd == -ENOENT && made) {
		int r = make_directories(root, dir, made, &fd);
		if (r < 0)
			fd = r;
	}
	if (fd == -ELOOP || fd == -ENOTDIR || fd == -EXDEV)
		return ward_err_set(err, -ELOOP,
			"the image contains %s, which leads through a link or a file", path);
	if (fd == -ENOENT)
		return fd;
	if (fd < 0)
		return ward_err_sys(err, fd, "%s", path);
	*ret_fd = fd;
	*ret_name = slash ? slash + 1 : path;
	return 0;
}

int unpack_remove(int dir, const char *name, struct ward_err *err)
{
	int r = ward_image_tree_remove(dir, name);
	return r < 0 && r != -ENOENT ? ward_err_sys(err, r, "remove %s", name) : 0;
}

int unpack_empty(int root, const char *path, struct ward_err *err)
{
	ward_cleanup_fd int fd = open_directory(root, *path ? path : ".");
	if (fd == -ENOENT)
		return 0;
	if (fd < 0)
		return ward_err_set(
			err, fd, "the image empties %s, which is not a directory", path);
	int r = ward_image_tree_empty(fd);
	return r < 0 ? ward_err_sys(err, r, "empty %s", path) : 0;
}
