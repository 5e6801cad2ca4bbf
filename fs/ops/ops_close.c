/* SPDX-License-Identifier: Apache-2.0 */
/* Files flushed, written to disk and released. */
#include <errno.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fs/kernel/forget_queue.h"
#include "fs/ops/ops.h"
#include "fs/ops/ops_lock.h"
#include "fs/replay/replay.h"
#include "fs/request/fs_records.h"

/*
 * A store through a mapping changes the times of the backing's inode, and the kernel does not
 * update its FUSE inode. If the times differ, wardfs makes the kernel forget the attributes, so
 * that a look after close(2), msync(2) or fsync(2) sees the new ones. waited: a client that has h
 * open waits for the answer. Then the kernel has the inode, and takes no lock of it for this.
 * Otherwise the thread does it.
 */
static void tell_stores(struct ward_fs_tree *tree, struct ward_handle *h, bool waited)
{
	const uint64_t number = ward_node_to_ino(tree->nodes, h->node);
	struct ward_file file;

	if (!ward_handle_maps_past(h) || ward_backing_fstat(h->fd, &file) < 0 ||
		!ward_handle_seen(tree->nodes, h, &file.st))
		return;
	if (waited)
		(void)fuse_lowlevel_notify_inval_inode(tree->se, number, -1, 0);
	else
		ward_forget_attr(tree->forget, number);
}

static void op_flush(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct ward_fs_tree *tree = fuse_req_userdata(req);
	struct ward_handle *h = ward_handle_from(fi->fh);

	atomic_store(&h->flushed, true);
	tell_stores(tree, h, true);
	/* Not by its number, which may be another one by now (retired_inodes.h). */
	ward_lock_drop_owner(tree, h->node, fi->lock_owner);
	(void)fuse_reply_err(req, 0);
}

static void op_release(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct ward_handle *h = ward_handle_from(fi->fh);
	struct ward_op op = {.tree = fuse_req_userdata(req), .req = req};
	struct stat st;

	/* The replayer's (ops_replay.c): nothing was opened. */
	if (fi->fh == WARD_REPLAY_FH) {
		(void)fuse_reply_err(req, 0);
		return;
	}
	atomic_store(&h->flushed, true);
	/* What was stored after the descriptor was closed. */
	tell_stores(op.tree, h, false);
	/* Closing would not do: a backing id may keep the open file (backing_id()). */
	if (fi->flock_release)
		(void)flock(ward_handle_locks(h), LOCK_UN);
	/* Nobody waits for the answer; a trail that failed fails the next operation. */
	if (ward_record_close(&op, h) < 0)
		op.action = "close";
	if (h->made && op.tree->fs->host && fstat(h->fd, &st) == 0)
		ward_made_ended(&op.tree->fs->made, h->pid, st.st_size);
	ward_lock_drop_handle(op.tree, h);
	ward_handle_release(op.tree->nodes, h);
	(void)fuse_reply_err(req, 0);
}

static void op_fsync(fuse_req_t req, fuse_ino_t ino, int datasync, struct fuse_file_info *fi)
{
	struct ward_handle *h = ward_handle_from(fi->fh);
	int error = (datasync ? fdatasync(h->fd) : fsync(h->fd)) < 0 ? errno : 0;

	if (!error)
		error = -ward_backing_sync();

	tell_stores(fuse_req_userdata(req), h, true);
	(void)fuse_reply_err(req, error);
}

void ward_ops_close_fill(struct fuse_lowlevel_ops *ops)
{
	ops->flush = op_flush;
	ops->release = op_release;
	ops->fsync = op_fsync;
}
