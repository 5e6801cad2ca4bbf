/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The requests of the kernel, as libfuse's low-level API hands them over. One file a family:
 * ops_lookup (names and metadata read), ops_attr (metadata changed), ops_open (open, create,
 * close), ops_io (content), ops_dir (listings), ops_modify (names changed), ops_xattr, ops_lock.
 *
 * Every function answers its request exactly once, from whatever thread, and holds no lock as it
 * does. No error ends the daemon.
 */
/* clang-format off */
/*
 * Each operation of the protocol up to 7.45 (enum fuse_opcode, include/uapi/linux/fuse.h of Linux
 * 6.18) is served by one of them, or is not, for a reason (tests/static/operations.py compares):
 *
 *   LOOKUP FORGET BATCH_FORGET GETATTR READLINK ACCESS STATFS	ops_lookup.c
 *   STATX	ops_statx.c
 *   SETATTR	ops_attr.c
 *   OPEN CREATE FLUSH RELEASE FSYNC	ops_open.c
 *   TMPFILE	ops_tmpfile.c
 *   READ WRITE FALLOCATE LSEEK COPY_FILE_RANGE IOCTL	ops_io.c; IOCTL: ENOTTY, see there
 *   OPENDIR RELEASEDIR READDIR READDIRPLUS FSYNCDIR	ops_dir.c (OPENDIR: see fs.h)
 *   SYMLINK MKNOD MKDIR UNLINK RMDIR RENAME RENAME2 LINK	ops_modify.c
 *   GETXATTR SETXATTR LISTXATTR REMOVEXATTR	ops_xattr.c
 *   GETLK SETLK SETLKW	ops_lock.c
 *   INIT DESTROY INTERRUPT	fuse_session.c and libfuse
 *
 *   COPY_FILE_RANGE_64	ENOSYS: the kernel asks with COPY_FILE_RANGE then; its 32-bit answer
 *	holds what one call of ours copies (at most 2 GiB: MAX_RW_COUNT)
 *   POLL	ENOSYS: the kernel then says "ready" by itself, as it does for files of the backing;
 *	fifos and sockets are its own
 *   SYNCFS	never sent: for virtiofs and block devices (fuseblk) alone. syncfs(2) writes the
 *	kernel's pages to the backing; that to the disk is the host's
 *   BMAP	never sent: for block devices (fuseblk)
 *   NOTIFY_REPLY	never sent: the answer to NOTIFY_RETRIEVE, which we do not ask
 *   SETUPMAPPING REMOVEMAPPING	never sent: virtiofs (DAX)
 *   CUSE_INIT	never sent: character devices in user space
 */
/* clang-format on */
#pragma once

#include "fs/request/op.h"

void ward_ops_lookup_fill(struct fuse_lowlevel_ops *ops);
void ward_ops_attr_fill(struct fuse_lowlevel_ops *ops);
void ward_ops_open_fill(struct fuse_lowlevel_ops *ops);
void ward_ops_close_fill(struct fuse_lowlevel_ops *ops);
void ward_ops_io_fill(struct fuse_lowlevel_ops *ops);
void ward_ops_dir_fill(struct fuse_lowlevel_ops *ops);
void ward_ops_modify_fill(struct fuse_lowlevel_ops *ops);
void ward_ops_xattr_fill(struct fuse_lowlevel_ops *ops);
void ward_ops_lock_fill(struct fuse_lowlevel_ops *ops);

/* The mode, the ids or the ACL of a directory are others now. */
void ward_ops_dir_changed(struct ward_fs_tree *tree, struct ward_node *node);

/* Whole messages that libfuse does not understand (FUSE_TMPFILE, FUSE_STATX); these answer. */
void ward_ops_tmpfile(struct ward_fs_tree *tree, const char *msg, size_t len);
void ward_ops_statx(struct ward_fs_tree *tree, const char *msg);
/* A request of the replayer (replay.h), at least a head long. False: it is served as anybody's. */
bool ward_ops_replay(struct ward_fs_tree *tree, const char *msg, size_t len);

/*
 * What now stands at name: stat, policy, node. 0 with *ret filled and one lookup counted, or a
 * negative errno; a caller that cannot deliver *ret gives the lookup back.
 */
int ward_ops_enter(struct ward_op *op, struct ward_node *parent, const char *name,
	struct fuse_entry_param *ret) ward_must_check;
/* The same, and answers with it. */
void ward_ops_reply_entry(struct ward_op *op, struct ward_node *parent, const char *name);
