/* SPDX-License-Identifier: Apache-2.0 */
/* Overlays (overlayfs) that give files no identity. */
#ifndef WARD_FS_KERNEL_OVERLAY_LAYERS_H
#define WARD_FS_KERNEL_OVERLAY_LAYERS_H

#include "enforcer/base/err.h"
#include "fs/base/fs.h"

/*
 * If the layers of an overlay are on several file systems, its files have the device numbers of
 * these, unless it is mounted with xino=on. Inode numbers then name no file of the tree. Looks at
 * the files directly in the root of a tree on an overlay. 0; -EXDEV with text: such an overlay.
 */
int ward_overlay_layers_check(
	const struct ward_fs_tree *tree, struct ward_err *err) ward_must_check;

#endif
