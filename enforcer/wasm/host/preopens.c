/* SPDX-License-Identifier: Apache-2.0 */
#include "enforcer/wasm/host/preopens.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"

int ward_preopens_add(struct ward_preopens *b, const char *path)
{
	size_t len = strlen(path);
	while (len > 1 && path[len - 1] == '/')
		len--;
	if (path[0] != '/')
		return -EINVAL;
	if (b->n == WARD_PREOPENS_MAX)
		return -ENFILE;
	int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	b->v[b->n].path = strndup(path, len);
	if (!b->v[b->n].path) {
		close(fd);
		return -ENOMEM;
	}
	b->v[b->n].len = len;
	b->v[b->n++].fd = fd;
	return 0;
}

int ward_preopens_add_cwd(struct ward_preopens *b, const char *cwd)
{
	ward_cleanup_free char *rel = NULL;
	int dir = -1;
	int r = ward_preopens_find(b, cwd, &dir, &rel);
	if (r < 0)
		return r == -EACCES ? 0 : r;
	if (b->n == WARD_PREOPENS_MAX)
		return -ENFILE;
	int fd = ward_preopens_open(dir, rel, O_PATH | O_DIRECTORY, 0);
	if (fd < 0)
		return fd;
	b->v[b->n].path = strdup(".");
	if (!b->v[b->n].path) {
		close(fd);
		return -ENOMEM;
	}
	b->v[b->n].len = 1;
	b->v[b->n++].fd = fd;
	return 0;
}

int ward_preopens_probe(const struct ward_preopens *b)
{
	for (size_t i = 0; i < b->n; i++) {
		int fd = ward_preopens_open(b->v[i].fd, "..", O_PATH, 0);
		if (fd >= 0) {
			close(fd);
			return -EPERM;
		}
		/* Any other answer would leave it open whether the kernel knows the bounds. */
		if (fd != -EACCES)
			return fd;
	}
	return 0;
}

void ward_preopens_clear(struct ward_preopens *b)
{
	for (size_t i = 0; i < b->n; i++) {
		free(b->v[i].path);
		close(b->v[i].fd);
	}
	free(b->cwd);
	*b = WARD_PREOPENS_INIT;
}

int ward_preopens_find(
	const struct ward_preopens *b, const char *path, int *ret_dir, char **ret_rel)
{
	ward_cleanup_free char *whole = NULL;
	size_t best = b->n;
	if (path[0] != '/') {
		if (!b->cwd)
			return -EACCES;
		if (!path[0])
			return -ENOENT;
		if (asprintf(&whole, "%s/%s", b->cwd, path) < 0)
			return -ENOMEM;
		path = whole;
	}
	if (strlen(path) >= PATH_MAX)
		return -ENAMETOOLONG;
	for (size_t i = 0; i < b->n; i++) {
		size_t n = b->v[i].len;
		if (strncmp(path, b->v[i].path, n) == 0 && (!path[n] || path[n] == '/') &&
			(best == b->n || n > b->v[best].len))
			best = i;
	}
	if (best == b->n)
		return -EACCES;
	path += b->v[best].len;
	path += strspn(path, "/");
	*ret_rel = strdup(*path ? path : ".");
	if (!*ret_rel)
		return -ENOMEM;
	*ret_dir = b->v[best].fd;
	return 0;
}

int ward_preopens_open(int dir, const char *rel, int flags, mode_t mode)
{
	const struct open_how how = {
		.flags = (unsigned)flags | O_CLOEXEC | (flags & O_PATH ? 0 : O_NOCTTY),
		.mode = flags & (O_CREAT | O_TMPFILE) & ~O_DIRECTORY ? mode & 07777 : 0,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS};
	int fd = ward_fd_openat2(dir, rel, &how);
	return fd == -EXDEV ? -EACCES : fd;
}

int ward_preopens_parent(int dir, const char *rel, struct ward_preopens_name *ret)
{
	size_t len = strlen(rel);
	while (len > 1 && rel[len - 1] == '/')
		len--;
	size_t start = len;
	while (start > 0 && rel[start - 1] != '/')
		start--;
	size_t n = len - start;
	if (n == 0 || (n == 1 && rel[start] == '.') ||
		(n == 2 && strncmp(rel + start, "..", 2) == 0))
		return len == 0 ? -ENOENT : -EINVAL;
	if (n >= sizeof(ret->name))
		return -ENAMETOOLONG;
	/* An absolute path stays one, and is refused. */
	ward_cleanup_free char *above = start ? strndup(rel, start) : strdup(".");
	if (!above)
		return -ENOMEM;
	int fd = ward_preopens_open(dir, above, O_PATH | O_DIRECTORY, 0);
	if (fd < 0)
		return fd;
	memcpy(ret->name, rel + start, n);
	ret->name[n] = '\0';
	ret->dir = fd;
	return 0;
}

void ward_preopens_name_close(struct ward_preopens_name *n)
{
	if (n->dir >= 0)
		close(n->dir);
	n->dir = -1;
}
