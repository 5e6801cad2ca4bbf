/* SPDX-License-Identifier: Apache-2.0 */
/* Files opened and created. */
#include <errno.h>
#include <fcntl.h>
#include <linux/xattr.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/clock.h"
#include "fs/base/fuse_kernel.h"
#include "fs/base/request_turn.h"
#include "fs/gate/gate.h"
#include "fs/handle/writers.h"
#include "fs/kernel/answer_later.h"
#include "fs/kernel/forget_queue.h"
#include "fs/node/node_links.h"
#include "fs/ops/inherited_acl.h"
#include "fs/ops/ops.h"
#include "fs/ops/ops_open.h"
#include "fs/request/file_digest.h"
#include "fs/request/fs_records.h"
#include "fs/request/questions.h"
#include "fs/request/quota_io.h"
#include "fs/request/staged_size.h"
#include "fs/resolve/backing_id.h"
#include "fs/resolve/resolve_node.h"
#include "fs/watch/keep_time.h"

struct ward_want ward_want_from_flags(int flags, bool fresh)
{
	struct ward_want w = {.acc = flags & O_ACCMODE, .trunc = !fresh && flags & O_TRUNC};

	/* Mode 3 (for ioctls alone) asks for both permissions. */
	if (w.acc == O_ACCMODE)
		w.acc = O_RDWR;
	if (w.acc == O_RDONLY && flags & WARD_FMODE_EXEC)
		w.rights = WARD_RIGHT_EXEC;
	else if (w.acc != O_WRONLY)
		w.rights = WARD_RIGHT_READ;
	if (w.acc != O_RDONLY) {
		/* A new file is empty: what is written in order lands at its end. */
		if ((flags & O_APPEND || fresh) && !w.trunc)
			w.alt = w.rights | WARD_RIGHT_APPEND;
		w.rights |= WARD_RIGHT_WRITE;
	}
	if (w.trunc)
		w.rights |= WARD_RIGHT_WRITE;
	return w;
}

/*
 * A handle that may append only, or that ends with a grant. Beside handles in passthrough (made
 * before the file came here) the kernel takes it if it has their backing id; DIRECT_IO still sends
 * what is written to us. A mapping would then go to the backing: not for who may read as well.
 */
static int choose_checked(
	struct ward_fs_tree *tree, struct ward_handle *h, int acc, const char *why, int32_t *ret_id)
{
	struct ward_ends ends = ward_ends_begin();
	struct ward_nodes *nodes = tree->nodes;
	struct ward_node *node = h->node;
	uint64_t seen;
	int r = 0;

	h->io = WARD_IO_DIRECT;
	h->io_why = why;
	pthread_mutex_lock(&nodes->lock);
	do
		seen = nodes->n_ended;
	while (node->n_pass && (acc != O_WRONLY || node->id_reads) && ward_ends_late(tree) &&
		ward_ends_await(nodes, &ends, seen));
	if (node->n_pass && (acc != O_WRONLY || node->id_reads)) {
		r = -ETXTBSY;
	} else if (node->n_pass) {
		h->paired = true;
		node->n_pass++;
		*ret_id = node->backing_id;
	}
	pthread_mutex_unlock(&nodes->lock);
	return r;
}

/*
 * With log = io every read and write comes here, and shared mappings, whose pages would not, are
 * refused by the kernel (ENODEV: FOPEN_DIRECT_IO without FUSE_DIRECT_IO_ALLOW_MMAP).
 */
static int choose_recorded(struct ward_handle *h)
{
	h->io = WARD_IO_DIRECT;
	h->io_why = "log = io: each read and write is recorded";
	return 0;
}

/* Why a handle gets no backing id. */
static const char *no_passthrough(
	const struct ward_fs_tree *tree, bool weak, bool rated, bool committed, int32_t id)
{
	if (rated)
		return "rate: no mapping may write past it";
	if (!(tree->fs->flags & (WARD_FS_PASSTHROUGH | WARD_FS_HOST)))
		return "passthrough is for sessions that root starts, or with wardfs-host.socket";
	if (tree->fs->hash != WARD_HASH_NONE)
		return "hash: whether it was written to has to be known";
	if (!tree->passthrough)
		return "the kernel, or the backing's file system, refuses passthrough";
	if (committed)
		return "a secret but for what git has committed: each read looks for a change";
	if (weak)
		return "the file may be appended to: a mapping past us could write anywhere";
	if (id <= 0)
		return tree->fs->host
			       ? "wardfs-hostd registers what is written to, or large; not each of many small new files"
			       : "the kernel refused passthrough for this file";
	return "another handle of the file is cached, and they must agree";
}

/*
 * All reads and writes reach us. nodes->lock is held. empty: the file has no content yet, or loses
 * it now.
 *
 * The kernel keeps no pages of what is written through a handle that only writes. That saves a copy
 * of the content, and for each new file a request about its capabilities. Nothing is lost: who
 * opens the file to read it would find other times, and drop the pages. Not beside other handles:
 * the kernel writes a page of a mapping back as a whole, and would undo what is written beside it.
 */
static void choose_served(struct ward_fs_tree *tree, struct ward_handle *h, bool empty, bool rated,
	const char *cached_why)
{
	const int acc = h->flags & O_ACCMODE;
	struct ward_node *node = h->node;

	if (rated && acc != O_RDONLY) {
		/* As of log = io: the kernel refuses a shared mapping (ENODEV). */
		h->io = WARD_IO_DIRECT;
		h->io_why = "rate: each write waits for its time, and no mapping writes past it";
	} else if (empty && acc == O_WRONLY && !node->n_cached && tree->fs->drops_pages) {
		h->io = WARD_IO_DIRECT;
		h->io_why = "new, and only written to: no copy of it is kept";
	} else {
		h->io = WARD_IO_CACHED;
		h->io_why = cached_why;
		node->n_cached++;
	}
}

/*
 * How the kernel is to do reads and writes. Handles of one inode must agree (the kernel answers
 * EIO else): a node that may be appended to and no more is not passed through, since a mapping of
 * a passthrough handle writes anywhere; unless it is already, from before it came there.
 */
static int choose_io(struct ward_fs_tree *tree, struct ward_handle *h, uint32_t granted, bool empty,
	int32_t *ret_id)
{
	const int acc = h->flags & O_ACCMODE;
	const bool counted = acc != O_RDONLY &&
			     (ward_quota_counts_writes(tree, h->quota) || ward_staged_counts(tree));
	struct ward_node *node = h->node;
	const bool rated = ward_quota_has_rate(tree, h->quota);
	bool weak = granted & WARD_RIGHT_APPEND && !(granted & WARD_RIGHT_WRITE);
	const bool swaps = ward_backing_may_stage(h->fd);
	/* Registering costs more than a small file is worth, and brings nothing where each write
	 * comes here anyway. */
	const bool dear =
		tree->fs->host &&
		(counted || (h->made && ward_made_will_be_small(&tree->fs->made, h->pid)));
	int32_t id = 0;

	*ret_id = 0;
	if (h->append_only)
		return choose_checked(tree, h, acc,
			"may be appended to and no more: each write is checked", ret_id);
	if (h->n_held)
		return choose_checked(tree, h, acc,
			"opened under a grant: each read and write looks whether it has ended",
			ret_id);
	if (tree->fs->log == WARD_LOG_IO)
		return choose_recorded(h);
	if (weak && acc == O_RDONLY) {
		pthread_mutex_lock(&tree->nodes->lock);
		weak = !node->n_pass;
		pthread_mutex_unlock(&tree->nodes->lock);
	}
	if (tree->passthrough && !weak && !rated && !h->committed && !swaps && !dear &&
		tree->fs->hash == WARD_HASH_NONE)
		id = ward_backing_id(tree, node, h->fd, acc);
	if (id < 0)
		return id;
	pthread_mutex_lock(&tree->nodes->lock);
	/* Whatever kept us from an id: another thread has opened it with one meanwhile. */
	if (node->n_pass)
		id = node->backing_id;
	if (node->n_pass && node->id_reads && acc != O_RDONLY) {
		pthread_mutex_unlock(&tree->nodes->lock);
		return -ETXTBSY;
	}
	if (id > 0 && !node->n_cached) {
		/* DIRECT_IO beside a backing id: what is read and written comes to us, a mapping,
		 * which makes no file larger, goes to the backing. */
		h->io = counted ? WARD_IO_DIRECT : WARD_IO_PASSTHROUGH;
		h->io_why = counted ? "a quota, or [review] size, counts what is written"
				    : "the kernel reads and writes the file itself";
		h->paired = counted;
		node->n_pass++;
		*ret_id = id;
		if (acc != O_WRONLY)
			ward_quota_mappable(tree->fs->quotas, h->quota);
	} else {
		choose_served(tree, h, empty && !swaps, rated,
			swaps ? "review: another file takes its place when it is written to"
			      : no_passthrough(tree, weak, rated, h->committed, id));
	}
	pthread_mutex_unlock(&tree->nodes->lock);
	return 0;
}

/* The kernel keeps its pages of an unchanged file; of one that changed it must drop them. */
static bool unchanged(struct ward_fs_tree *tree, struct ward_node *node, const struct stat *st)
{
	const uint64_t stamp = (uint64_t)st->st_mtim.tv_sec * 1000000000U +
			       (uint64_t)st->st_mtim.tv_nsec + ((uint64_t)st->st_size << 40) +
			       (uint64_t)st->st_ctim.tv_sec * 7919U +
			       (uint64_t)st->st_ctim.tv_nsec * 31U;
	bool same;

	pthread_mutex_lock(&tree->nodes->lock);
	same = node->stamp == stamp;
	node->stamp = stamp;
	pthread_mutex_unlock(&tree->nodes->lock);
	return same;
}

struct ward_open_out ward_open_reply(
	struct ward_fs_tree *tree, struct ward_handle *h, const struct stat *st, int32_t id)
{
	struct ward_open_out out = {.fh = (uint64_t)(uintptr_t)h};

	if (ward_handle_maps_past(h))
		(void)ward_handle_seen(tree->nodes, h, st);
	switch (h->io) {
	case WARD_IO_PASSTHROUGH:
		out.open_flags = WARD_FOPEN_PASSTHROUGH;
		out.backing_id = id;
		break;
	case WARD_IO_DIRECT:
		out.open_flags = FOPEN_DIRECT_IO | (h->paired ? WARD_FOPEN_PASSTHROUGH : 0);
		out.backing_id = id;
		break;
	case WARD_IO_CACHED:
		if (unchanged(tree, h->node, st))
			out.open_flags = FOPEN_KEEP_CACHE;
		break;
	case WARD_IO_NONE:
		break;
	}
	/* Closing any descriptor of a file gives up the process's POSIX locks, which FLUSH tells
	 * us. Nobody takes them of most files that are only read: those save the request. */
	pthread_mutex_lock(&tree->nodes->lock);
	h->flushes = (h->flags & O_ACCMODE) != O_RDONLY || h->node->locked;
	pthread_mutex_unlock(&tree->nodes->lock);
	if (!h->flushes)
		out.open_flags |= FOPEN_NOFLUSH;
	return out;
}

int ward_open_handle(struct ward_op *op, struct ward_node *node, struct ward_opened *o,
	const struct ward_want *w, struct ward_handle **ret, int32_t *ret_id)
{
	struct ward_handle *h = NULL;
	int r = ward_handle_new(op->tree->nodes, node, o->fd, op->uid, &h);

	o->fd = -1;
	if (r != 0)
		return r;
	h->quota = o->use->f;
	o->use->f = NULL;
	h->rights = o->granted;
	ward_op_hold(op, h);
	h->pid = op->pid;
	h->made = o->made;
	h->flags = w->acc | (o->flags & O_APPEND);
	h->append_only = w->acc != O_RDONLY && !(o->granted & WARD_RIGHT_WRITE);
	h->fresh = h->append_only && !(o->flags & O_APPEND);
	if (w->acc != O_WRONLY)
		h->needs |= w->acc == O_RDONLY && o->flags & WARD_FMODE_EXEC ? WARD_RIGHT_EXEC
									     : WARD_RIGHT_READ;
	if (w->acc != O_RDONLY)
		h->needs |= h->append_only ? WARD_RIGHT_APPEND : WARD_RIGHT_WRITE;
	if (o->committed) {
		h->committed = true;
		h->seen_size = o->committed->st_size;
		h->seen_mtime = o->committed->st_mtim;
		h->seen_ctime = o->committed->st_ctim;
	}
	r = choose_io(op->tree, h, o->granted, o->made || w->trunc, ret_id);
	if (r == 0) {
		ward_writers_add(op->tree->nodes, h);
		r = ward_writers_confirm(op->tree->nodes, h);
	}
	if (r < 0) {
		ward_handle_release(op->tree->nodes, h);
		return r;
	}
	*ret = h;
	return 0;
}

/* For O_RDONLY with O_TRUNC: a second descriptor, of the very file that was opened. */
static int open_to_truncate(
	struct ward_op *op, struct ward_node *node, const struct ward_file *opened, int *ret_fd)
{
	struct ward_file file;
	int r = ward_resolve_open(op->tree, node, O_WRONLY, ret_fd, &file);

	if (r < 0)
		return r;
	return ward_file_id_equal(&file.id, &opened->id) ? 0 : -ESTALE;
}

static int truncate_opened(
	struct ward_op *op, const struct ward_handle *h, int fd, struct ward_file *ret)
{
	int r = ward_quota_truncate(op, h->node, h->quota, fd, 0, true);

	return r < 0 ? r : ward_backing_fstat(fd, ret);
}

/* What quotas say of it, once it is open; st is of fd. */
static int count_open(struct ward_op *op, const struct ward_record_paths *paths,
	const struct ward_want *w, struct ward_quota_file *f, int fd, const struct stat *st)
{
	int r;

	if (!f || (w->acc == O_RDONLY && !w->trunc))
		return 0;
	r = ward_quota_touch(op, paths, f);
	if (r == 0 && w->acc != O_RDONLY && !w->trunc)
		r = ward_quota_open_holes(op, paths->node, f, fd, st);
	return r;
}

/* setuid and setgid, as a change of the mode; -ENODATA: it has none. */
static int take_bits(struct ward_op *op, const struct ward_record_paths *paths,
	const struct ward_decision *by, int fd)
{
	struct stat attr = {.st_mode = paths->file->st.st_mode & 01777};
	struct ward_record_paths change = *paths;
	int r;

	if (!(paths->file->st.st_mode & (S_ISUID | S_ISGID)))
		return -ENODATA;
	change.attr = &attr;
	change.to_set = FUSE_SET_ATTR_MODE;
	r = ward_record_change(op, WARD_EVENT_ATTR, &change, by);
	if (r == 0)
		r = ward_record_outcome(
			op, WARD_EVENT_ATTR, &change, by, ward_backing_chmod(fd, attr.st_mode));
	return r;
}

/* File capabilities; -ENODATA: it has none. */
static int take_capabilities(struct ward_op *op, const struct ward_record_paths *paths,
	const struct ward_decision *by, int fd)
{
	struct ward_record_paths change = *paths;
	const ssize_t n = ward_backing_getxattr(fd, XATTR_NAME_CAPS, NULL, 0);
	int r;

	if (n < 0)
		return n == -EOPNOTSUPP ? -ENODATA : (int)n;
	change.xattr = XATTR_NAME_CAPS;
	r = ward_record_change(op, WARD_EVENT_XATTR, &change, by);
	if (r == 0)
		r = ward_record_outcome(op, WARD_EVENT_XATTR, &change, by,
			ward_backing_removexattr(fd, XATTR_NAME_CAPS));
	return r;
}

/*
 * Writing takes setuid, setgid and capabilities from a file, but by a mapping the kernel lets its
 * owner keep them (file_remove_privs() in fs/inode.c is not called for pages), and what the agent
 * put there would run with the rights of the file's owner. So they go before anything can be
 * written. file: as it is then.
 */
static int take_privileges(struct ward_op *op, const struct ward_record_paths *paths,
	const struct ward_decision *by, int fd, struct ward_file *file)
{
	int bits, caps;

	if (op->tree->fs->flags & WARD_FS_SETUID)
		return 0;
	bits = take_bits(op, paths, by, fd);
	caps = bits == 0 || bits == -ENODATA ? take_capabilities(op, paths, by, fd) : bits;
	if (bits == -ENODATA && caps == -ENODATA)
		return 0;
	ward_forget_attr(op->tree->forget, ward_node_to_ino(op->tree->nodes, paths->node));
	return caps == 0 || caps == -ENODATA ? ward_backing_fstat(fd, file) : caps;
}

static int open_node(struct ward_op *op, struct ward_node *node, int flags,
	struct ward_handle **ret, struct ward_file *ret_file, int32_t *ret_id)
{
	const struct ward_record_paths paths = {.node = node, .file = ret_file};
	const struct ward_want w = ward_want_from_flags(flags, false);
	ward_cleanup(ward_quota_use_end) struct ward_quota_use use = {op->tree->fs->quotas, NULL};
	ward_cleanup_fd int fd = -1, trunc_fd = -1;
	struct ward_opened opened = {.flags = flags, .use = &use};
	struct ward_decision by = {.verdict = WARD_VERDICT_DENY};
	int more = flags & WARD_OPEN_PASSED;
	int r = ward_gate_node(op, node, w.rights, w.alt, 0, &by);

	/* Before it is opened: what loses its last name meanwhile stays charged. */
	if (r == 0)
		r = ward_quota_pin(op, node, w.acc != O_RDONLY, &use.f);
	if (r < 0)
		return r;
	if (w.acc != O_RDONLY && !(by.granted & WARD_RIGHT_WRITE))
		more |= O_APPEND;
	r = ward_resolve_open(op->tree, node, w.acc | more, &fd, ret_file);
	/* The kernel has let the owner do it that it was shown, who need not be the file's. */
	if (r == -EPERM && more & O_NOATIME)
		r = ward_resolve_open(op->tree, node, w.acc | (more & ~O_NOATIME), &fd, ret_file);
	if (r == -EACCES && flags & WARD_FMODE_EXEC)
		r = ward_open_executable(op, node, &fd, ret_file);
	if (r < 0)
		return r;
	if (!S_ISREG(ret_file->st.st_mode))
		return -ESTALE;
	/* Without default_permissions the kernel is content with anybody's exec bit. */
	if (flags & WARD_FMODE_EXEC)
		r = ward_backing_access(fd, X_OK);
	if (r < 0)
		return r;
	/* Now the number of links is known for sure. */
	ward_keep_opened(op->tree->nodes, node, &ret_file->st);
	if (ret_file->st.st_nlink > 1 || atomic_load(&node->fact)) {
		struct ward_decision now = {.verdict = WARD_VERDICT_DENY};

		r = ward_gate_opened(op, node, w.rights, w.alt, ret_file->st.st_nlink, fd, &now);
		if (r < 0)
			return r;
		/* The right to append alone gives no descriptor that writes anywhere. */
		if (w.acc != O_RDONLY && (now.granted ^ by.granted) & WARD_RIGHT_WRITE)
			return -ESTALE;
		by = now;
	}
	/* Who may change it makes it its own: its times will tell nothing any more. */
	if ((w.acc != O_RDONLY || w.trunc) && ward_gate_secret(node, WARD_FACT_COMMITTED))
		r = ward_gate_own(op, node, fd);
	if (r < 0)
		return r;
	if (w.trunc && w.acc == O_RDONLY)
		r = open_to_truncate(op, node, ret_file, &trunc_fd);
	if (r == 0)
		r = count_open(op, &paths, &w, use.f, fd, &ret_file->st);
	if (r < 0)
		return r;
	opened.granted = by.granted;
	opened.fd = ward_steal_fd(&fd);
	if (ward_gate_secret(node, WARD_FACT_COMMITTED))
		opened.committed = &ret_file->st;
	r = ward_open_handle(op, node, &opened, &w, ret, ret_id);
	if (r != 0)
		return r;
	if (ward_digest_wanted(op->tree->fs, w.trunc ? O_RDWR : w.acc))
		ward_digest_make(op->tree, *ret, &(*ret)->before);
	r = ward_record_open(op, WARD_EVENT_OPEN, &paths, *ret,
		w.trunc ? w.rights | WARD_RIGHT_WRITE : w.rights, &by);
	if (r == 0 && w.acc != O_RDONLY)
		r = take_privileges(op, &paths, &by, (*ret)->fd, ret_file);
	/* Nothing is lost before it is written down. */
	if (r == 0 && w.trunc)
		r = truncate_opened(op, *ret, trunc_fd >= 0 ? trunc_fd : (*ret)->fd, ret_file);
	if (r < 0)
		ward_handle_release(op->tree->nodes, *ret);
	return r;
}

static void open_or_wait(fuse_req_t req, struct ward_node *node, int flags);

/* An open that waits for a person. */
struct waiting {
	struct ward_fs_tree *tree;
	struct ward_node *node; /* pinned: what was asked for is what is opened */
	int flags;
};

/* From the thread of answer_later.h. */
static void on_answer(fuse_req_t req, void *data, int error)
{
	const struct waiting w = *(const struct waiting *)data;

	ward_question_waited(w.tree->fs, data);
	if (error < 0) {
		(void)fuse_reply_err(req, -error);
	} else {
		ward_turn_begin(w.tree->fs);
		open_or_wait(req, w.node, w.flags);
		ward_turn_end(w.tree->fs);
	}
	ward_node_unpin(w.tree->nodes, w.node);
}

/* False: it cannot wait. */
static bool wait_for_answer(struct ward_op *op, struct ward_node *node, int flags)
{
	struct ward_delayed *place = NULL;
	struct waiting *w;

	if (ward_delay_place(op->tree->fs->delay, sizeof(*w), &place) < 0)
		return false;
	w = ward_delayed_data(place);
	*w = (struct waiting){.tree = op->tree, .flags = flags};
	w->node = ward_nodes_pin(op->tree->nodes, ward_node_to_ino(op->tree->nodes, node));
	if (w->node && ward_question_wait(op, place, on_answer))
		return true;
	if (w->node)
		ward_node_unpin(op->tree->nodes, w->node);
	free(place);
	return false;
}

static void open_or_wait(fuse_req_t req, struct ward_node *node, int flags)
{
	ward_cleanup_op op = {.acting = false};
	struct ward_handle *h = NULL;
	struct ward_file file;
	struct ward_open_out out;
	int32_t id = 0;
	int r = ward_op_begin(&op, req, flags & WARD_FMODE_EXEC ? "exec" : "open");

	/* With rings each that waits would keep a place of its CPU's queue. */
	op.may_wait = !atomic_load(&op.tree->rings);
	if (r == 0)
		r = open_node(&op, node, flags, &h, &file, &id);
	if (r == WARD_GATE_WAITS) {
		if (wait_for_answer(&op, node, flags))
			return;
		op.may_wait = false;
		r = open_node(&op, node, flags, &h, &file, &id);
	}
	if (r != 0 || !h) {
		ward_op_reply(&op, r);
		return;
	}
	out = ward_open_reply(op.tree, h, &file.st, id);
	/* The client was interrupted: no RELEASE will come. */
	if (fuse_reply_buf(req, (const char *)&out, sizeof(out)) < 0)
		ward_handle_release(op.tree->nodes, h);
}

static void op_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct ward_fs_tree *tree = fuse_req_userdata(req);

	open_or_wait(req, ward_nodes_from_ino(tree->nodes, ino), fi->flags);
}

/* Makes the file. -EEXIST is for the caller to judge. */
static int create_file(struct ward_op *op, struct ward_node *parent, const char *name, mode_t mode,
	int flags, uint32_t granted, int *ret_fd)
{
	const struct ward_want w = ward_want_from_flags(flags, true);
	int more = O_CREAT | O_EXCL | (flags & WARD_OPEN_PASSED);
	struct ward_dirref dir;
	int r = ward_resolve_dir(op->tree, parent, &dir);

	if (r < 0)
		return r;
	if (w.acc != O_RDONLY && !(granted & WARD_RIGHT_WRITE))
		more |= O_APPEND;
	/* Each thread has its own (transport): the backing applies a default ACL in its place. */
	umask(fuse_req_ctx(op->req)->umask & 0777);
	r = ward_backing_open(dir.fd, name, w.acc | more, mode, ret_fd);
	ward_dirref_put(op->tree, &dir);
	return r;
}

struct created {
	struct fuse_entry_param entry;
	struct ward_handle *h;
	struct ward_file file;
	int32_t id;
	bool again; /* what was there was removed or replaced before it was open */
};
/* So many tries, while somebody changes the name all the time. */
#define CREATE_TRIES 16

/* Somebody was faster, and the client does not mind. */
static int open_existing(struct ward_op *op, struct ward_node *parent, const char *name, int flags,
	struct created *ret)
{
	int r = ward_ops_enter(op, parent, name, &ret->entry);

	ret->again = r == -ENOENT;
	if (r < 0)
		return r;
	if (S_ISREG(ret->entry.attr.st_mode)) {
		r = open_node(op, ward_op_node(op, ret->entry.ino), flags & ~(O_CREAT | O_EXCL),
			&ret->h, &ret->file, &ret->id);
		ret->again = r == -ESTALE;
	} else {
		r = S_ISDIR(ret->entry.attr.st_mode) ? -EISDIR : -ESTALE;
	}
	if (r < 0)
		ward_node_forget(op->tree->nodes, ward_op_node(op, ret->entry.ino), 1);
	return r;
}

/* A file that could not be recorded: nobody has seen it, the kernel holds its directory for us. */
static void take_back(struct ward_op *op, struct ward_node *parent, const char *name)
{
	const struct ward_record_paths paths = {.node = parent, .name = name};
	struct ward_quota_old old;
	struct ward_dirref dir;
	int r;

	if (ward_resolve_dir(op->tree, parent, &dir) < 0)
		return;
	if (ward_quota_old_begin(op, &paths, dir.fd, name, &old) == 0) {
		ward_quota_old_lock(op, &old);
		ward_links_removal(op->tree->nodes, true);
		r = ward_backing_unlink(dir.fd, name, false);
		ward_quota_old_end(op, &old, r == 0);
		if (r == 0)
			ward_nodes_remove(op->tree->nodes, parent, name);
		ward_links_removal(op->tree->nodes, false);
	}
	ward_dirref_put(op->tree, &dir);
}

/* Makes the file, with what quotas take for it. */
static int create_counted(struct ward_op *op, struct ward_node *parent, const char *name,
	mode_t mode, struct ward_opened *o, struct created *ret, int *ret_fd)
{
	ward_cleanup(ward_inherited_end) struct ward_inherited acl;
	struct ward_quota_new count;
	int r;

	ward_inherited_begin(op, parent, false, &acl);
	r = ward_quota_new_begin(op, parent, name, NULL, acl.bytes, &count);
	if (r < 0)
		return r;
	r = create_file(op, parent, name, mode, o->flags, o->granted, ret_fd);
	if (r == 0)
		r = ward_backing_fstat(*ret_fd, &ret->file);
	if (r < 0)
		ward_quota_new_undo(op, &count);
	else
		o->use->f = ward_quota_new_done(op, &count, &ret->file, true);
	if (r < 0 && *ret_fd >= 0)
		take_back(op, parent, name);
	return r;
}

static int do_create(struct ward_op *op, struct ward_node *parent, const char *name, mode_t mode,
	int flags, struct created *ret)
{
	const struct ward_record_paths making = {.node = parent, .name = name};
	const struct ward_record_paths paths = {.node = parent, .name = name, .file = &ret->file};
	const enum ward_event_kind kind =
		op->tree->fs->log == WARD_LOG_IO ? WARD_EVENT_OPEN : WARD_EVENT_CREATE;
	const struct ward_want w = ward_want_from_flags(flags, true);
	ward_cleanup(ward_quota_use_end) struct ward_quota_use use = {op->tree->fs->quotas, NULL};
	ward_cleanup_fd int fd = -1;
	struct ward_opened opened = {.flags = flags, .made = true, .use = &use};
	struct ward_node *node = NULL;
	struct ward_decision by = {.verdict = WARD_VERDICT_DENY};
	struct ward_keep keep;
	int r = ward_gate_name(op, parent, name, WARD_ACTION_CREATE, w.rights, w.alt, S_IFREG, &by);

	if (r == 0)
		opened.granted = by.granted;
	if (r == 0)
		r = ward_gate_mode(op, parent, name, mode, 0);
	if (r == 0)
		r = ward_record_making(op, &making, &by, 0);
	if (r == 0) {
		r = create_counted(op, parent, name, mode, &opened, ret, &fd);
		if (r < 0)
			(void)!ward_record_making(op, &making, &by, r);
	}
	if (r == -EEXIST && !(flags & O_EXCL))
		return open_existing(op, parent, name, flags, ret);
	if (r < 0)
		return r;
	r = ward_nodes_enter(op->tree->nodes, parent, name, &ret->file, &node);
	if (r < 0) {
		take_back(op, parent, name);
		return r;
	}
	memset(&ret->entry, 0, sizeof(ret->entry));
	ret->entry.ino = ward_node_to_ino(op->tree->nodes, node);
	ret->entry.attr = ret->file.st;
	keep = ward_keep_name(op->tree->nodes, parent, node, op->since);
	ret->entry.entry_timeout = op->shown ? 0 : keep.entry;
	/* It will be written to. */
	ret->entry.attr_timeout = op->shown ? 0 : WARD_KEEP_SHORT;
	ward_op_map_stat(op->tree, node, &ret->entry.attr);
	opened.fd = ward_steal_fd(&fd);
	r = ward_gate_made(op, parent, name, opened.fd, node);
	if (r < 0)
		close(opened.fd);
	else
		r = ward_open_handle(op, node, &opened, &w, &ret->h, &ret->id);
	if (r == 0) {
		r = ward_record_open(op, kind, &paths, ret->h, w.rights | WARD_RIGHT_CREATE, &by);
		if (r < 0)
			ward_handle_release(op->tree->nodes, ret->h);
	}
	if (r < 0) {
		take_back(op, parent, name);
		ward_node_forget(op->tree->nodes, node, 1);
	}
	return r;
}

void ward_open_entry(const struct fuse_entry_param *e, struct fuse_entry_out *out)
{
	const struct stat *st = &e->attr;

	memset(out, 0, sizeof(*out));
	out->nodeid = e->ino;
	out->entry_valid = (uint64_t)e->entry_timeout;
	out->attr_valid = (uint64_t)e->attr_timeout;
	out->attr = (struct fuse_attr){
		.ino = st->st_ino,
		.size = (uint64_t)st->st_size,
		.blocks = (uint64_t)st->st_blocks,
		.atime = (uint64_t)st->st_atim.tv_sec,
		.mtime = (uint64_t)st->st_mtim.tv_sec,
		.ctime = (uint64_t)st->st_ctim.tv_sec,
		.atimensec = (uint32_t)st->st_atim.tv_nsec,
		.mtimensec = (uint32_t)st->st_mtim.tv_nsec,
		.ctimensec = (uint32_t)st->st_ctim.tv_nsec,
		.mode = st->st_mode,
		.nlink = (uint32_t)st->st_nlink,
		.uid = st->st_uid,
		.gid = st->st_gid,
		.rdev = (uint32_t)st->st_rdev,
		.blksize = (uint32_t)st->st_blksize,
	};
}

static void op_create(
	fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode, struct fuse_file_info *fi)
{
	ward_cleanup_op op = {.acting = false};
	struct {
		struct fuse_entry_out entry;
		struct ward_open_out open;
	} out;
	struct created c = {.id = 0};
	int r = ward_op_begin(&op, req, "create");

	for (int tries = 0; r == 0 || (c.again && tries < CREATE_TRIES); tries++) {
		c.again = false;
		r = do_create(&op, ward_op_node(&op, parent), name, mode, fi->flags, &c);
		if (r == 0)
			break;
	}
	if (r != 0) {
		ward_op_reply(&op, r);
		return;
	}
	ward_open_entry(&c.entry, &out.entry);
	out.open = ward_open_reply(op.tree, c.h, &c.file.st, c.id);
	if (fuse_reply_buf(req, (const char *)&out, sizeof(out)) < 0) {
		ward_handle_release(op.tree->nodes, c.h);
		ward_node_forget(op.tree->nodes, ward_op_node(&op, c.entry.ino), 1);
	}
}

void ward_ops_open_fill(struct fuse_lowlevel_ops *ops)
{
	ops->open = op_open;
	ops->create = op_create;
}
