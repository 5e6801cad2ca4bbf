/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The requests of the kernel, as libfuse's low-level API hands them over. One file a family:
 * ops_lookup (names and metadata read), ops_attr (metadata changed), ops_open (open, create,
 * close), ops_io (content), ops_dir (listings), ops_modify (names changed), ops_xattr, ops_lock.
 *
 * Every function answers its request exactly once, from whatever thread, and holds no lock as it
 * does. No error ends the daemon.
 */
#pragma once

#include "fs/op.h"

void ward_ops_lookup_fill(struct fuse_lowlevel_ops *ops);
void ward_ops_attr_fill(struct fuse_lowlevel_ops *ops);
void ward_ops_open_fill(struct fuse_lowlevel_ops *ops);
void ward_ops_io_fill(struct fuse_lowlevel_ops *ops);
void ward_ops_dir_fill(struct fuse_lowlevel_ops *ops);
void ward_ops_modify_fill(struct fuse_lowlevel_ops *ops);
void ward_ops_xattr_fill(struct fuse_lowlevel_ops *ops);
void ward_ops_lock_fill(struct fuse_lowlevel_ops *ops);

/* FUSE_TMPFILE: a whole message, which libfuse would not understand; answers it. */
void ward_ops_tmpfile(struct ward_fs_tree *tree, const char *msg, size_t len);

/*
 * What now stands at name: stat, policy, node. 0 with *ret filled and one lookup counted, or a
 * negative errno; a caller that cannot deliver *ret gives the lookup back.
 */
int ward_ops_enter(struct ward_op *op, struct ward_node *parent, const char *name,
	struct fuse_entry_param *ret) ward_must_check;
