/* SPDX-License-Identifier: Apache-2.0 */
/* Fills answers to READDIR and READDIRPLUS. */
#include "fs/ops/listing.h"

#include <dirent.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "enforcer/base/dent.h"
#include "fs/base/fuse_kernel.h"
#include "fs/gate/gate.h"
#include "fs/request/quota_name.h"
#include "fs/review/review.h"
#include "fs/watch/keep_time.h"

#define DIR_BUF (32U << 10)

static void consume(struct ward_handle *h, const struct ward_dent *d)
{
	h->dir_at += d->reclen;
	h->dir_next = d->off;
}

/*
 * The same where names are staged: the whole listing is made at its beginning, and kept, so that
 * what is removed meanwhile moves nothing.
 */
static int peek_staged(struct ward_handle *h, int64_t off, struct ward_dent **ret)
{
	struct ward_review_entries e;
	int r;

	if (!off || !h->dir_buf) {
		free(h->dir_buf);
		h->dir_buf = NULL;
		r = ward_review_list(ward_backing_staged(), h->fd, &e);
		if (r < 0)
			return r;
		h->dir_buf = e.v;
		h->dir_have = e.len;
		h->dir_next = 0;
		h->dir_at = 0;
	}
	if (off != h->dir_next)
		h->dir_next = (int64_t)(h->dir_at = 0);
	while (h->dir_next != off && h->dir_at < h->dir_have)
		consume(h, (struct ward_dent *)(void *)(h->dir_buf + h->dir_at));
	if (h->dir_at >= h->dir_have)
		return 0;
	*ret = (struct ward_dent *)(void *)(h->dir_buf + h->dir_at);
	return 1;
}

/* dir_lock held: the entry at off, without consuming it. 1, 0 at the end, or a negative errno. */
static int peek(struct ward_handle *h, int64_t off, struct ward_dent **ret)
{
	if (ward_backing_staged())
		return peek_staged(h, off, ret);
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
	*ret = (struct ward_dent *)(void *)(h->dir_buf + h->dir_at);
	return 1;
}

/* 1: to be shown (*ret_dots: "." or ".."), 0: hidden or gone, negative errno. */
static int shown(struct ward_op *op, struct ward_handle *h, struct ward_dent *d, bool *ret_dots)
{
	struct ward_file file;

	*ret_dots = !strcmp(d->name, ".") || !strcmp(d->name, "..");
	/* What is above the tree is the host's; a root is its own parent. */
	if (!strcmp(d->name, "..") && h->node == &op->tree->nodes->root) {
		if (ward_backing_fstat(h->fd, &file) < 0)
			return 0;
		d->ino = file.st.st_ino;
	}
	if (*ret_dots)
		return 1;
	if (d->type == DT_UNKNOWN) {
		if (ward_backing_stat(op->tree, h->fd, d->name, &file) < 0)
			return 0;
		d->type = IFTODT(file.st.st_mode);
	}
	return ward_gate_visible(op->tree, h->node, d->name, d->type == DT_DIR, h->fd);
}

/* Bytes that the entry takes in the reply: more than left means that it did not fit. */
static size_t add_plain(struct ward_op *op, char *buf, size_t left, const struct ward_dent *d)
{
	const struct stat st = {.st_ino = d->ino, .st_mode = DTTOIF(d->type)};

	return fuse_add_direntry(op->req, buf, left, d->name, &st, 0);
}

/* Directories of one listing lead to each other (listing_ahead.h). */
static void chain(struct ward_nodes *nodes, const struct ward_handle *h, struct ward_node *node)
{
	struct ward_node *last = NULL;

	pthread_mutex_lock(&nodes->lock);
	if (h->node->dir->last_dir)
		last = ward_node_ids_find(&nodes->ids, h->node->dir->last_dir);
	if (last && last->dir)
		last->dir->next_dir = node->number;
	else
		h->node->dir->first_dir = node->number;
	h->node->dir->last_dir = node->number;
	pthread_mutex_unlock(&nodes->lock);
}

static size_t add_plus(struct ward_op *op, struct ward_handle *h, bool ahead, char *buf,
	size_t left, const struct ward_dent *d, bool dots)
{
	/* Node 0: no attributes with this one, the kernel looks it up if it wants to know. */
	struct fuse_entry_param e = {.attr = {.st_ino = d->ino, .st_mode = DTTOIF(d->type)}};
	const size_t need = fuse_add_direntry_plus(op->req, NULL, 0, d->name, NULL, 0);
	struct ward_nodes *nodes = op->tree->nodes;
	struct ward_node *node = NULL;
	struct ward_keep keep;
	struct ward_file file;
	uint64_t before;
	bool seen;

	if (need > left)
		return need;
	pthread_rwlock_rdlock(&nodes->renames_lock);
	before = ward_quota_before(op->tree, h->node, d->name);
	seen = !dots && ward_backing_stat(op->tree, h->fd, d->name, &file) == 0;
	if (seen)
		ward_quota_missing(op->tree, h->node, d->name, before, &file);
	if (seen && S_ISDIR(file.st.st_mode) == (d->type == DT_DIR) &&
		ward_nodes_enter(nodes, h->node, d->name, &file, &node) == 0) {
		if (ahead && ward_keep_writing(nodes, node)) {
			ward_node_forget(nodes, node, 1);
		} else {
			e.ino = ward_node_to_ino(nodes, node);
			e.attr = file.st;
			keep = ward_keep_name(nodes, h->node, node, op->since);
			e.attr_timeout = op->shown ? 0 : keep.attr;
			e.entry_timeout = op->shown ? 0 : keep.entry;
			ward_op_map_stat(op->tree, node, &e.attr);
			if (node->dir)
				chain(nodes, h, node);
		}
	}
	pthread_rwlock_unlock(&nodes->renames_lock);
	return fuse_add_direntry_plus(op->req, buf, left, d->name, &e, 0);
}

/*
 * The last entry of the answer leads to l->off, where the next one that shows is, or the end: what
 * is hidden in between leaves no trace.
 */
static void lead(struct ward_listing *l, const struct ward_dir_key *key)
{
	const uint64_t cookie = (uint64_t)ward_dir_cookie(key, l->off);

	if (l->patch)
		memcpy(l->buf + l->patch, &cookie, sizeof(cookie));
}

/* false: it does not fit. */
static bool add(struct ward_op *op, struct ward_handle *h, struct ward_listing *l,
	const struct ward_dir_key *key, const struct ward_dent *d, bool dots)
{
	const size_t left = l->size - l->len;
	char *to = l->buf + l->len;
	size_t n;

	lead(l, key);
	n = l->plus ? add_plus(op, h, l->ahead, to, left, d, dots) : add_plain(op, to, left, d);
	if (n > left)
		return false;
	l->patch = l->len + (l->plus ? offsetof(struct fuse_direntplus, dirent.off)
				     : offsetof(struct fuse_dirent, off));
	l->len += n;
	return true;
}

int ward_listing_fill(struct ward_op *op, struct ward_handle *h, struct ward_listing *l, size_t max)
{
	const struct ward_dir_key key = ward_dir_key_for(&op->tree->nodes->dir_key, &h->node->id);
	struct ward_dent *d = NULL;
	bool dots;
	int r;

	if (!l->off) {
		pthread_mutex_lock(&op->tree->nodes->lock);
		h->node->dir->last_dir = 0;
		pthread_mutex_unlock(&op->tree->nodes->lock);
	}
	while ((r = peek(h, l->off, &d)) > 0 && d) {
		if (!max--)
			return 1;
		r = shown(op, h, d, &dots);
		if (r < 0)
			break;
		op->shown = op->shown || r == 2;
		if (r > 0 && !add(op, h, l, &key, d, dots))
			break;
		consume(h, d);
		l->off = d->off;
	}
	lead(l, &key);
	l->end = r == 0;
	/* What was found before an error is delivered; the error comes with the next request. */
	return r < 0 && !l->len ? r : 0;
}

void ward_listing_give_back(struct ward_fs_tree *tree, const struct ward_listing *l)
{
	for (size_t at = 0; l->plus && at + FUSE_NAME_OFFSET_DIRENTPLUS <= l->len;) {
		const struct fuse_direntplus *d = (const void *)(l->buf + at);

		if (d->entry_out.nodeid)
			ward_node_forget(tree->nodes,
				ward_nodes_from_ino(tree->nodes, d->entry_out.nodeid), 1);
		at += FUSE_DIRENTPLUS_SIZE(d);
	}
}
