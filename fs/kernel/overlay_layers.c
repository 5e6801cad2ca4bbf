/* SPDX-License-Identifier: Apache-2.0 */
/* Finds overlays whose files have device numbers of their own. */
#include "fs/kernel/overlay_layers.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "enforcer/base/cleanup.h"
#include "fs/kernel/backing.h"

/* So many names are looked at: one file tells. */
#define NAMES_MAX 4096

/* Of this mount, and a file with a device number of its own? */
static bool differs(const struct ward_fs_tree *tree, int dirfd, const char *name)
{
	struct statx stx;
	if (statx(dirfd, name, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC,
		    STATX_TYPE | STATX_MNT_ID, &stx) < 0)
		return false;
	return !S_ISDIR(stx.stx_mode) && tree->mnt_id && stx.stx_mask & STATX_MNT_ID &&
	       stx.stx_mnt_id == tree->mnt_id &&
	       makedev(stx.stx_dev_major, stx.stx_dev_minor) != tree->dev;
}

int ward_overlay_layers_check(const struct ward_fs_tree *tree, struct ward_err *err)
{
	ward_cleanup_fd int fd = -1;
	const struct dirent *e;

	if (tree->type != OVERLAYFS_SUPER_MAGIC || tree->files)
		return 0;
	/* A root that nobody may list: each file in it is looked at when it is asked for. */
	if (ward_backing_open(tree->root_fd, "", O_RDONLY | O_DIRECTORY, 0, &fd) < 0)
		return 0;
	ward_cleanup_dir DIR *d = fdopendir(fd);
	if (!d)
		return ward_err_sys(err, -errno, "%s: list the backing", tree->path);
	const int at = ward_steal_fd(&fd);
	for (unsigned n = 0; n < NAMES_MAX && (e = readdir(d)); n++)
		if (e->d_type != DT_DIR && differs(tree, at, e->d_name))
			return ward_err_set(err, -EXDEV,
				"%s is on an overlay whose layers are on several file systems, so inode numbers name no file there; fix: mount the overlay with xino=on, or move the project to another file system",
				tree->path);
	return 0;
}
