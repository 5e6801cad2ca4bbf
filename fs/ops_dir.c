/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Listings. Offsets are the backing's own (d_off), so that telldir and seekdir hold across
 * requests; what the policy hides is left out.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "fs/fuse_kernel.h"
#include "fs/gate.h"
#include "fs/keep.h"
#include "fs/ops.h"
#include "fs/watch.h"

#define DIR_BUF (32U << 10)
/* No kernel asks for more (max_pages * 4096). */
#define REPLY_MAX (1U << 20)

/* An entry of getdents64(2), as in the kernel's include/linux/dirent.h. */
struct dent {
	uint64_t ino;
	int64_t off;
	uint16_t reclen;
	uint8_t type;
	char name[];
};

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

/* dir_lock held: the entry at off, without consuming it. 1, 0 at the end, or a negative errno. */
static int peek(struct ward_handle *h, int64_t off, struct dent **ret)
{
	if (off != h->dir_next || !h->dir_buf) {
		if (lseek(h->fd, off, SEEK_SET) < 0)
			return -errno;
		h->dir_next = off;
		h->dir_at = h->dir_have = 0;
	}
	if (h->dir_at == h->dir_have) {
		ssize_t n;

		if (!h->dir_buf && !(h->dir_buf = malloc(DIR_BUF)))
			return -ENOMEM;
		n = syscall(SYS_getdents64, h->fd, h->dir_buf, DIR_BUF);
		if (n < 0)
			return -errno;
		h->dir_at = 0;
		h->dir_have = (size_t)n;
		if (!n)
			return 0;
	}
	*ret = (struct dent *)(void *)(h->dir_buf + h->dir_at);
	return 1;
}

static void consume(struct ward_handle *h, const struct dent *d)
{
	h->dir_at += d->reclen;
	h->dir_next = d->off;
}

/* 1: to be shown (*ret_dots: "." or ".."), 0: hidden or gone, negative errno. */
static int shown(struct ward_op *op, struct ward_handle *h, struct dent *d, bool *ret_dots)
{
	struct ward_file file;

	*ret_dots = !strcmp(d->name, ".") || !strcmp(d->name, "..");
	if (*ret_dots)
		return 1;
	if (d->type == DT_UNKNOWN) {
		if (ward_backing_stat(op->tree, h->fd, d->name, &file) < 0)
			return 0;
		d->type = IFTODT(file.st.st_mode);
	}
	return ward_gate_visible(op->tree, h->node, d->name, d->type == DT_DIR);
}

/* Bytes that the entry takes in the reply: more than left means that it did not fit. */
static size_t add_plain(struct ward_op *op, char *buf, size_t left, const struct dent *d)
{
	const struct stat st = {.st_ino = d->ino, .st_mode = DTTOIF(d->type)};

	return fuse_add_direntry(op->req, buf, left, d->name, &st, d->off);
}

static size_t add_plus(struct ward_op *op, struct ward_handle *h, char *buf, size_t left,
	const struct dent *d, bool dots)
{
	/* Node 0: no attributes with this one, the kernel looks it up if it wants to know. */
	struct fuse_entry_param e = {.attr = {.st_ino = d->ino, .st_mode = DTTOIF(d->type)}};
	const size_t need = fuse_add_direntry_plus(op->req, NULL, 0, d->name, NULL, 0);
	struct ward_node *node = NULL;
	struct ward_keep keep;
	struct ward_file file;

	if (need > left)
		return need;
	pthread_rwlock_rdlock(&op->tree->nodes->renames_lock);
	if (!dots && ward_backing_stat(op->tree, h->fd, d->name, &file) == 0 &&
		S_ISDIR(file.st.st_mode) == (d->type == DT_DIR) &&
		ward_nodes_enter(op->tree->nodes, h->node, d->name, &file, &node) == 0) {
		e.ino = ward_node_to_ino(op->tree->nodes, node);
		e.attr = file.st;
		keep = ward_keep_name(op->tree->nodes, h->node, node, op->since);
		e.attr_timeout = keep.attr;
		e.entry_timeout = keep.entry;
		ward_op_map_stat(op->tree->fs, &e.attr);
	}
	pthread_rwlock_unlock(&op->tree->nodes->renames_lock);
	return fuse_add_direntry_plus(op->req, buf, left, d->name, &e, d->off);
}

/* Fills buf; *ret_len bytes. */
static int fill(struct ward_op *op, struct ward_handle *h, char *buf, size_t size, int64_t off,
	bool plus, size_t *ret_len)
{
	size_t len = 0, n;
	struct dent *d = NULL;
	bool dots;
	int r;

	while ((r = peek(h, off, &d)) > 0 && d) {
		r = shown(op, h, d, &dots);
		if (r < 0)
			break;
		if (r > 0) {
			n = plus ? add_plus(op, h, buf + len, size - len, d, dots)
				 : add_plain(op, buf + len, size - len, d);
			if (n > size - len)
				break;
			len += n;
		}
		consume(h, d);
		off = d->off;
	}
	/* What was found before an error is delivered; the error comes with the next request. */
	if (r < 0 && !len)
		return r;
	*ret_len = len;
	return 0;
}

/* The kernel did not take the answer: nor the lookups in it. */
static void give_back(struct ward_op *op, const char *buf, size_t len)
{
	for (size_t at = 0; at + FUSE_NAME_OFFSET_DIRENTPLUS <= len;) {
		const struct fuse_direntplus *d = (const void *)(buf + at);

		if (d->entry_out.nodeid)
			ward_node_forget(op->tree->nodes, ward_op_node(op, d->entry_out.nodeid), 1);
		at += FUSE_DIRENTPLUS_SIZE(d);
	}
}

static void list(fuse_req_t req, size_t size, off_t off, struct fuse_file_info *fi, bool plus)
{
	ward_cleanup_op op = {.acting = false};
	char *buf = NULL;
	struct ward_handle *h = ward_handle_from(fi->fh);
	size_t len = 0;
	int r = ward_op_begin(&op, req, "list");

	if (r == 0 && (!h->is_dir || size > REPLY_MAX))
		r = -EINVAL;
	if (r == 0 && !(buf = malloc(size)))
		r = -ENOMEM;
	if (r == 0) {
		pthread_mutex_lock(&h->dir_lock);
		r = fill(&op, h, buf, size, off, plus, &len);
		pthread_mutex_unlock(&h->dir_lock);
	}
	if (r < 0)
		ward_op_reply(&op, r);
	else if (fuse_reply_buf(req, buf, len) < 0 && plus)
		give_back(&op, buf, len);
	free(buf);
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
