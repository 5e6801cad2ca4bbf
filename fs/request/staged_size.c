/* SPDX-License-Identifier: Apache-2.0 */
/* Writes to staged files as far as [review] size has room, and says no for the staged layer. */
#include "fs/request/staged_size.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "fs/request/quota_name.h"
#include "fs/review/review_size.h"

/* --- asked by the staged layer --- */

static int take(void *user, uint64_t least, uint64_t want, uint64_t *ret)
{
	const struct ward_fs *fs = user;

	return ward_quota_stage(fs->quotas, least, want, ret);
}

static void give(void *user, uint64_t bytes)
{
	const struct ward_fs *fs = user;

	ward_quota_unstage(fs->quotas, bytes);
}

static void add(void *user, uint64_t bytes)
{
	const struct ward_fs *fs = user;

	ward_quota_stage_more(fs->quotas, bytes);
}

static void set(void *user, uint64_t bytes)
{
	const struct ward_fs *fs = user;

	ward_quota_stage_all(fs->quotas, bytes);
}

/* In the request that the thread serves. */
static int refuse(void *user, const struct ward_file_id *id, mode_t type)
{
	struct ward_record_paths paths = {.node = NULL};
	struct ward_op *op = ward_op_current();
	const struct ward_fs *fs = user;
	struct ward_quota_hit hit;
	struct ward_node *node;
	int r;

	if (!op)
		return -EDQUOT;
	ward_quota_stage_hit(fs->quotas, op->tree->path, &hit);
	node = ward_nodes_by_id(op->tree->nodes, id, type);
	paths.node = node ? node : &op->tree->nodes->root;
	r = ward_quota_say(op, &paths, &hit);
	if (node)
		ward_node_unpin(op->tree->nodes, node);
	return r;
}

static void say(void *user, struct ward_err *err)
{
	const struct ward_fs *fs = user;
	struct ward_quota_hit hit;

	ward_quota_stage_hit(fs->quotas, "", &hit);
	ward_err_set(err, -EDQUOT,
		"there is no room for what the step would keep: %llu bytes are staged (%s: %s); "
		"raise that, or remove files that the session made",
		(unsigned long long)hit.used, hit.place, hit.rule);
}

static bool hold(void *user, const struct ward_file_id *id, mode_t type)
{
	const struct ward_file file = {.id = *id, .st = {.st_mode = type}};
	const struct ward_fs *fs = user;
	bool known = false;

	for (size_t i = 0; i < fs->n_trees; i++)
		if (fs->trees[i].stages && fs->trees[i].nodes)
			known = ward_nodes_hold_quota(fs->trees[i].nodes, &file) || known;
	return known;
}

void ward_staged_begin(struct ward_fs *fs)
{
	const struct ward_review_size_calls calls = {.take = take,
		.give = give,
		.add = add,
		.set = set,
		.refuse = refuse,
		.say = say,
		.hold = hold,
		.user = fs};

	if (ward_quotas_staged(fs->quotas))
		ward_review_count(fs->review, &calls);
}

/* --- content --- */

bool ward_staged_counts(const struct ward_fs_tree *tree)
{
	return tree->stages && tree->fs->review && ward_quotas_staged(tree->fs->quotas);
}

static int begin(const struct ward_op *op, int fd, struct ward_review_growth *ret)
{
	*ret = (struct ward_review_growth){.file = NULL};
	return ward_staged_counts(op->tree) ? ward_review_grow_begin(op->tree->fs->review, fd, ret)
					    : 0;
}

static int grow(const struct ward_op *op, struct ward_review_growth *g, uint64_t least,
	uint64_t want, uint64_t *ret, struct ward_quota_hit *hit)
{
	int r = g->file ? ward_review_grow(op->tree->fs->review, g, least, want, ret) : 0;

	if (!g->file)
		*ret = want;
	if (r == -EDQUOT)
		ward_quota_stage_hit(op->tree->fs->quotas, op->tree->path, hit);
	return r;
}

static void end(const struct ward_op *op, struct ward_review_growth *g, int fd, uint64_t kept)
{
	if (g->file)
		ward_review_grow_end(op->tree->fs->review, g, fd, kept);
}

static ssize_t plain_write(
	const struct ward_handle *h, const char *buf, size_t size, off_t off, bool append)
{
	const struct iovec iov = {.iov_base = (void *)(uintptr_t)buf, .iov_len = size};
	const ssize_t n =
		append ? pwritev2(h->fd, &iov, 1, off, RWF_APPEND) : pwrite(h->fd, buf, size, off);

	return n < 0 ? -errno : n;
}

ssize_t ward_staged_write(const struct ward_op *op, const struct ward_handle *h, const char *buf,
	size_t size, off_t off, bool append, struct ward_quota_hit *hit)
{
	struct ward_review_growth g;
	uint64_t start, want, got = 0;
	ssize_t n = begin(op, h->fd, &g);

	if (n < 0)
		return n;
	start = append ? g.size : (uint64_t)off;
	if (g.file && (__builtin_add_overflow(start, size, &want) || want > INT64_MAX))
		n = -EFBIG;
	else if (g.file && size)
		n = grow(op, &g, start + 1, want, &got, hit);
	if (n == 0 && g.file && size && got < want)
		size = (size_t)(got - start);
	if (n == 0)
		n = plain_write(h, buf, size, off, append);
	end(op, &g, h->fd, 0);
	return n;
}

int ward_staged_truncate(
	const struct ward_op *op, int fd, off_t size, bool times, struct ward_quota_hit *hit)
{
	struct ward_review_growth g;
	uint64_t got;
	int r = begin(op, fd, &g);

	if (r < 0)
		return r;
	if (size > 0)
		r = grow(op, &g, (uint64_t)size, (uint64_t)size, &got, hit);
	if (r == 0)
		r = ward_backing_truncate(fd, size, times);
	end(op, &g, fd, 0);
	return r;
}

int ward_staged_fallocate(const struct ward_op *op, const struct ward_handle *h, int mode,
	off_t off, off_t len, struct ward_quota_hit *hit)
{
	const bool cuts = mode & (FALLOC_FL_PUNCH_HOLE | FALLOC_FL_COLLAPSE_RANGE);
	struct ward_review_growth g;
	uint64_t want = 0, got;
	int r = begin(op, h->fd, &g);

	if (r < 0)
		return r;
	/* fallocate(2): inserting moves the end by len, whatever the offset. */
	if (g.file && !cuts &&
		(__builtin_add_overflow(mode & FALLOC_FL_INSERT_RANGE ? g.size : (uint64_t)off,
			 (uint64_t)len, &want) ||
			want > INT64_MAX))
		r = -EFBIG;
	else if (g.file && !cuts)
		r = grow(op, &g, want, want, &got, hit);
	if (r == 0)
		r = fallocate(h->fd, mode, off, len) < 0 ? -errno : 0;
	end(op, &g, h->fd, r == 0 && mode & FALLOC_FL_KEEP_SIZE && !cuts ? want : 0);
	return r;
}

ssize_t ward_staged_copy(const struct ward_op *op, const struct ward_handle *in, off_t off_in,
	const struct ward_handle *out, off_t off_out, size_t len, struct ward_quota_hit *hit)
{
	struct ward_review_growth g;
	struct ward_file from;
	uint64_t want, got = 0, rest;
	ssize_t n = ward_staged_counts(op->tree) ? ward_backing_fstat(in->fd, &from) : 0;

	if (n == 0)
		n = begin(op, out->fd, &g);
	if (n < 0)
		return n;
	/* The copy ends with the file: the request may reach far beyond. */
	if (g.file) {
		rest = off_in < from.st.st_size ? (uint64_t)(from.st.st_size - off_in) : 0;
		len = len < rest ? len : (size_t)rest;
	}
	if (g.file && (__builtin_add_overflow((uint64_t)off_out, len, &want) || want > INT64_MAX))
		n = -EFBIG;
	else if (g.file && len)
		n = grow(op, &g, (uint64_t)off_out + 1, want, &got, hit);
	if (n == 0 && g.file && len && got < want)
		len = (size_t)(got - (uint64_t)off_out);
	if (n == 0) {
		n = copy_file_range(in->fd, &off_in, out->fd, &off_out, len, 0);
		n = n < 0 ? -errno : n;
	}
	end(op, &g, out->fd, 0);
	return n;
}

int ward_staged_xattr(const struct ward_op *op, int fd, const char *name, const char *value,
	size_t size, int flags, struct ward_quota_hit *hit)
{
	const bool counts = ward_staged_counts(op->tree);
	const ssize_t had = counts ? ward_backing_getxattr(fd, name, NULL, 0) : -ENODATA;
	const int64_t before = had < 0 ? 0 : had + (int64_t)strlen(name);
	const int64_t more = (value ? (int64_t)(size + strlen(name)) : 0) - before;
	uint64_t got = 0;
	int r = 0;

	if (counts && more > 0)
		r = ward_quota_stage(op->tree->fs->quotas, (uint64_t)more, (uint64_t)more, &got);
	if (r < 0) {
		ward_quota_stage_hit(op->tree->fs->quotas, op->tree->path, hit);
		return r;
	}
	r = value ? ward_backing_setxattr(fd, name, value, size, flags)
		  : ward_backing_removexattr(fd, name);
	if (r == 0 && counts)
		ward_review_extra(op->tree->fs->review, fd, more);
	else if (got)
		ward_quota_unstage(op->tree->fs->quotas, got);
	return r;
}
