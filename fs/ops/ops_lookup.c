/* SPDX-License-Identifier: Apache-2.0 */
/* Names looked up and forgotten, and attributes, links and space read. */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/statvfs.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/ipc/helper.h"
#include "fs/gate/gate.h"
#include "fs/handle/retired_inodes.h"
#include "fs/kernel/folding.h"
#include "fs/ops/ops.h"
#include "fs/replay/replay.h"
#include "fs/request/quota_name.h"
#include "fs/resolve/replaced_files.h"
#include "fs/resolve/resolve_node.h"
#include "fs/resolve/trees_beneath.h"
#include "fs/watch/keep_time.h"

static void fill_entry(const struct ward_op *op, struct ward_node *parent, struct ward_node *node,
	const struct ward_file *file, struct fuse_entry_param *ret)
{
	const struct ward_keep keep = ward_keep_name(op->tree->nodes, parent, node, op->since);

	memset(ret, 0, sizeof(*ret));
	ret->ino = ward_node_to_ino(op->tree->nodes, node);
	ret->attr = file->st;
	ret->attr_timeout = op->shown ? 0 : keep.attr;
	ret->entry_timeout = op->shown ? 0 : keep.entry;
	ward_op_map_stat(op->tree, node, &ret->attr);
}

/* What a look at a name found. */
struct seen {
	struct ward_node *node;
	struct ward_file file;
	int fd; /* of what was replaced a moment ago (replaced_files.h), or -1 */
};
/* How often it is looked for what others replace all the while. */
#define LOOK_TRIES 16

/*
 * What is seen and what is entered must lie on one side of any rename: renames_lock is held. r: why
 * there is no dir, or 0.
 */
static int look_and_enter(struct ward_op *op, struct ward_node *parent, const char *name,
	const struct ward_dirref *dir, int r, struct seen *ret)
{
	const uint64_t before = ward_quota_before(op->tree, parent, name);
	struct ward_file file = {.id = {0}};
	ward_cleanup_fd int fd = -1;

	if (r == 0 && (r = ward_gate_spelling(op, parent, name)) < 0)
		return r;
	/* Whatever is there is hidden: it is not even looked whether something is. */
	if (r == 0 && !ward_beneath_flags(op->tree, parent, name) &&
		!ward_gate_visible(op->tree, parent, name, true, WARD_GATE_ABSENT) &&
		(r = ward_gate_lookup(op, parent, name, false, WARD_GATE_ABSENT, NULL)) < 0)
		return r;
	if (r == 0)
		r = ward_replaced_look(op->tree, parent, name, dir->fd, &file, &fd);
	r = ward_beneath_look(op->tree, parent, name, r, &file);
	if (r == 0 || r == -ENOENT)
		ward_quota_missing(op->tree, parent, name, before, r == 0 ? &file : NULL);
	if (r == -ENOENT)
		ward_nodes_miss(op->tree->nodes, parent, name);
	/* Visible or not is asked first: a hidden mount point must not show itself. */
	if (r == 0 || r == -EXDEV || r == -ENOENT) {
		const bool is_dir = r == -EXDEV || (r == 0 && S_ISDIR(file.st.st_mode));
		int gate = ward_gate_lookup(
			op, parent, name, is_dir, dir->node ? dir->fd : -1, r == 0 ? &file : NULL);

		if (gate < 0)
			r = gate;
		else if (r == -EXDEV)
			r = ward_gate_refuse(
				op, parent, name, EACCES, "another file system is mounted there");
	}
	/* Names that differ in a way that no rule knows of (short names): only the list's counts.
	 */
	if (r == 0 && op->tree->folds && ward_folding_listed(dir->fd, name) != 1)
		r = ward_gate_refuse(op, parent, name, EACCES,
			"the file system takes this name for another spelling");
	if (r == 0)
		r = ward_nodes_enter(op->tree->nodes, parent, name, &file, &ret->node);
	if (r == 0 && dir->node)
		ward_beneath_hold(op->tree, parent, name, dir->fd, ret->node);
	if (r == 0) {
		ret->file = file;
		ret->fd = ward_steal_fd(&fd);
	}
	return r;
}

static int hold(struct ward_op *op, struct seen *seen)
{
	ward_cleanup_fd int fd = ward_steal_fd(&seen->fd);

	return fd < 0 ? 0 : ward_replaced_hold(op, seen->node, &fd);
}

int ward_ops_enter(struct ward_op *op, struct ward_node *parent, const char *name,
	struct fuse_entry_param *ret)
{
	const uint32_t beneath = ward_beneath_flags(op->tree, parent, name);
	struct ward_dirref dir = {.fd = -1};
	struct seen seen = {.fd = -1};
	bool again = true;
	int r;

	/* The answer also hides whether such a name exists. */
	if (beneath & WARD_REQUEST_COVERED && !(beneath & WARD_REQUEST_LEADS)) {
		r = ward_gate_lookup(op, parent, name, false, -1, NULL);
		return r < 0 ? r : -EACCES;
	}
	r = ward_resolve_dir(op->tree, parent, &dir);
	if (r < 0 && !(beneath & WARD_REQUEST_LEADS))
		return r;
	for (int tries = 0; again && tries < LOOK_TRIES; tries++) {
		pthread_rwlock_rdlock(&op->tree->nodes->renames_lock);
		r = look_and_enter(op, parent, name, &dir, dir.node ? 0 : r, &seen);
		pthread_rwlock_unlock(&op->tree->nodes->renames_lock);
		again = r == 0 && hold(op, &seen) == -ESTALE && tries + 1 < LOOK_TRIES;
		if (again)
			ward_node_forget(op->tree->nodes, seen.node, 1);
	}
	ward_dirref_put(op->tree, &dir);
	if (r == 0)
		fill_entry(op, parent, seen.node, &seen.file, ret);
	return r;
}

void ward_ops_reply_entry(struct ward_op *op, struct ward_node *parent, const char *name)
{
	struct fuse_entry_param e = {.ino = 0};
	int r = ward_ops_enter(op, parent, name, &e);

	if (r != 0) {
		ward_op_reply(op, r);
		return;
	}
	if (fuse_reply_entry(op->req, &e) < 0)
		ward_node_forget(op->tree->nodes, ward_op_node(op, e.ino), 1);
}

static void op_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	ward_cleanup_op op = {.acting = false};
	struct fuse_entry_param e = {.ino = 0};
	int r = ward_op_begin(&op, req, "lookup");

	if (r == 0)
		r = ward_ops_enter(&op, ward_op_node(&op, parent), name, &e);
	if (r == -ENOENT) {
		/* Absent and hidden answer alike: a negative entry. */
		struct ward_node *dir = ward_op_node(&op, parent);

		memset(&e, 0, sizeof(e));
		e.entry_timeout = ward_keep_absent(op.tree->nodes, dir,
			ward_gate_visible(op.tree, dir, name, false, -1) > 0, op.since);
		/* What a probe looked at must be asked again by the command: that is recorded. */
		if (ward_ring_probing(op.tree->fs->ring) ||
			ward_replay_is_made(op.tree, parent, name))
			e.entry_timeout = 0;
	} else if (r < 0) {
		ward_op_reply(&op, r);
		return;
	}
	if (fuse_reply_entry(req, &e) < 0 && e.ino)
		ward_node_forget(op.tree->nodes, ward_op_node(&op, e.ino), 1);
}

static void forget(struct ward_fs_tree *tree, fuse_ino_t ino, uint64_t n)
{
	/* An inode that is gone needs not go bad. */
	(void)ward_retire_told(tree->nodes, ino);
	ward_node_forget(tree->nodes, ward_nodes_from_ino(tree->nodes, ino), n);
}

static void op_forget(fuse_req_t req, fuse_ino_t ino, uint64_t n)
{
	struct ward_fs_tree *tree = fuse_req_userdata(req);

	forget(tree, ino, n);
	fuse_reply_none(req);
}

static void op_forget_multi(fuse_req_t req, size_t count, struct fuse_forget_data *forgets)
{
	struct ward_fs_tree *tree = fuse_req_userdata(req);

	for (size_t i = 0; i < count; i++)
		forget(tree, forgets[i].ino, forgets[i].nlookup);
	fuse_reply_none(req);
}

static void op_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	ward_cleanup_op op = {.acting = false};
	struct ward_node *node = NULL;
	struct ward_file file;
	int r = ward_op_begin(&op, req, "stat");

	if (ward_retire_told(op.tree->nodes, ino)) {
		/* No inode has such attributes: this one goes bad. */
		(void)fuse_reply_attr(req, &(struct stat){.st_ino = ino}, 0);
		return;
	}
	if (r == 0) {
		node = ward_op_node(&op, ino);
		r = ward_resolve_stat(op.tree, node, &file);
		if (r == 0)
			r = ward_gate_node(&op, node, WARD_RIGHT_STAT, 0, 0, NULL);
	}
	if (r < 0) {
		ward_op_reply(&op, r);
		return;
	}
	ward_op_map_stat(op.tree, node, &file.st);
	(void)fuse_reply_attr(req, &file.st,
		op.shown ? 0 : ward_keep_attr(op.tree->nodes, node, &file.st, op.since));
}

static void op_readlink(fuse_req_t req, fuse_ino_t ino)
{
	ward_cleanup_op op = {.acting = false};
	struct ward_fdref ref = {.fd = -1};
	char target[PATH_MAX + 1];
	ssize_t n = ward_op_begin(&op, req, "readlink");

	if (n == 0)
		n = ward_gate_node(&op, ward_op_node(&op, ino), WARD_RIGHT_STAT, 0, 0, NULL);
	if (n == 0)
		n = ward_resolve_fd(op.tree, ward_op_node(&op, ino), &ref);
	if (n == 0)
		n = ward_backing_readlink(ref.fd, target, PATH_MAX);
	ward_fdref_put(op.tree, &ref);
	if (n < 0) {
		ward_op_reply(&op, (int)n);
		return;
	}
	target[n] = '\0';
	(void)fuse_reply_readlink(req, target);
}

static uint32_t access_rights(int mask, bool is_dir)
{
	uint32_t rights = WARD_RIGHT_STAT;

	if (mask & R_OK)
		rights |= is_dir ? WARD_RIGHT_LIST : WARD_RIGHT_READ;
	if (mask & X_OK)
		rights |= is_dir ? WARD_RIGHT_LIST : WARD_RIGHT_EXEC;
	/* Each name in a directory has its own rights. */
	if (mask & W_OK && !is_dir)
		rights |= WARD_RIGHT_WRITE;
	return rights;
}

static int do_access(struct ward_op *op, struct ward_node *node, int mask, int fd)
{
	const uint32_t rights = access_rights(mask, node->dir != NULL);
	/* For access(2), the right to append counts as writable. */
	const uint32_t alt =
		rights & WARD_RIGHT_WRITE ? (rights & ~WARD_RIGHT_WRITE) | WARD_RIGHT_APPEND : 0;
	struct ward_file file;
	int r = ward_backing_fstat(fd, &file);

	op->asks = true;
	if (r == 0)
		r = ward_gate_node(op, node, rights, alt, file.st.st_nlink, NULL);
	return r < 0 ? r : ward_backing_access(fd, mask & (R_OK | W_OK | X_OK));
}

static void op_access(fuse_req_t req, fuse_ino_t ino, int mask)
{
	ward_cleanup_op op = {.acting = false};
	struct ward_fdref ref = {.fd = -1};
	int r = ward_op_begin(&op, req, "access");

	if (r == 0)
		r = ward_resolve_fd(op.tree, ward_op_node(&op, ino), &ref);
	if (r == 0)
		r = do_access(&op, ward_op_node(&op, ino), mask, ref.fd);
	ward_fdref_put(op.tree, &ref);
	ward_op_reply(&op, r);
}

/* Unit of what a quota has: small ones show too. */
#define QUOTA_UNIT 512U

/* Free space is the rest of the quota or of the file system. */
static void clip(struct ward_quotas *q, struct ward_quota_domain *d, struct statvfs *st)
{
	const uint64_t scale = st->f_frsize / QUOTA_UNIT;
	struct ward_quota_room room;

	ward_quota_room(q, d, &room);
	if (scale) {
		st->f_frsize = QUOTA_UNIT;
		st->f_blocks *= scale;
		st->f_bfree *= scale;
		st->f_bavail *= scale;
	}
	if (room.bytes != WARD_UNLIMITED)
		st->f_blocks = (room.bytes + st->f_frsize - 1) / st->f_frsize;
	if (room.bytes_free != WARD_UNLIMITED && room.bytes_free / st->f_frsize < st->f_bfree)
		st->f_bfree = room.bytes_free / st->f_frsize;
	if (st->f_bfree < st->f_bavail)
		st->f_bavail = st->f_bfree;
	if (room.files != WARD_UNLIMITED)
		st->f_files = room.files;
	if (room.files_free != WARD_UNLIMITED && room.files_free < st->f_ffree)
		st->f_ffree = room.files_free;
	if (st->f_ffree < st->f_favail)
		st->f_favail = st->f_ffree;
}

static void op_statfs(fuse_req_t req, fuse_ino_t ino)
{
	struct ward_fs_tree *tree = fuse_req_userdata(req);
	struct ward_quota_domain *d =
		ward_quota_at(tree, ward_nodes_from_ino(tree->nodes, ino), NULL);
	struct statvfs st;

	if (fstatvfs(tree->root_fd, &st) < 0) {
		(void)fuse_reply_err(req, errno);
		return;
	}
	if (d)
		clip(tree->fs->quotas, d, &st);
	(void)fuse_reply_statfs(req, &st);
}

void ward_ops_lookup_fill(struct fuse_lowlevel_ops *ops)
{
	ops->lookup = op_lookup;
	ops->forget = op_forget;
	ops->forget_multi = op_forget_multi;
	ops->getattr = op_getattr;
	ops->readlink = op_readlink;
	ops->access = op_access;
	ops->statfs = op_statfs;
}
