/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From nodes to descriptors of the backing.
 *
 * A node is reached by its names: the parent directory's descriptor and one component; what is
 * found there must be the very file the node stands for, else the answer is -ESTALE, at which the
 * kernel looks the path up again. Descriptors of directories are kept (WARD_NODE_DIRS_MAX) and
 * looked at again after WARD_RESOLVE_FRESH_NS: is it still there under its name, may the owner
 * still search it. So a change of the host's takes effect within that time although the daemon does
 * not walk paths, and a chmod inside at once (ward_resolve_changed()).
 */
#pragma once

#include "fs/handle/handle.h"
#include "fs/node/node.h"

#define WARD_RESOLVE_FRESH_NS UINT64_C(1000000000)

/* A directory's O_PATH descriptor, in use until ward_dirref_put(). */
struct ward_dirref {
	struct ward_node *node;
	int fd;
};
/*
 * -EACCES: the owner may not search a directory above it; -ESTALE: it is not where it was;
 * -ENOTDIR; what the backing answers.
 */
int ward_resolve_dir(
	struct ward_fs_tree *tree, struct ward_node *node, struct ward_dirref *ret) ward_must_check;
void ward_dirref_put(struct ward_fs_tree *tree, struct ward_dirref *ref);

/* Metadata of a node, of an open handle's file if it has one. A directory that was removed has some
 * while its descriptor is kept: so for the two below. */
int ward_resolve_stat(
	struct ward_fs_tree *tree, struct ward_node *node, struct ward_file *ret) ward_must_check;

/* Opens the node's file again with these flags (backing.h). *ret_fd is the caller's. */
int ward_resolve_open(struct ward_fs_tree *tree, struct ward_node *node, int flags, int *ret_fd,
	struct ward_file *ret_file) ward_must_check;

/* Some descriptor of the node's file, good for metadata: an open handle's, else a fresh O_PATH. */
struct ward_fdref {
	int fd;
	struct ward_handle *handle; /* NULL: fd is owned */
};
int ward_resolve_fd(
	struct ward_fs_tree *tree, struct ward_node *node, struct ward_fdref *ret) ward_must_check;
void ward_fdref_put(struct ward_fs_tree *tree, struct ward_fdref *ref);

/*
 * name in parent, whose descriptor is dirfd, is about to be removed or replaced. A process in that
 * directory, or one that has it open or has the file by O_PATH, may go on asking about it, as long
 * as its descriptor is kept (WARD_NODE_DIRS_MAX, removed_files.h).
 */
void ward_resolve_keep(
	struct ward_fs_tree *tree, struct ward_node *parent, int dirfd, const char *name);

/*
 * After a name was removed or renamed: names of a file are looked at whose last place that the
 * staged changes know is gone (ward_review_unplaced()). No lock is held.
 */
void ward_resolve_places(struct ward_fs_tree *tree);

/* Mode, owner or ACL of a directory changed: look again before the next use. */
void ward_resolve_changed(struct ward_fs_tree *tree, struct ward_node *node);
