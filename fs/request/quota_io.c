/* SPDX-License-Identifier: Apache-2.0 */
/* Changes content beneath quotas: charges it, and writes what fits. */
#include "fs/request/quota_io.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "enforcer/base/clock.h"
#include "fs/request/quota_name.h"
#include "fs/request/staged_size.h"

/* Runs of data that are counted one by one; what lies behind counts as holes. */
#define RUNS_MAX 4096
/* st_blocks is in these units (stat(2)). */
#define BLOCK 512

bool ward_quota_counts_writes(const struct ward_fs_tree *tree, const struct ward_quota_file *f)
{
	struct ward_quotas *q = tree->fs->quotas;

	return f && ward_quota_wants(ward_quota_domain_of(q, f)) & WARD_QUOTA_WANT_WRITES;
}

static int size_of(int fd, uint64_t *ret)
{
	struct ward_file file;
	int r = ward_backing_fstat(fd, &file);

	if (r == 0)
		*ret = (uint64_t)file.st.st_size;
	return r;
}

/* After a change: what it really became. */
static void settle(struct ward_quotas *q, struct ward_quota_file *f, int fd, uint64_t before)
{
	uint64_t size;

	/* Of a file that cannot be looked at, what was taken stays taken. */
	if (size_of(fd, &size) == 0)
		ward_quota_settle(q, f, size);
	else
		ward_quota_settle(q, f, before);
}

/* The file's lock is held for writing. */
static ssize_t write_growing(const struct ward_op *op, struct ward_handle *h, const char *buf,
	size_t size, off_t off, bool append, struct ward_quota_hit *hit)
{
	struct ward_quotas *q = op->tree->fs->quotas;
	uint64_t now = 0, got, start;
	ssize_t n = size_of(h->fd, &now);

	if (n < 0)
		return n;
	start = append ? now : (uint64_t)off;
	if (__builtin_add_overflow(start, size, &got) || got > INT64_MAX)
		return -EFBIG;
	if (got > now) {
		n = ward_quota_grow(q, h->quota, now, got, start + 1, &got, hit);
		if (n < 0)
			return n;
		if (got < start + size)
			size = (size_t)(got - start);
	}
	n = ward_staged_write(op, h, buf, size, off, append, hit);
	settle(q, h->quota, h->fd, now);
	return n;
}

ssize_t ward_quota_write(struct ward_op *op, struct ward_handle *h, const char *buf, size_t size,
	off_t off, bool append)
{
	const struct ward_record_paths paths = {.node = h->node};
	struct ward_quotas *q = op->tree->fs->quotas;
	struct ward_quota_hit hit = {.error = 0};
	uint64_t now = 0;
	ssize_t n;

	if (off < 0)
		return -EINVAL;
	if (!ward_quota_counts_writes(op->tree, h->quota) || !size) {
		n = ward_staged_write(op, h, buf, size, off, append, &hit);
		return hit.error ? ward_quota_say(op, &paths, &hit) : n;
	}
	/* Within what is there nothing is charged; nobody makes it smaller meanwhile. */
	if (!append) {
		ward_quota_lock(q, h->quota, false);
		n = size_of(h->fd, &now);
		if (n == 0 && size <= now && (uint64_t)off <= now - size)
			n = ward_staged_write(op, h, buf, size, off, false, &hit);
		ward_quota_unlock(q, h->quota);
		if (n != 0)
			return hit.error ? ward_quota_say(op, &paths, &hit) : n;
	}
	ward_quota_lock(q, h->quota, true);
	n = write_growing(op, h, buf, size, off, append, &hit);
	ward_quota_unlock(q, h->quota);
	return hit.error ? ward_quota_say(op, &paths, &hit) : n;
}

static int truncate_locked(const struct ward_op *op, struct ward_quota_file *f, int fd, off_t size,
	bool times, struct ward_quota_hit *hit)
{
	struct ward_quotas *q = op->tree->fs->quotas;
	uint64_t now = 0, got;
	int r = size_of(fd, &now);

	if (r < 0)
		return r;
	if ((uint64_t)size > now)
		r = ward_quota_grow(q, f, now, (uint64_t)size, (uint64_t)size, &got, hit);
	else
		ward_quota_seen(q, f, now);
	if (r < 0)
		return r;
	r = ward_staged_truncate(op, fd, size, times, hit);
	settle(q, f, fd, now);
	/* Space beyond the end goes with what is cut off. */
	if (r == 0 && (uint64_t)size < now)
		ward_quota_kept(q, f, 0);
	return r;
}

int ward_quota_truncate(struct ward_op *op, struct ward_node *node, struct ward_quota_file *f,
	int fd, off_t size, bool times)
{
	const struct ward_record_paths paths = {.node = node};
	struct ward_quotas *q = op->tree->fs->quotas;
	struct ward_quota_hit hit = {.error = 0};
	int r;

	if (!ward_quota_counts_writes(op->tree, f) || size < 0) {
		r = ward_staged_truncate(op, fd, size, times, &hit);
		return hit.error ? ward_quota_say(op, &paths, &hit) : r;
	}
	ward_quota_lock(q, f, true);
	r = truncate_locked(op, f, fd, size, times, &hit);
	ward_quota_unlock(q, f);
	return hit.error ? ward_quota_say(op, &paths, &hit) : r;
}

static int fallocate_locked(const struct ward_op *op, const struct ward_handle *h, int mode,
	off_t off, off_t len, struct ward_quota_hit *hit)
{
	struct ward_quotas *q = op->tree->fs->quotas;
	const bool cuts = mode & (FALLOC_FL_PUNCH_HOLE | FALLOC_FL_COLLAPSE_RANGE);
	uint64_t now = 0, end, got, before = 0;
	int r = size_of(h->fd, &now);

	if (r < 0)
		return r;
	/* fallocate(2): inserting moves the end by len, whatever the offset. */
	if (__builtin_add_overflow(
		    mode & FALLOC_FL_INSERT_RANGE ? now : (uint64_t)off, (uint64_t)len, &end) ||
		end > INT64_MAX)
		return -EFBIG;
	if (cuts)
		ward_quota_seen(q, h->quota, now);
	else if (mode & FALLOC_FL_KEEP_SIZE)
		r = ward_quota_keep(q, h->quota, now, end, &before, hit);
	else if (end > now)
		r = ward_quota_grow(q, h->quota, now, end, end, &got, hit);
	if (r < 0)
		return r;
	r = ward_staged_fallocate(op, h, mode, off, len, hit);
	if (r < 0 && !cuts && mode & FALLOC_FL_KEEP_SIZE)
		ward_quota_kept(q, h->quota, before);
	settle(q, h->quota, h->fd, now);
	return r;
}

int ward_quota_fallocate(struct ward_op *op, struct ward_handle *h, int mode, off_t off, off_t len)
{
	const struct ward_record_paths paths = {.node = h->node};
	struct ward_quotas *q = op->tree->fs->quotas;
	struct ward_quota_hit hit = {.error = 0};
	int r;

	if (off < 0 || len <= 0)
		return -EINVAL;
	if (!ward_quota_counts_writes(op->tree, h->quota)) {
		r = ward_staged_fallocate(op, h, mode, off, len, &hit);
		return hit.error ? ward_quota_say(op, &paths, &hit) : r;
	}
	ward_quota_lock(q, h->quota, true);
	r = fallocate_locked(op, h, mode, off, len, &hit);
	ward_quota_unlock(q, h->quota);
	return hit.error ? ward_quota_say(op, &paths, &hit) : r;
}

static ssize_t copy_locked(const struct ward_op *op, const struct ward_handle *in, off_t off_in,
	const struct ward_handle *out, off_t off_out, size_t len, struct ward_quota_hit *hit)
{
	struct ward_quotas *q = op->tree->fs->quotas;
	uint64_t now = 0, end, got, in_size = 0;
	ssize_t n = size_of(out->fd, &now);

	if (n == 0)
		n = size_of(in->fd, &in_size);
	if (n < 0)
		return n;
	/* The copy ends with the file: the request may reach far beyond. */
	if ((uint64_t)off_in >= in_size)
		return 0;
	len = len < in_size - (uint64_t)off_in ? len : (size_t)(in_size - (uint64_t)off_in);
	if (__builtin_add_overflow((uint64_t)off_out, len, &end) || end > INT64_MAX)
		return -EFBIG;
	if (end > now) {
		n = ward_quota_grow(q, out->quota, now, end, (uint64_t)off_out + 1, &got, hit);
		if (n < 0)
			return n;
		if (got < end)
			len = (size_t)(got - (uint64_t)off_out);
	}
	n = ward_staged_copy(op, in, off_in, out, off_out, len, hit);
	settle(q, out->quota, out->fd, now);
	return n;
}

ssize_t ward_quota_copy(struct ward_op *op, struct ward_handle *in, off_t off_in,
	struct ward_handle *out, off_t off_out, size_t len)
{
	const struct ward_record_paths paths = {.node = out->node};
	struct ward_quotas *q = op->tree->fs->quotas;
	struct ward_quota_hit hit = {.error = 0};
	ssize_t n;

	if (off_in < 0 || off_out < 0)
		return -EINVAL;
	if (!ward_quota_counts_writes(op->tree, out->quota)) {
		n = ward_staged_copy(op, in, off_in, out, off_out, len, &hit);
		return hit.error ? ward_quota_say(op, &paths, &hit) : n;
	}
	ward_quota_lock(q, out->quota, true);
	n = copy_locked(op, in, off_in, out, off_out, len, &hit);
	ward_quota_unlock(q, out->quota);
	return hit.error ? ward_quota_say(op, &paths, &hit) : n;
}

/* Bytes of the file before its end that no data lies at (lseek(2)). */
static uint64_t holes_of(int fd, uint64_t size)
{
	uint64_t data = 0;
	off_t at = 0;

	for (unsigned i = 0; i < RUNS_MAX; i++) {
		const off_t from = lseek(fd, at, SEEK_DATA);
		off_t to;

		if (from < 0 || (uint64_t)from >= size)
			break;
		to = lseek(fd, from, SEEK_HOLE);
		if (to <= from)
			break;
		data += (uint64_t)(to - from);
		at = to;
	}
	return data < size ? size - data : 0;
}

int ward_quota_open_holes(struct ward_op *op, struct ward_node *node, struct ward_quota_file *f,
	int fd, const struct stat *st)
{
	const struct ward_record_paths paths = {.node = node};
	struct ward_quotas *q = op->tree->fs->quotas;
	struct ward_quota_hit hit = {.error = 0};
	const uint64_t size = (uint64_t)st->st_size, there = (uint64_t)st->st_blocks * BLOCK;
	uint64_t holes = 0;

	if (!ward_quota_counts_writes(op->tree, f) || ward_quota_knows_holes(q, f))
		return 0;
	/* Space is there for what was allocated and not written; what is compressed is no hole. */
	if (there < size) {
		holes = holes_of(fd, size);
		holes = holes < size - there ? holes : size - there;
	}
	ward_quota_lock(q, f, true);
	if (ward_quota_holes(q, f, size, holes, &hit) < 0)
		hit.error = EDQUOT;
	ward_quota_unlock(q, f);
	return hit.error ? ward_quota_say(op, &paths, &hit) : 0;
}

static int64_t xattr_size(int fd, const char *name)
{
	const ssize_t n = ward_backing_getxattr(fd, name, NULL, 0);

	return n < 0 ? 0 : n + (int64_t)strlen(name);
}

int ward_quota_xattr(struct ward_op *op, struct ward_node *node, int fd, const char *name,
	const char *value, size_t size, int flags)
{
	const struct ward_record_paths paths = {.node = node};
	struct ward_quotas *q = op->tree->fs->quotas;
	struct ward_quota_hit hit = {.error = 0};
	struct ward_quota_file *f;
	int64_t before, more;
	int r = ward_quota_pin(op, node, false, &f);

	if (r < 0)
		return r;
	if (f)
		ward_quota_lock(q, f, true);
	before = f ? xattr_size(fd, name) : 0;
	more = f && value ? (int64_t)(size + strlen(name)) - before : 0;
	if (more > 0)
		r = ward_quota_extra(q, f, more, &hit);
	const bool full = r < 0;
	if (r == 0)
		r = ward_staged_xattr(op, fd, name, value, size, flags, &hit);
	if (f && r < 0 && more > 0 && !full)
		(void)!ward_quota_extra(q, f, -more, &hit);
	else if (f && r == 0 && more < 0)
		(void)!ward_quota_extra(q, f, more, &hit);
	else if (f && r == 0 && !value)
		(void)!ward_quota_extra(q, f, -before, &hit);
	if (f) {
		ward_quota_unlock(q, f);
		ward_quota_put(q, f);
	}
	return hit.error ? ward_quota_say(op, &paths, &hit) : r;
}

bool ward_quota_has_rate(const struct ward_fs_tree *tree, const struct ward_quota_file *f)
{
	return f &&
	       ward_quota_wants(ward_quota_domain_of(tree->fs->quotas, f)) & WARD_QUOTA_WANT_RATE;
}

uint64_t ward_quota_to_write(
	const struct ward_fs_tree *tree, const struct ward_handle *h, uint64_t n)
{
	struct ward_quotas *q = tree->fs->quotas;

	if (!n || !ward_quota_has_rate(tree, h->quota))
		return 0;
	return ward_quota_delay(q, ward_quota_domain_of(q, h->quota), n, ward_clock_mono_ns());
}

void ward_quota_unwritten(const struct ward_fs_tree *tree, const struct ward_handle *h, uint64_t n)
{
	struct ward_quotas *q = tree->fs->quotas;

	if (n && ward_quota_has_rate(tree, h->quota))
		ward_quota_undelay(q, ward_quota_domain_of(q, h->quota), n, ward_clock_mono_ns());
}
