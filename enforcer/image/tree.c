/* SPDX-License-Identifier: Apache-2.0 */
/* Removes trees. */
#include "enforcer/image/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"

/* Deeper than an image can be: unpack.h. */
#define DEPTH_MAX 160

static int remove_at(int dir, const char *name, int depth);

static int empty_at(int dir, int depth)
{
	const struct dirent *e = NULL;
	int r = 0;
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	if (!d) {
		r = -errno;
		if (fd >= 0)
			close(fd);
		return r;
	}
	while (r == 0 && (e = readdir(d)))
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			r = remove_at(dirfd(d), e->d_name, depth + 1);
	closedir(d);
	return r;
}

static int remove_at(int dir, const char *name, int depth)
{
	struct open_how how = {.flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV};
	if (depth > DEPTH_MAX)
		return -ELOOP;
	if (unlinkat(dir, name, 0) == 0)
		return 0;
	if (errno != EISDIR && errno != EPERM)
		return -errno;
	ward_cleanup_fd int fd = ward_fd_openat2(dir, name, &how);
	if (fd < 0)
		return fd;
	int r = empty_at(fd, depth);
	return r == 0 && unlinkat(dir, name, AT_REMOVEDIR) < 0 ? -errno : r;
}

int ward_image_tree_remove(int dir, const char *name)
{
	return remove_at(dir, name, 0);
}

int ward_image_tree_empty(int dir)
{
	return empty_at(dir, 0);
}
