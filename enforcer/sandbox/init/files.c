/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Single files of the host, served by wardfs-fs. They are one file system, which the command never
 * sees: it is mounted for a moment, as only what is attached can be cloned (open_tree(2)), and of
 * each file a mount of its own is put on its place. Nothing leads from such a mount to another
 * name.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/mount.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/sandbox/init/init.h"

/* A detached, read-only mount of the file. */
static int clone_file(
	int tree, const struct ward_blueprint_entry *e, int *ret, struct ward_err *err)
{
	const struct open_how how = {.flags = O_PATH | O_NOFOLLOW | O_CLOEXEC,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS};
	struct mount_attr attr = {.attr_set = MOUNT_ATTR_RDONLY};
	ward_cleanup_fd int at = ward_fd_openat2(tree, e->text + 1, &how);
	if (at < 0)
		return ward_err_sys(err, at, "cannot show %s", e->path);
	ward_cleanup_fd int mount = ward_init_clone_tree(at);
	if (e->flags & WARD_BLUEPRINT_NOEXEC)
		attr.attr_set |= MOUNT_ATTR_NOEXEC;
	if (mount < 0 || mount_setattr(mount, "", AT_EMPTY_PATH, &attr, sizeof(attr)) < 0)
		return ward_err_sys(err, -errno, "cannot show %s", e->path);
	*ret = ward_steal_fd(&mount);
	return 0;
}

/* mounts: of each such file, in the order of the blueprint. The tree's own mount goes. */
static int clone_all(struct ward_init *in, const struct ward_blueprint_entry *tree, int root,
	int *mounts, struct ward_err *err)
{
	const struct ward_blueprint *p = &in->blueprint;
	ward_cleanup_fd int mount = ward_steal_fd(&in->nested[tree->mode]);
	ward_cleanup_fd int at = ward_init_open_inside(root, tree->path);
	size_t n = 0;
	if (at < 0)
		return ward_err_sys(err, at, "mount single files on %s", tree->path);
	int r = ward_init_attach(mount, at, tree->path, err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < p->n_entries && r == 0; i++)
		if (p->entries[i].kind == WARD_BLUEPRINT_TREE_FILE)
			r = clone_file(mount, &p->entries[i], &mounts[n++], err);
	if (umount2(tree->path, MNT_DETACH) < 0 && r == 0)
		r = ward_err_sys(err, -errno, "unmount single files");
	return r;
}

static int attach_all(
	const struct ward_blueprint *p, int root, const int *mounts, struct ward_err *err)
{
	size_t n = 0;
	int r = 0;
	for (size_t i = 0; i < p->n_entries && r == 0; i++) {
		if (p->entries[i].kind != WARD_BLUEPRINT_TREE_FILE)
			continue;
		ward_cleanup_fd int point = ward_init_open_inside(root, p->entries[i].path);
		r = point < 0 ? ward_err_sys(err, point, "mount point %s", p->entries[i].path)
			      : ward_init_attach(mounts[n], point, p->entries[i].path, err);
		n++;
	}
	return r;
}

int ward_init_files(struct ward_init *in, struct ward_err *err)
{
	const struct ward_blueprint *p = &in->blueprint;
	const struct ward_blueprint_entry *tree = NULL;
	int mounts[WARD_BLUEPRINT_ENTRIES_MAX];
	for (size_t i = 0; i < p->n_entries; i++)
		if (p->entries[i].kind == WARD_BLUEPRINT_FILES)
			tree = &p->entries[i];
	if (!tree)
		return 0;
	for (size_t i = 0; i < p->n_entries; i++)
		mounts[i] = -1;
	ward_cleanup_fd int root = open(in->view, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int r = root < 0 ? ward_err_sys(err, -errno, "open %s", in->view)
			 : clone_all(in, tree, root, mounts, err);
	if (r == 0)
		r = attach_all(p, root, mounts, err);
	for (size_t i = 0; i < p->n_entries; i++)
		if (mounts[i] >= 0)
			close(mounts[i]);
	return r;
}
