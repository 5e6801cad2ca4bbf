/* SPDX-License-Identifier: Apache-2.0 */
/* SETATTR: mode, owner, size and times. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "fs/gate/gate.h"
#include "fs/kernel/forget_queue.h"
#include "fs/ops/ops.h"
#include "fs/request/fs_records.h"
#include "fs/request/quota_io.h"
#include "fs/request/quota_name.h"
#include "fs/resolve/resolve_node.h"
#include "fs/watch/keep_time.h"

#define SET_TIMES                                                                                  \
	(FUSE_SET_ATTR_ATIME | FUSE_SET_ATTR_MTIME | FUSE_SET_ATTR_ATIME_NOW |                     \
		FUSE_SET_ATTR_MTIME_NOW | FUSE_SET_ATTR_CTIME)
#define SET_IDS (FUSE_SET_ATTR_UID | FUSE_SET_ATTR_GID)

/*
 * The rights that a change of attributes needs. Setting the times to now is what appending a byte
 * does too: who may append may `touch`. *ret: what was asked last, untouched if nothing was.
 */
static int gate_setattr(struct ward_op *op, struct ward_node *node, int to_set,
	const struct ward_handle *h, uint64_t nlink, struct ward_decision *ret)
{
	const bool only_now =
		(to_set & (FUSE_SET_ATTR_ATIME_NOW | FUSE_SET_ATTR_MTIME_NOW)) &&
		(!(to_set & FUSE_SET_ATTR_ATIME) || to_set & FUSE_SET_ATTR_ATIME_NOW) &&
		(!(to_set & FUSE_SET_ATTR_MTIME) || to_set & FUSE_SET_ATTR_MTIME_NOW);
	int r = 0;

	if (to_set & FUSE_SET_ATTR_SIZE) {
		/* Through a handle, its rights count; a truncate by name asks again. */
		if (h && ward_handle_may(h, WARD_RIGHT_WRITE) && !h->append_only)
			r = 0;
		else
			r = ward_gate_node(op, node, WARD_RIGHT_WRITE, 0, nlink, ret);
	}
	if (r == 0 && to_set & (FUSE_SET_ATTR_MODE | SET_IDS))
		r = ward_gate_node(op, node, WARD_RIGHT_ATTR, 0, nlink, ret);
	/* A truncate brings its time stamps along. */
	else if (r == 0 && to_set & SET_TIMES && !(to_set & FUSE_SET_ATTR_SIZE))
		r = ward_gate_node(
			op, node, WARD_RIGHT_ATTR, only_now ? WARD_RIGHT_APPEND : 0, nlink, ret);
	return r;
}

static int set_size_of(struct ward_op *op, struct ward_node *node, off_t size, bool times)
{
	const struct ward_record_paths paths = {.node = node};
	struct ward_quota_file *quota;
	ward_cleanup_fd int fd = -1;
	struct ward_file file;
	/* Before it is opened: what loses its last name meanwhile stays charged. */
	int r = ward_quota_pin(op, node, true, &quota);

	if (r < 0)
		return r;
	r = ward_quota_touch(op, &paths, quota);
	if (r == 0)
		r = ward_resolve_open(op->tree, node, O_WRONLY, &fd, &file);
	if (r == 0 && !S_ISREG(file.st.st_mode))
		r = -EINVAL;
	if (r == 0)
		r = ward_quota_truncate(op, node, quota, fd, size, times);
	ward_quota_put(op->tree->fs->quotas, quota);
	return r;
}

/* By a handle it is ftruncate(2), else truncate(2): the former always changes the times. */
static int set_size(
	struct ward_op *op, struct ward_node *node, const struct ward_handle *h, off_t size)
{
	if (h && (h->flags & O_ACCMODE) != O_RDONLY)
		return ward_quota_truncate(op, node, h->quota, h->fd, size, true);
	return set_size_of(op, node, size, h);
}

static int set_times(int fd, const struct stat *attr, int to_set)
{
	struct timespec ts[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_nsec = UTIME_OMIT}};

	if (to_set & FUSE_SET_ATTR_ATIME_NOW)
		ts[0].tv_nsec = UTIME_NOW;
	else if (to_set & FUSE_SET_ATTR_ATIME)
		ts[0] = attr->st_atim;
	if (to_set & FUSE_SET_ATTR_MTIME_NOW)
		ts[1].tv_nsec = UTIME_NOW;
	else if (to_set & FUSE_SET_ATTR_MTIME)
		ts[1] = attr->st_mtim;
	return ward_backing_utimens(fd, ts);
}

static int set_ids(struct ward_op *op, int fd, const struct stat *attr, int to_set)
{
	const struct ward_fs *fs = op->tree->fs;
	uid_t uid = to_set & FUSE_SET_ATTR_UID ? ward_op_unmap_uid(fs, attr->st_uid) : (uid_t)-1;
	gid_t gid = to_set & FUSE_SET_ATTR_GID ? ward_op_unmap_gid(fs, attr->st_gid) : (gid_t)-1;

	return ward_backing_chown(fd, uid, gid);
}

static int apply(struct ward_op *op, struct ward_node *node, int fd, const struct stat *attr,
	int to_set, const struct ward_handle *h)
{
	int r = 0;

	if (to_set & FUSE_SET_ATTR_SIZE)
		r = set_size(op, node, h, attr->st_size);
	/* Owner before mode: chown takes the setuid bit that chmod may just be setting. */
	if (r == 0 && to_set & SET_IDS)
		r = set_ids(op, fd, attr, to_set);
	if (r == 0 && to_set & FUSE_SET_ATTR_MODE)
		r = ward_backing_chmod(fd, attr->st_mode);
	if (r == 0 && to_set & (SET_TIMES & ~FUSE_SET_ATTR_CTIME))
		r = set_times(fd, attr, to_set);
	return r;
}

static int do_setattr(struct ward_op *op, struct ward_node *node, const struct stat *attr,
	int to_set, struct ward_handle *h, struct ward_file *ret)
{
	const struct ward_fs *fs = op->tree->fs;
	const struct stat becomes = {.st_mode = attr->st_mode,
		.st_uid = ward_op_unmap_uid(fs, attr->st_uid),
		.st_gid = ward_op_unmap_gid(fs, attr->st_gid),
		.st_size = attr->st_size};
	struct ward_record_paths paths = {.node = node, .attr = &becomes, .to_set = to_set};
	struct ward_decision by = {.verdict = WARD_VERDICT_DENY};
	struct ward_fdref ref = {.fd = -1};
	int r = ward_resolve_fd(op->tree, node, &ref);

	if (r < 0)
		return r;
	r = ward_backing_fstat(ref.fd, ret);
	if (r == 0) {
		paths.file = ret;
		r = gate_setattr(op, node, to_set, h, (uint64_t)ret->st.st_nlink, &by);
	}
	if (r == 0 && to_set & FUSE_SET_ATTR_MODE)
		r = ward_gate_mode(op, node, NULL, attr->st_mode, ret->st.st_mode);
	if (r == 0)
		r = ward_record_change(op, WARD_EVENT_ATTR, &paths, &by);
	/* Its times change: what git has committed would not be known again. */
	if (r == 0 && ward_gate_secret(node, WARD_FACT_COMMITTED))
		r = ward_gate_own(op, node, ref.fd);
	if (r == 0) {
		r = apply(op, node, ref.fd, attr, to_set, h);
		r = ward_record_outcome(op, WARD_EVENT_ATTR, &paths, &by, r);
	}
	if (r == 0)
		r = ward_backing_fstat(ref.fd, ret);
	ward_fdref_put(op->tree, &ref);
	return r;
}

/*
 * Only who loses the right to search makes the kernel's cached entries wrong. The right to list is
 * asked for with each OPENDIR, or else when the kernel has no listing.
 */
void ward_ops_dir_changed(struct ward_fs_tree *tree, struct ward_node *node)
{
	struct ward_dirref dir;

	ward_resolve_changed(tree, node);
	/* With ACLs the kernel looks at the bits itself, at each step. */
	if ((tree->acl && !(tree->fs->flags & WARD_FS_ALLOW_OTHER)) ||
		ward_resolve_dir(tree, node, &dir) < 0)
		return;
	if (ward_backing_searchable(dir.fd) < 0)
		ward_forget_search(tree->forget, ward_node_to_ino(tree->nodes, node));
	ward_dirref_put(tree, &dir);
}

static void op_setattr(
	fuse_req_t req, fuse_ino_t ino, struct stat *attr, int to_set, struct fuse_file_info *fi)
{
	ward_cleanup_op op = {.acting = false};
	struct ward_node *node = NULL;
	struct ward_file file;
	int r = ward_op_begin(&op, req, to_set & FUSE_SET_ATTR_SIZE ? "truncate" : "setattr");

	if (r == 0) {
		node = ward_op_node(&op, ino);
		r = do_setattr(
			&op, node, attr, to_set, fi ? ward_handle_from(fi->fh) : NULL, &file);
	}
	if (r == 0 && node->dir && to_set & (FUSE_SET_ATTR_MODE | SET_IDS)) {
		ward_ops_dir_changed(op.tree, node);
		if (op.tree->list_anew)
			ward_forget_attr(op.tree->forget, ward_node_to_ino(op.tree->nodes, node));
	}
	if (r < 0) {
		ward_op_reply(&op, r);
		return;
	}
	ward_op_map_stat(op.tree, node, &file.st);
	(void)fuse_reply_attr(req, &file.st,
		op.shown ? 0 : ward_keep_attr(op.tree->nodes, node, &file.st, op.since));
}

void ward_ops_attr_fill(struct fuse_lowlevel_ops *ops)
{
	ops->setattr = op_setattr;
}
