/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "fs/ahead.h"
#include "fs/fuse_kernel.h"
#include "fs/gate.h"
#include "fs/keep.h"
#include "fs/listing.h"
#include "fs/ops.h"
#include "fs/watch.h"

/* No kernel asks for more (max_pages * 4096). */
#define REPLY_MAX (1U << 20)

static void op_opendir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	ward_cleanup_op op = {.acting = false};
	struct ward_open_out out = {0};
	struct ward_handle *h = NULL;
	struct ward_file file;
	struct ward_node *node = NULL;
	int fd = -1;
	int r = ward_op_begin(&op, req, "list");

	if (r == 0) {
		node = ward_op_node(&op, ino);
		r = ward_gate_node(&op, node, WARD_RIGHT_LIST, 0, 0, NULL);
	}
	if (r == 0)
		r = ward_resolve_open(op.tree, node, O_RDONLY | O_DIRECTORY, &fd, &file);
	if (r == 0)
		r = ward_handle_new(op.tree->nodes, node, fd, &h);
	if (r != 0) {
		ward_op_reply(&op, r);
		return;
	}
	h->is_dir = true;
	h->flags = O_RDONLY;
	h->rights = WARD_RIGHT_LIST;
	out.fh = (uint64_t)(uintptr_t)h;
	/* The kernel keeps the listing and asks for the time stamp only: as long as it may. */
	ward_watch_dir(op.tree, node, h->fd);
	if (ward_keep_listing(op.tree->nodes, node))
		out.open_flags = FOPEN_CACHE_DIR | FOPEN_KEEP_CACHE;
	if (fuse_reply_buf(req, (const char *)&out, sizeof(out)) < 0)
		ward_handle_release(op.tree->nodes, h);
}

static void op_releasedir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct ward_fs_tree *tree = fuse_req_userdata(req);

	ward_handle_release(tree->nodes, ward_handle_from(fi->fh));
	(void)fuse_reply_err(req, 0);
}

/* Makes the answer, or finds it made. */
static int make_listing(struct ward_op *op, struct ward_handle *h, struct ward_listing *l)
{
	int r;

	if (!h->is_dir || l->size > REPLY_MAX)
		return -EINVAL;
	if (ward_ahead_take(op->tree->ahead, h, l))
		return 0;
	l->buf = malloc(l->size);
	if (!l->buf)
		return -ENOMEM;
	pthread_mutex_lock(&h->dir_lock);
	r = ward_listing_fill(op, h, l, SIZE_MAX);
	pthread_mutex_unlock(&h->dir_lock);
	return r;
}

static void list(fuse_req_t req, size_t size, off_t off, struct fuse_file_info *fi, bool plus)
{
	ward_cleanup_op op = {.acting = false};
	struct ward_handle *h = ward_handle_from(fi->fh);
	struct ward_listing l = {.size = size, .off = off, .plus = plus};
	int r = ward_op_begin(&op, req, "list");

	if (r == 0)
		r = make_listing(&op, h, &l);
	if (r < 0) {
		ward_op_reply(&op, r);
	} else {
		/* Before the answer: after it the handle may be gone. */
		if (plus && !off)
			ward_ahead_guess(op.tree->ahead, h->node, size);
		if (fuse_reply_buf(req, l.buf, l.len) < 0)
			ward_listing_give_back(op.tree, &l);
	}
	free(l.buf);
}

static void op_readdir(
	fuse_req_t req, fuse_ino_t ino, size_t size, off_t off, struct fuse_file_info *fi)
{
	list(req, size, off, fi, false);
}

static void op_readdirplus(
	fuse_req_t req, fuse_ino_t ino, size_t size, off_t off, struct fuse_file_info *fi)
{
	list(req, size, off, fi, true);
}

void ward_ops_dir_fill(struct fuse_lowlevel_ops *ops)
{
	ops->opendir = op_opendir;
	ops->releasedir = op_releasedir;
	ops->readdir = op_readdir;
	ops->readdirplus = op_readdirplus;
}
