/* SPDX-License-Identifier: Apache-2.0 */
/* The host's files, as the staged layer finds them. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "enforcer/base/fd.h"
#include "fs/review/review_internal.h"

int ward_review_statx(int dirfd, const char *name, struct statx *ret)
{
	if (statx(dirfd, name, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT,
		    WARD_REVIEW_MASK, ret) < 0)
		return -errno;
	return 0;
}

bool ward_review_covers(const struct ward_review *rv, const struct statx *stx)
{
	const uint64_t dev = ward_review_key_of(stx).dev;

	for (size_t i = 0; i < rv->n_roots; i++)
		if (rv->roots[i].dev == dev)
			return true;
	return dev == rv->store_dev;
}

/* Where in which tree the descriptor's directory or file is. */
static int path_of(
	const struct ward_review *rv, int fd, size_t *ret_root, char **ret_at, char **ret_path)
{
	ward_cleanup_free char *path = NULL;
	size_t best = 0, best_len = 0;
	bool any = false;
	int r = ward_fd_path(fd, &path);

	if (r < 0)
		return -ESTALE;
	for (size_t i = 0; i < rv->n_roots; i++) {
		const char *root = rv->roots[i].path;
		const size_t len = strcmp(root, "/") ? strlen(root) : 0;

		if (strncmp(path, root, len) || (path[len] && path[len] != '/'))
			continue;
		if (any && len <= best_len)
			continue;
		best = i;
		best_len = len;
		any = true;
	}
	if (!any)
		return -ESTALE;
	*ret_root = best;
	*ret_at = path + best_len + (path[best_len] == '/');
	*ret_path = ward_steal_ptr(&path);
	return 0;
}

int ward_review_inside(const struct ward_review *rv, int fd)
{
	ward_cleanup_free char *path = NULL;
	size_t root = 0;
	char *at = NULL;
	int r = path_of(rv, fd, &root, &at, &path);

	if (r < 0)
		return r;
	return rv->roots[root].stages ? 0 : WARD_REVIEW_LOWER;
}

int ward_review_host_path(
	const struct ward_review *rv, int fd, const char *name, size_t *ret_root, char **ret)
{
	ward_cleanup_free char *path = NULL;
	char *at = NULL, *full = NULL;
	size_t root = 0;
	int r = path_of(rv, fd, &root, &at, &path);

	if (r < 0 || !rv->roots[root].stages)
		return r < 0 ? r : -ESTALE;
	if (asprintf(&full, "%s%s%s", at, *at && name ? "/" : "", name ? name : "") < 0)
		return -ENOMEM;
	*ret_root = root;
	*ret = full;
	return 0;
}

int ward_review_declare(struct ward_review *rv, int fd, const char *name, const struct statx *stx,
	struct ward_review_file **ret)
{
	const struct ward_review_key key = ward_review_key_of(stx);
	struct ward_review_file *f = ward_review_by_key(rv, &key);
	char *path = NULL;
	size_t root = 0;
	int r;

	if (f) {
		*ret = f;
		return 0;
	}
	/* The path of what has no name any more says so in its last letters, like a name. */
	r = stx->stx_nlink ? ward_review_host_path(rv, fd, name, &root, &path) : -ESTALE;
	if (r < 0)
		return r;
	f = ward_review_file_new(rv, stx->stx_mode);
	if (!f) {
		free(path);
		return -ENOMEM;
	}
	f->path = path;
	f->root = root;
	f->has_lower = true;
	f->born = 0;
	f->lower = key;
	f->id = (struct ward_file_id){.ino = key.ino, .btime_ns = key.btime_ns};
	f->lower_nlink = stx->stx_nlink;
	f->uid = stx->stx_uid;
	f->gid = stx->stx_gid;
	/* Without a line of its own no line about it would mean anything. */
	r = ward_review_log_file(rv, f, stx);
	if (r < 0)
		return r;
	ward_review_hash_lower(rv, f);
	*ret = f;
	return 0;
}

int ward_review_open_lower(
	const struct ward_review *rv, const struct ward_review_file *f, int flags, int *ret_fd)
{
	const struct open_how how = {.flags = (uint64_t)(unsigned)(flags | O_CLOEXEC | O_NOFOLLOW),
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV};
	/* The last component of a link that is opened by O_PATH may be one. */
	const struct open_how link = {.flags = how.flags,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV};
	ward_cleanup_fd int fd = -1;
	struct ward_review_key key;
	struct statx stx;
	int r;

	if (!f->has_lower)
		return -ESTALE;
	fd = ward_fd_openat2(
		rv->roots[f->root].fd, *f->path ? f->path : ".", S_ISLNK(f->type) ? &link : &how);
	if (fd < 0)
		return fd == -ENOENT || fd == -ENOTDIR || fd == -ELOOP ? -ESTALE : fd;
	r = ward_review_statx(fd, "", &stx);
	if (r < 0)
		return r;
	key = ward_review_key_of(&stx);
	if (memcmp(&key, &f->lower, sizeof(key)) != 0)
		return -ESTALE;
	*ret_fd = ward_steal_fd(&fd);
	return 0;
}

int ward_review_open_again(int fd, int flags, int *ret_fd)
{
	char path[40];
	int r;

	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	r = openat(AT_FDCWD, path, (flags & ~O_TRUNC) | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (r < 0)
		return errno == EMFILE ? -ENFILE : -errno;
	*ret_fd = r;
	return 0;
}
