/* SPDX-License-Identifier: Apache-2.0 */
/* Mounts single files of the host on a tmpfs that wardfs makes. */
#include "enforcer/session/tree/mounted_files.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/session/owner/as_owner.h"
#include "enforcer/session/tree/tree_backing.h"

/* Directories and empty files alone, as many as there are pages (ward_backing_new()). */
#define TMPFS_BYTES ((uint64_t)4 << 20)

struct work {
	const struct ward_identity *id;
	const struct ward_mounted_file *v;
	size_t n;
	int *mounts; /* a detached mount of each, or -1 */
};

/* The file that was looked at, or nothing: no link leads elsewhere, no other has taken the name. */
static int open_host(const struct ward_mounted_file *f)
{
	const struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_NO_SYMLINKS};
	ward_cleanup_fd int fd = ward_fd_openat2(AT_FDCWD, f->host, &how);
	struct stat st;
	if (fd == -ENOENT || fd == -ELOOP || fd == -ENOTDIR)
		return -ESTALE;
	if (fd < 0)
		return fd;
	if (fstat(fd, &st) < 0 || st.st_dev != f->dev || st.st_ino != f->ino)
		return -ESTALE;
	return ward_steal_fd(&fd);
}

/* Of this mount namespace: a descriptor from before belongs to mounts of another one. */
static int clone_all(struct work *w)
{
	for (size_t i = 0; i < w->n; i++) {
		ward_cleanup_fd int fd = open_host(&w->v[i]);
		if (fd < 0)
			return fd;
		w->mounts[i] =
			open_tree(fd, "", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH);
		if (w->mounts[i] < 0)
			return -errno;
	}
	return 0;
}

/* Nobody else knows this file system yet: no name in it can be a link. */
static int place(struct work *w, size_t i, int root)
{
	const struct open_how how = {.flags = O_PATH | O_CLOEXEC | O_NOFOLLOW,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS};
	const char *path = w->v[i].at + 1;
	const char *slash = strrchr(path, '/');
	ward_cleanup_free char *above = strndup(path, slash ? (size_t)(slash - path) : 0);
	struct ward_err err = WARD_ERR_INIT;
	if (!above)
		return -ENOMEM;
	int r = ward_backing_point(root, above, geteuid(), getegid(), &err);
	if (r < 0)
		return r;
	if (mknodat(root, path, S_IFREG | 0444, 0) < 0)
		return errno == EEXIST ? 0 : -errno;
	ward_cleanup_fd int point = ward_fd_openat2(root, path, &how);
	if (point < 0)
		return point;
	return move_mount(w->mounts[i], "", point, "",
		       MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) < 0
		       ? -errno
		       : 0;
}

/* In the child. */
static int make(void *user)
{
	struct work *w = user;
	struct ward_as_owner as;
	struct ward_err err = WARD_ERR_INIT;
	struct mount_attr attr = {
		.attr_set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV};
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return -errno;
	int r = ward_as_owner_begin(w->id, &as, &err);
	if (r == 0)
		r = clone_all(w);
	ward_as_owner_end(&as);
	if (r < 0)
		return r;
	ward_cleanup_fd int root = ward_backing_new(TMPFS_BYTES, geteuid(), getegid());
	if (root < 0)
		return root;
	/* Mounts can be made only on what is attached; only we see what that covers. */
	if (move_mount(root, "", AT_FDCWD, "/", MOVE_MOUNT_F_EMPTY_PATH) < 0)
		return -errno;
	for (size_t i = 0; i < w->n && r == 0; i++)
		r = place(w, i, root);
	if (r < 0)
		return r;
	ward_cleanup_fd int whole = open_tree(
		root, "", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE | AT_EMPTY_PATH);
	if (whole < 0)
		return -errno;
	if (mount_setattr(whole, "", AT_EMPTY_PATH | AT_RECURSIVE, &attr, sizeof(attr)) < 0)
		return -errno;
	return ward_steal_fd(&whole);
}

int ward_mounted_files(const struct ward_identity *id, const struct ward_mounted_file *v, size_t n,
	int *ret_fd, struct ward_err *err)
{
	ward_cleanup_free int *mounts = calloc(n, sizeof(int));
	struct work w = {.id = id, .v = v, .n = n, .mounts = mounts};
	if (!mounts)
		return ward_err_sys(err, -ENOMEM, "files of [system] read");
	for (size_t i = 0; i < n; i++)
		mounts[i] = -1;
	int fd = ward_backing_by_child(id->owner_uid, id->owner_gid, id->root, make, &w);
	if (fd == -ESTALE)
		return ward_err_set(err, fd,
			"somebody replaced a file of [system] read while the session started; start it again");
	if (fd < 0)
		return ward_err_sys(err, fd, "serving single files");
	*ret_fd = fd;
	return 0;
}
