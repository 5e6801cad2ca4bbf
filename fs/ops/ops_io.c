/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Content. Rights were decided when the handle was opened; here only the handle is asked. Reads
 * beyond IO_STACK use the heap.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <stdlib.h>
#include <string.h>

#include "fs/base/fuse_kernel.h"
#include "fs/base/request_turn.h"
#include "fs/kernel/answer_later.h"
#include "fs/kernel/forget_queue.h"
#include "fs/ops/ops.h"
#include "fs/request/fs_records.h"
#include "fs/request/quota_io.h"
#include "fs/resolve/secret_facts.h"

#define IO_STACK (64U << 10)
/* The kernel asks for at most max_pages (INIT). */
#define IO_MAX WARD_FUSE_MESSAGE_DATA

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

static bool same_time(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

/* What git has was read, or what somebody has put in its place since? */
static int still_committed(struct ward_fs_tree *tree, struct ward_handle *h)
{
	struct ward_file now;
	int r = ward_backing_fstat(h->fd, &now);

	if (r < 0)
		return r;
	if (now.st.st_size == h->seen_size && same_time(&now.st.st_mtim, &h->seen_mtime) &&
		same_time(&now.st.st_ctim, &h->seen_ctime))
		return 0;
	/* The session itself, as it may. */
	return ward_secret_fact(tree, h->fd, &now, h->node, NULL) == WARD_FACT_OWN ? 0 : -EACCES;
}

static void read_into(fuse_req_t req, struct ward_handle *h, char *buf, size_t size, off_t off)
{
	struct ward_fs_tree *tree = fuse_req_userdata(req);
	ssize_t n = read_all(h->fd, buf, size, off);
	int r = n >= 0 && h->committed ? still_committed(tree, h) : 0;

	if (r < 0)
		n = r;
	r = tree->fs->log == WARD_LOG_IO ? record_read(req, h, off, n) : 0;

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
static int begin_change(struct ward_op *op, fuse_req_t req, bool page)
{
	/* As the caller: the backing takes setuid bits from what others write to. */
	int r = ward_op_begin_io(op, req);

	if (r == 0 && !page && ward_ring_failed(op->tree->fs->ring))
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
static int check_append(const struct ward_handle *h, off_t off, bool page)
{
	struct ward_file file;
	int r;

	/* Pages of a mapping go back to where they came from, not to the end. */
	if (page)
		return -EACCES;
	if (!h->fresh)
		return 0;
	r = ward_backing_fstat(h->fd, &file);
	if (r < 0)
		return r;
	return off == file.st.st_size ? 0 : -EACCES;
}

/* --- [quota] rate: what has to wait before it is done --- */

/* Bytes of a write that wait with it; the rest is left to the next write(2). */
#define LATE_WRITE_MAX (64U << 10)
/* Bytes that one copy may have beneath a rate. */
#define LATE_COPY_MAX (1U << 20)

struct late {
	struct ward_fs_tree *tree;
	struct ward_handle *out, *in; /* references; in: of a copy, else NULL */
	off_t off, off_in;
	size_t size;
	bool append;
	char buf[]; /* of a write */
};

/* Of a write: may it be done, as far as the handle tells? */
static int check_write(const struct ward_handle *h, off_t off, bool page)
{
	if ((h->flags & O_ACCMODE) == O_RDONLY)
		return -EBADF;
	if (!ward_handle_may(h, writes(h)))
		return -EACCES;
	return h->append_only ? check_append(h, off, page) : 0;
}

/* All are taken from the rate; those that are not written go back. */
static ssize_t write_taken(struct ward_op *op, struct ward_handle *h, const char *buf, size_t size,
	off_t off, bool append)
{
	ssize_t n = ward_record_io(op, h, "write", off, size, 0);

	if (n == 0)
		n = record_outcome(
			op, h, "write", off, size, ward_quota_write(op, h, buf, size, off, append));
	ward_quota_unwritten(op->tree, h, n < 0 ? size : size - (size_t)n);
	if (n > 0)
		atomic_fetch_add_explicit(&h->n_written, (uint64_t)n, memory_order_relaxed);
	return n;
}

static void reply_written(const struct ward_op *op, ssize_t n)
{
	if (n < 0)
		(void)fuse_reply_err(op->req, (int)-n);
	else
		(void)fuse_reply_write(op->req, (size_t)n);
}

static void hold(const struct ward_fs_tree *tree, struct ward_handle *h)
{
	pthread_mutex_lock(&tree->nodes->lock);
	h->refs++;
	pthread_mutex_unlock(&tree->nodes->lock);
}

static void do_late(fuse_req_t req, const struct late *l);

/* From the thread of answer_later.h: the policy may be another one by now. */
static void on_time(fuse_req_t req, void *data, int error)
{
	struct late *late = data;
	struct ward_fs_tree *tree = late->tree;

	ward_turn_begin(tree->fs);
	if (error < 0) {
		ward_quota_unwritten(tree, late->out, late->size);
		(void)fuse_reply_err(req, -error);
	} else {
		do_late(req, late);
	}
	ward_handle_put(tree->nodes, late->out);
	if (late->in)
		ward_handle_put(tree->nodes, late->in);
	ward_turn_end(tree->fs);
}

/*
 * Charges the write to the rate. 0: do it now. 1: the write waits, and is done and answered later.
 * `late`: all that the write needs; its size may shrink, if it is a write with content.
 */
static int take_rate(struct ward_op *op, struct late *late, const char *content)
{
	struct ward_fs_tree *tree = op->tree;
	const uint64_t ns = ward_quota_to_write(tree, late->out, late->size);
	ward_cleanup_free struct ward_delayed *place = NULL;
	struct late *kept;
	int r;

	if (!ns)
		return 0;
	if (content && late->size > LATE_WRITE_MAX) {
		ward_quota_unwritten(tree, late->out, late->size - LATE_WRITE_MAX);
		late->size = LATE_WRITE_MAX;
	}
	r = ward_delay_place(tree->fs->delay, sizeof(*late) + (content ? late->size : 0), &place);
	if (r < 0) {
		ward_quota_unwritten(tree, late->out, late->size);
		return r;
	}
	kept = ward_delayed_data(place);
	*kept = *late;
	kept->tree = tree;
	if (content)
		memcpy(kept->buf, content, late->size);
	hold(tree, kept->out);
	if (kept->in)
		hold(tree, kept->in);
	ward_delay_for(tree->fs->delay, ward_steal_ptr(&place), op->req, ns, on_time);
	return 1;
}

static void op_write(fuse_req_t req, fuse_ino_t ino, const char *buf, size_t size, off_t off,
	struct fuse_file_info *fi)
{
	struct ward_handle *h = ward_handle_from(fi->fh);
	/* fi->flags are the file's as they are now: F_SETFL may have changed O_APPEND. */
	const bool append = h->append_only || (fi->flags & O_APPEND && !fi->writepage);
	struct late late = {.out = h, .off = off, .size = size, .append = append};
	ward_cleanup_op op = {.acting = false};
	ssize_t n = begin_change(&op, req, fi->writepage);

	if (n == 0)
		n = check_write(h, off, fi->writepage);
	/* Pages of a mapping are owed, and do not wait: the whole host would, with sync(2). */
	if (n == 0 && fi->writepage)
		(void)ward_quota_to_write(op.tree, h, size);
	else if (n == 0)
		n = take_rate(&op, &late, buf);
	if (n > 0)
		return;
	if (n == 0)
		n = write_taken(&op, h, buf, size, off, append);
	reply_written(&op, n);
}

static void op_fallocate(
	fuse_req_t req, fuse_ino_t ino, int mode, off_t off, off_t len, struct fuse_file_info *fi)
{
	struct ward_handle *h = ward_handle_from(fi->fh);
	ward_cleanup_op op = {.acting = false};
	int r = begin_change(&op, req, fi->writepage);

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

/* May it be done, as far as the handles tell? */
static int check_copy(const struct ward_handle *in, const struct ward_handle *out)
{
	if ((in->flags & O_ACCMODE) == O_WRONLY || (out->flags & O_ACCMODE) == O_RDONLY)
		return -EBADF;
	if (!ward_handle_may(in, reads(in)) || !ward_handle_may(out, writes(out)))
		return -EACCES;
	/* The kernel then copies through its pages, by READ and WRITE: what is read is looked at
	 * there, where only what git has may be. */
	return out->append_only || in->committed ? -EOPNOTSUPP : 0;
}

/* As write_taken(). */
static ssize_t copy_taken(struct ward_op *op, struct ward_handle *in, off_t off_in,
	struct ward_handle *out, off_t off_out, size_t len)
{
	ssize_t n = ward_record_io(op, out, "write", off_out, len, 0);

	if (n == 0) {
		n = copy_told(op, in, off_in, out, off_out, len);
		n = record_outcome(op, out, "write", off_out, len, n);
	}
	ward_quota_unwritten(op->tree, out, n < 0 ? len : len - (size_t)n);
	if (n >= 0) {
		const int r = ward_record_io(op, in, "read", off_in, (size_t)n, 0);

		n = r < 0 ? r : n;
	}
	if (n < 0)
		return n == -EXDEV ? -EOPNOTSUPP : n;
	atomic_fetch_add_explicit(&in->n_read, (uint64_t)n, memory_order_relaxed);
	atomic_fetch_add_explicit(&out->n_written, (uint64_t)n, memory_order_relaxed);
	return n;
}

static void op_copy_file_range(fuse_req_t req, fuse_ino_t ino_in, off_t off_in,
	struct fuse_file_info *fi_in, fuse_ino_t ino_out, off_t off_out,
	struct fuse_file_info *fi_out, size_t len, int flags)
{
	struct late late = {.in = ward_handle_from(fi_in->fh),
		.out = ward_handle_from(fi_out->fh),
		.off_in = off_in,
		.off = off_out,
		.size = len};
	ward_cleanup_op op = {.acting = false};
	ssize_t n = begin_change(&op, req, false);

	if (n == 0)
		n = check_copy(late.in, late.out);
	if (n == 0 && len > LATE_COPY_MAX && ward_quota_has_rate(op.tree, late.out->quota))
		late.size = LATE_COPY_MAX;
	if (n == 0)
		n = take_rate(&op, &late, NULL);
	if (n > 0)
		return;
	if (n == 0)
		n = copy_taken(&op, late.in, off_in, late.out, off_out, late.size);
	reply_written(&op, n);
}

static void do_late(fuse_req_t req, const struct late *l)
{
	ward_cleanup_op op = {.acting = false};
	ssize_t n = begin_change(&op, req, false);

	if (n == 0)
		n = l->in ? check_copy(l->in, l->out) : check_write(l->out, l->off, false);
	if (n < 0)
		ward_quota_unwritten(op.tree, l->out, l->size);
	else if (l->in)
		n = copy_taken(&op, l->in, l->off_in, l->out, l->off, l->size);
	else
		n = write_taken(&op, l->out, l->buf, l->size, l->off, l->append);
	reply_written(&op, n);
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
