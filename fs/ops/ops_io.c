/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Content. Rights were decided when the handle was opened; here only the handle is asked. Reads
 * beyond IO_STACK use the heap.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <stdlib.h>

#include "fs/kernel/answer_later.h"
#include "fs/kernel/forget_queue.h"
#include "fs/ops/ops.h"
#include "fs/request/fs_records.h"
#include "fs/request/quota_io.h"

#define IO_STACK (64U << 10)
/* The kernel asks for at most max_pages * 4096 (INIT). */
#define IO_MAX (1U << 20)

/* What it was opened with: a policy that came into force since may have taken it. */
static uint32_t reads(const struct ward_handle *h)
{
	return h->needs & (WARD_RIGHT_READ | WARD_RIGHT_EXEC);
}

static uint32_t writes(const struct ward_handle *h)
{
	return h->needs & (WARD_RIGHT_WRITE | WARD_RIGHT_APPEND);
}

/* A short answer means end of file to the kernel. Bytes read, or a negative errno. */
static ssize_t read_all(int fd, char *buf, size_t size, off_t off)
{
	size_t have = 0;

	while (have < size) {
		ssize_t n = pread(fd, buf + have, size - have, off + (off_t)have);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && !have)
			return -errno;
		if (n <= 0)
			break;
		have += (size_t)n;
	}
	return (ssize_t)have;
}

/* A read of log = io: in the ring before the answer. */
static int record_read(fuse_req_t req, const struct ward_handle *h, off_t off, ssize_t n)
{
	ward_cleanup_op op = {.acting = false};
	int r = ward_op_begin_io(&op, req);

	if (r == 0)
		r = ward_record_io(&op, h, "read", off, n < 0 ? 0 : (size_t)n, n < 0 ? (int)n : 0);
	return r;
}

static void read_into(fuse_req_t req, struct ward_handle *h, char *buf, size_t size, off_t off)
{
	const struct ward_fs_tree *tree = fuse_req_userdata(req);
	ssize_t n = read_all(h->fd, buf, size, off);
	int r = tree->fs->log == WARD_LOG_IO ? record_read(req, h, off, n) : 0;

	if (r < 0)
		n = r;

	if (n < 0) {
		(void)fuse_reply_err(req, (int)-n);
		return;
	}
	atomic_fetch_add_explicit(&h->n_read, (uint64_t)n, memory_order_relaxed);
	(void)fuse_reply_buf(req, buf, (size_t)n);
}

static void op_read(
	fuse_req_t req, fuse_ino_t ino, size_t size, off_t off, struct fuse_file_info *fi)
{
	struct ward_handle *h = ward_handle_from(fi->fh);
	char stack[IO_STACK];
	char *heap;

	if (size > IO_MAX || (h->flags & O_ACCMODE) == O_WRONLY) {
		(void)fuse_reply_err(req, EBADF);
	} else if (!ward_handle_may(h, reads(h))) {
		(void)fuse_reply_err(req, EACCES);
	} else if (size <= sizeof(stack)) {
		read_into(req, h, stack, size, off);
	} else if ((heap = malloc(size))) {
		read_into(req, h, heap, size, off);
		free(heap);
	} else {
		(void)fuse_reply_err(req, ENOMEM);
	}
}

/*
 * A change of content through an open handle, about to be done. With a log that failed no change is
 * made that we see: mappings and passthrough handles write on unseen, so a mapping's pages, which
 * its owner holds as written, are not lost here either.
 */
static int begin_change(struct ward_op *op, fuse_req_t req, const struct fuse_file_info *fi)
{
	/* As the caller: the backing takes setuid bits from what others write to. */
	int r = ward_op_begin_io(op, req);

	if (r == 0 && !fi->writepage && ward_ring_failed(op->tree->fs->ring))
		r = -EIO;
	return r;
}

/*
 * A change of content that was recorded (with log = io) as done in full, before it was done. What
 * became of it differs: that is said by a second record.
 */
static ssize_t record_outcome(const struct ward_op *op, const struct ward_handle *h,
	const char *action, off_t off, size_t size, ssize_t n)
{
	if (n == (ssize_t)size)
		return n;
	int r = ward_record_io(op, h, action, off, n < 0 ? 0 : (size_t)n, n < 0 ? (int)n : 0);

	return n >= 0 && r < 0 ? r : n;
}

/* Handles that may only append: the daemon's descriptor is O_APPEND, whatever F_SETFL said since.
 */
static int check_append(const struct ward_handle *h, off_t off, const struct fuse_file_info *fi)
{
	struct ward_file file;
	int r;

	/* Pages of a mapping go back to where they came from, not to the end. */
	if (fi->writepage)
		return -EACCES;
	if (!h->fresh)
		return 0;
	r = ward_backing_fstat(h->fd, &file);
	if (r < 0)
		return r;
	return off == file.st.st_size ? 0 : -EACCES;
}

/* Before content is written whose answer may have to wait; *ret stays NULL where it cannot. */
static int place_answer(
	const struct ward_op *op, const struct ward_handle *h, struct ward_delayed **ret)
{
	return ward_quota_has_rate(op, h) ? ward_delay_place(op->tree->fs->delay, ret) : 0;
}

static void reply_written(
	struct ward_op *op, const struct ward_handle *h, struct ward_delayed **place, size_t n)
{
	ward_delay_reply_write(op->tree->fs->delay, ward_steal_ptr(place), op->req, n,
		ward_quota_written(op, h, n));
}

static void op_write(fuse_req_t req, fuse_ino_t ino, const char *buf, size_t size, off_t off,
	struct fuse_file_info *fi)
{
	struct ward_handle *h = ward_handle_from(fi->fh);
	/* fi->flags are the file's as they are now: F_SETFL may have changed O_APPEND. */
	const bool append = h->append_only || (fi->flags & O_APPEND && !fi->writepage);
	ward_cleanup_free struct ward_delayed *place = NULL;
	ward_cleanup_op op = {.acting = false};
	ssize_t n = begin_change(&op, req, fi);

	if (n == 0 && (h->flags & O_ACCMODE) == O_RDONLY)
		n = -EBADF;
	else if (n == 0 && !ward_handle_may(h, writes(h)))
		n = -EACCES;
	else if (n == 0 && h->append_only)
		n = check_append(h, off, fi);
	if (n == 0)
		n = place_answer(&op, h, &place);
	if (n == 0)
		n = ward_record_io(&op, h, "write", off, size, 0);
	if (n == 0)
		n = record_outcome(&op, h, "write", off, size,
			ward_quota_write(&op, h, buf, size, off, append));
	if (n < 0) {
		(void)fuse_reply_err(req, (int)-n);
		return;
	}
	atomic_fetch_add_explicit(&h->n_written, (uint64_t)n, memory_order_relaxed);
	reply_written(&op, h, &place, (size_t)n);
}

static void op_fallocate(
	fuse_req_t req, fuse_ino_t ino, int mode, off_t off, off_t len, struct fuse_file_info *fi)
{
	struct ward_handle *h = ward_handle_from(fi->fh);
	ward_cleanup_op op = {.acting = false};
	int r = begin_change(&op, req, fi);

	if (r == 0 && (h->flags & O_ACCMODE) == O_RDONLY)
		r = -EBADF;
	if (r == 0 && !ward_handle_may(h, writes(h)))
		r = -EACCES;
	/* It moves or clears bytes, or takes space that no size and no limit of one tells. */
	if (r == 0 && h->append_only)
		r = -EACCES;
	if (r == 0)
		r = ward_record_fallocate(&op, h, mode, off, len, 0);
	if (r == 0) {
		r = ward_quota_fallocate(&op, h, mode, off, len);
		/* It fails whether or not that could be recorded. */
		if (r < 0)
			(void)!ward_record_fallocate(&op, h, mode, off, len, r);
	}
	ward_op_reply(&op, r);
}

static void op_lseek(
	fuse_req_t req, fuse_ino_t ino, off_t off, int whence, struct fuse_file_info *fi)
{
	struct ward_handle *h = ward_handle_from(fi->fh);
	off_t at;

	if (h->is_dir || (whence != SEEK_DATA && whence != SEEK_HOLE)) {
		(void)fuse_reply_err(req, EINVAL);
		return;
	}
	if (!ward_handle_may(h, h->needs)) {
		(void)fuse_reply_err(req, EACCES);
		return;
	}
	/* The position of the descriptor is used by nobody else: reads and writes carry theirs. */
	at = lseek(h->fd, off, whence);
	if (at < 0)
		(void)fuse_reply_err(req, errno);
	else
		(void)fuse_reply_lseek(req, at);
}

/* The kernel knows of each read through it that it moves the times, but not of a copy. */
static void tell_read(const struct ward_op *op, struct ward_handle *in, const struct timespec *was)
{
	struct ward_file file;

	if (ward_backing_fstat(in->fd, &file) < 0 || file.st.st_atim.tv_sec != was->tv_sec ||
		file.st.st_atim.tv_nsec != was->tv_nsec)
		ward_forget_attr(op->tree->forget, ward_node_to_ino(op->tree->nodes, in->node));
}

static ssize_t copy_told(struct ward_op *op, struct ward_handle *in, off_t off_in,
	struct ward_handle *out, off_t off_out, size_t len)
{
	struct ward_file file = {.id = {0}};
	const int known = ward_backing_fstat(in->fd, &file);
	const ssize_t n = ward_quota_copy(op, in, off_in, out, off_out, len);

	if (n > 0 && known == 0)
		tell_read(op, in, &file.st.st_atim);
	return n;
}

static void op_copy_file_range(fuse_req_t req, fuse_ino_t ino_in, off_t off_in,
	struct fuse_file_info *fi_in, fuse_ino_t ino_out, off_t off_out,
	struct fuse_file_info *fi_out, size_t len, int flags)
{
	struct ward_handle *in = ward_handle_from(fi_in->fh);
	struct ward_handle *out = ward_handle_from(fi_out->fh);
	ward_cleanup_free struct ward_delayed *place = NULL;
	ward_cleanup_op op = {.acting = false};
	ssize_t n = begin_change(&op, req, fi_out);

	if (n == 0 && ((in->flags & O_ACCMODE) == O_WRONLY || (out->flags & O_ACCMODE) == O_RDONLY))
		n = -EBADF;
	if (n == 0 && (!ward_handle_may(in, reads(in)) || !ward_handle_may(out, writes(out))))
		n = -EACCES;
	if (n < 0) {
		(void)fuse_reply_err(req, (int)-n);
		return;
	}
	/* The kernel then copies through its pages, by READ and WRITE. */
	if (out->append_only) {
		(void)fuse_reply_err(req, EOPNOTSUPP);
		return;
	}
	n = place_answer(&op, out, &place);
	if (n == 0)
		n = ward_record_io(&op, out, "write", off_out, len, 0);
	if (n < 0) {
		(void)fuse_reply_err(req, (int)-n);
		return;
	}
	n = copy_told(&op, in, off_in, out, off_out, len);
	n = record_outcome(&op, out, "write", off_out, len, n);
	if (n >= 0) {
		const int r = ward_record_io(&op, in, "read", off_in, (size_t)n, 0);

		n = r < 0 ? r : n;
	}
	if (n < 0) {
		(void)fuse_reply_err(req, n == -EXDEV ? EOPNOTSUPP : (int)-n);
		return;
	}
	atomic_fetch_add_explicit(&in->n_read, (uint64_t)n, memory_order_relaxed);
	atomic_fetch_add_explicit(&out->n_written, (uint64_t)n, memory_order_relaxed);
	reply_written(&op, out, &place, (size_t)n);
}

/*
 * No ioctl passes. What they set is immutable, casefold, encryption, project ids: what rules mean
 * would change beneath them; what they get (FIEMAP, physical blocks) is the host's. FICLONE and
 * FIDEDUPERANGE never come as ioctls: the kernel refuses them for FUSE (EOPNOTSUPP), programs then
 * copy.
 */
static void op_ioctl(fuse_req_t req, fuse_ino_t ino, unsigned int cmd, void *arg,
	struct fuse_file_info *fi, unsigned flags, const void *in_buf, size_t in_size,
	size_t out_size)
{
	(void)fuse_reply_err(req, ENOTTY);
}

void ward_ops_io_fill(struct fuse_lowlevel_ops *ops)
{
	ops->read = op_read;
	ops->write = op_write;
	ops->fallocate = op_fallocate;
	ops->lseek = op_lseek;
	ops->copy_file_range = op_copy_file_range;
	ops->ioctl = op_ioctl;
}
