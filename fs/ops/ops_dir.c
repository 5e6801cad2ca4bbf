/* SPDX-License-Identifier: Apache-2.0 */
/* Directories: opened, listed, released. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "fs/base/fuse_kernel.h"
#include "fs/gate/gate.h"
#include "fs/kernel/folding.h"
#include "fs/kernel/uring.h"
#include "fs/ops/listing.h"
#include "fs/ops/listing_ahead.h"
#include "fs/ops/ops.h"
#include "fs/resolve/resolve_node.h"
#include "fs/watch/backing_watch.h"
#include "fs/watch/keep_time.h"

/* The kernel asks for no more (INIT). */
#define REPLY_MAX WARD_FUSE_MESSAGE_DATA

/* Opens a directory to list it: the policy and the owner's rights on the backing decide. */
static int open_dir(struct ward_op *op, struct ward_node *node, struct ward_handle **ret)
{
	struct ward_handle *h = NULL;
	struct ward_file file;
	ward_cleanup_fd int fd = -1;
	int r = ward_gate_node(op, node, WARD_RIGHT_LIST, 0, 0, NULL);

	if (r == 0)
		r = ward_resolve_open(op->tree, node, O_RDONLY | O_DIRECTORY, &fd, &file);
	if (r == 0)
		r = ward_folding_check(op->tree, fd);
	if (r == 0)
		r = ward_handle_new(op->tree->nodes, node, ward_steal_fd(&fd), op->uid, &h);
	if (r != 0)
		return r;
	h->is_dir = true;
	h->flags = O_RDONLY;
	h->rights = h->needs = WARD_RIGHT_LIST;
	ward_op_hold(op, h);
	ward_watch_dir(op->tree, node, h->fd);
	*ret = h;
	return 0;
}

/* Whether open_dir() would succeed, without a descriptor that nobody needs. */
static int may_list(struct ward_op *op, struct ward_node *node)
{
	struct ward_fdref removed = {.fd = -1};
	struct ward_dirref dir = {.fd = -1};
	int r = ward_gate_node(op, node, WARD_RIGHT_LIST, 0, 0, NULL);

	if (r != 0)
		return r;
	r = ward_resolve_dir(op->tree, node, &dir);
	if (r == -ESTALE)
		r = ward_resolve_fd(op->tree, node, &removed);
	if (r == 0)
		r = ward_backing_access(dir.node ? dir.fd : removed.fd, R_OK);
	ward_dirref_put(op->tree, &dir);
	ward_fdref_put(op->tree, &removed);
	return r;
}

static void op_opendir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct ward_fs_tree *tree = fuse_req_userdata(req);
	ward_cleanup_op op = {.acting = false};
	struct ward_open_out out = {0};
	struct ward_handle *h = NULL;
	int r = ward_op_begin(&op, req, "list");

	if (r == 0 && tree->list_anew)
		r = may_list(&op, ward_op_node(&op, ino));
	else if (r == 0)
		r = open_dir(&op, ward_op_node(&op, ino), &h);
	if (r != 0) {
		ward_op_reply(&op, r);
		return;
	}
	out.fh = (uint64_t)(uintptr_t)h;
	/* The kernel keeps the listing and asks for the time stamp only: as long as it may. */
	if (!h || ward_keep_listing(tree->nodes, h->node))
		out.open_flags = FOPEN_CACHE_DIR | FOPEN_KEEP_CACHE;
	if (fuse_reply_buf(req, (const char *)&out, sizeof(out)) < 0 && h)
		ward_handle_release(tree->nodes, h);
}

static void op_releasedir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct ward_fs_tree *tree = fuse_req_userdata(req);

	if (fi->fh)
		ward_handle_release(tree->nodes, ward_handle_from(fi->fh));
	(void)fuse_reply_err(req, 0);
}

static int fill(struct ward_op *op, struct ward_handle *h, struct ward_listing *l)
{
	int r;

	l->buf = malloc(l->size);
	if (!l->buf)
		return -ENOMEM;
	pthread_mutex_lock(&h->dir_lock);
	r = ward_listing_fill(op, h, l, SIZE_MAX);
	pthread_mutex_unlock(&h->dir_lock);
	return r;
}

/* For a handle of OPENDIR. */
static int list_open(struct ward_op *op, struct ward_handle *h, struct ward_listing *l)
{
	if (!h->is_dir)
		return -EINVAL;
	if (!ward_handle_may(h, h->needs))
		return -EACCES;
	return ward_ahead_take(op->tree->ahead, h->node, l) ? 0 : fill(op, h, l);
}

/* Without one (tree->list_anew): what opening does is done for each part of the listing. */
static int list_anew(struct ward_op *op, struct ward_node *node, struct ward_listing *l)
{
	struct ward_ahead *ahead = op->tree->ahead;
	struct ward_handle *h = NULL;
	int r = 0;

	if (!node->dir)
		return node == &op->tree->nodes->nowhere ? -ESTALE : -ENOTDIR;
	/* Opened a moment ago, as the owner, for the guess or for the part before. */
	if (ward_ahead_at_end(ahead, node, l))
		return 0;
	if (!ward_ahead_take(ahead, node, l)) {
		r = open_dir(op, node, &h);
		if (r != 0)
			return r;
		/* What is looked at from here on is covered by the watch. */
		op->since = atomic_load(&op->tree->watch_seq);
		r = fill(op, h, l);
		ward_handle_release(op->tree->nodes, h);
	} else {
		r = ward_gate_node(op, node, WARD_RIGHT_LIST, 0, 0, NULL);
		if (r < 0) {
			ward_listing_give_back(op->tree, l);
			return r;
		}
	}
	if (r == 0)
		ward_ahead_made(ahead, node, l);
	return r;
}

static void list(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off, struct fuse_file_info *fi,
	bool plus)
{
	ward_cleanup_op op = {.acting = false};
	struct ward_handle *h = ward_handle_from(fi->fh);
	struct ward_listing l = {.size = size, .plus = plus};
	struct ward_dir_key key;
	struct ward_node *node = NULL;
	bool guessed = false;
	int r = ward_op_begin(&op, req, "list");

	if (r == 0 && size > REPLY_MAX)
		r = -EINVAL;
	if (r == 0) {
		/* Of a handle, not by its number, which may be another one by now
		 * (retired_inodes.h). */
		node = h ? h->node : ward_op_node(&op, ino);
		key = ward_dir_key_for(&op.tree->nodes->dir_key, &node->id);
		l.off = ward_dir_position(&key, off);
		r = h ? list_open(&op, h, &l) : list_anew(&op, node, &l);
	}
	if (r < 0) {
		ward_op_reply(&op, r);
	} else {
		/* Before the answer: after it the handle may be gone. */
		if (plus && l.len)
			guessed = ward_ahead_guess(op.tree->ahead, node, &l);
		if (fuse_reply_buf(req, l.buf, l.len) < 0)
			ward_listing_give_back(op.tree, &l);
		/* The reader of /dev/fuse has nothing else to do then. */
		if (guessed)
			ward_uring_wake_reader(op.tree->uring);
	}
	free(l.buf);
}

static void op_readdir(
	fuse_req_t req, fuse_ino_t ino, size_t size, off_t off, struct fuse_file_info *fi)
{
	list(req, ino, size, off, fi, false);
}

static void op_readdirplus(
	fuse_req_t req, fuse_ino_t ino, size_t size, off_t off, struct fuse_file_info *fi)
{
	list(req, ino, size, off, fi, true);
}

static void op_fsyncdir(fuse_req_t req, fuse_ino_t ino, int datasync, struct fuse_file_info *fi)
{
	const struct ward_handle *h = ward_handle_from(fi->fh);
	ward_cleanup_op op = {.acting = false};
	ward_cleanup_fd int own = -1;
	struct ward_file file;
	int r = ward_op_begin(&op, req, "sync");

	if (r == 0 && !h)
		r = ward_resolve_open(
			op.tree, ward_op_node(&op, ino), O_RDONLY | O_DIRECTORY, &own, &file);
	if (r == 0)
		r = ward_backing_sync();
	if (r == 0 && (datasync ? fdatasync(h ? h->fd : own) : fsync(h ? h->fd : own)) < 0)
		r = -errno;
	ward_op_reply(&op, r);
}

void ward_ops_dir_fill(struct fuse_lowlevel_ops *ops)
{
	ops->opendir = op_opendir;
	ops->releasedir = op_releasedir;
	ops->readdir = op_readdir;
	ops->readdirplus = op_readdirplus;
	ops->fsyncdir = op_fsyncdir;
}
