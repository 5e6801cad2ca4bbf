/* SPDX-License-Identifier: Apache-2.0 */
/* Names made, removed, renamed and linked. */
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <string.h>
#include <sys/stat.h>

#include "enforcer/base/cleanup.h"
#include "fs/gate/alone.h"
#include "fs/gate/gate.h"
#include "fs/kernel/forget_queue.h"
#include "fs/node/node_links.h"
#include "fs/ops/inherited_acl.h"
#include "fs/ops/ops.h"
#include "fs/base/shared_moves.h"
#include "fs/ops/secret_moves.h"
#include "fs/request/fs_records.h"
#include "fs/request/quota_name.h"
#include "fs/resolve/replaced_files.h"
#include "fs/resolve/resolve_node.h"
#include "fs/resolve/trees_beneath.h"

enum make_kind { MAKE_NODE, MAKE_DIR, MAKE_LINK };

struct make {
	enum make_kind kind;
	mode_t mode;
	const char *target;
};

/* *ret_fd: of what was made, if it can be obtained with it. */
static int make_at(
	struct ward_op *op, int dirfd, const char *name, const struct make *m, int *ret_fd)
{
	/* The thread's own umask (transport): a default ACL of the directory takes its place. */
	umask(fuse_req_ctx(op->req)->umask & 0777);
	switch (m->kind) {
	case MAKE_NODE:
		if (S_ISREG(m->mode))
			return ward_backing_open(
				dirfd, name, O_RDONLY | O_CREAT | O_EXCL, m->mode, ret_fd);
		return ward_backing_mknod(dirfd, name, m->mode);
	case MAKE_DIR:
		return ward_backing_mkdir(dirfd, name, m->mode);
	case MAKE_LINK:
		return ward_backing_symlink(m->target, dirfd, name);
	}
	return -EINVAL;
}

/*
 * What was made belongs to the session. Only a regular file can give access to content. If somebody
 * has already replaced the new name, the file there has the same type, or the session does not own
 * it.
 */
static int remember(struct ward_op *op, struct ward_node *parent, const char *name,
	const struct make *m, int dirfd, int *fd)
{
	struct ward_file file;
	mode_t type = m->kind == MAKE_DIR    ? S_IFDIR
		      : m->kind == MAKE_LINK ? S_IFLNK
					     : m->mode & S_IFMT;
	int r = 0;

	if (*fd < 0 && ward_backing_open(dirfd, name, O_PATH, 0, fd) < 0)
		return 0;
	r = ward_backing_fstat(*fd, &file);
	if (r < 0 || (file.st.st_mode & S_IFMT) != type)
		return 0;
	return ward_gate_made(op, parent, name, *fd, NULL);
}

static int make_counted(struct ward_op *op, struct ward_node *parent, const char *name,
	const struct make *m, const struct ward_quota_new *count)
{
	struct ward_quota_file *quota = NULL;
	struct ward_dirref dir;
	struct ward_file file;
	ward_cleanup_fd int fd = -1;
	int r = ward_resolve_dir(op->tree, parent, &dir);

	if (r < 0)
		return r;
	/* What a rename or link has just seen to be a file does not become a directory or a
	 * symbolic link before it is moved. */
	pthread_rwlock_rdlock(&op->tree->nodes->renames_lock);
	r = make_at(op, dir.fd, name, m, &fd);
	if (r == 0)
		r = remember(op, parent, name, m, dir.fd, &fd);
	pthread_rwlock_unlock(&op->tree->nodes->renames_lock);
	if (r == 0 && count->domain) {
		/* Gone already: others took it away. */
		if (ward_backing_stat(op->tree, dir.fd, name, &file) == 0)
			quota = ward_quota_new_done(op, count, &file, true);
		else
			ward_quota_new_undo(op, count);
	}
	ward_dirref_put(op->tree, &dir);
	ward_quota_put(op->tree->fs->quotas, quota);
	return r;
}

static void make(struct ward_op *op, fuse_ino_t parent_ino, const char *name, const struct make *m)
{
	struct ward_node *parent = ward_op_node(op, parent_ino);
	const struct ward_record_paths paths = {.node = parent, .name = name, .target = m->target};
	struct ward_quota_new count = {.domain = NULL};
	struct ward_inherited acl = {.held = NULL};
	struct ward_decision by = {.verdict = WARD_VERDICT_DENY};
	static const mode_t types[] = {
		[MAKE_NODE] = S_IFREG, [MAKE_DIR] = S_IFDIR, [MAKE_LINK] = S_IFLNK};
	int r = ward_gate_name(op, parent, name, WARD_ACTION_CREATE, 0, 0, types[m->kind], &by);

	if (r == 0)
		r = ward_gate_mode(op, parent, name, m->mode, 0);
	if (r == 0 && m->kind != MAKE_LINK)
		ward_inherited_begin(op, parent, m->kind == MAKE_DIR, &acl);
	if (r == 0)
		r = ward_quota_new_begin(op, parent, name, m->target, acl.bytes, &count);
	if (r == 0) {
		r = ward_record_change(op, WARD_EVENT_CREATE, &paths, &by);
		if (r == 0) {
			r = make_counted(op, parent, name, m, &count);
			r = ward_record_outcome(op, WARD_EVENT_CREATE, &paths, &by, r);
		}
		if (r < 0)
			ward_quota_new_undo(op, &count);
	}
	ward_inherited_end(&acl);
	if (r < 0)
		ward_op_reply(op, r);
	else
		ward_ops_reply_entry(op, parent, name);
}

static void op_mknod(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode, dev_t rdev)
{
	const struct make m = {.kind = MAKE_NODE, .mode = mode};
	ward_cleanup_op op = {.acting = false};
	int r = ward_op_begin(&op, req, "mknod");

	/* Devices bypass every rule about paths. 0:0 is not a device: no driver has that number,
	 * and overlays on the host read it as a removed name (mknod(2): anybody may make one). */
	if (r == 0 && !S_ISREG(mode) && !S_ISFIFO(mode) && !S_ISSOCK(mode) &&
		!(S_ISCHR(mode) && rdev == 0))
		r = -EPERM;
	if (r < 0)
		ward_op_reply(&op, r);
	else
		make(&op, parent, name, &m);
}

static void op_mkdir(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode)
{
	const struct make m = {.kind = MAKE_DIR, .mode = mode};
	ward_cleanup_op op = {.acting = false};
	int r = ward_op_begin(&op, req, "mkdir");

	if (r < 0)
		ward_op_reply(&op, r);
	else
		make(&op, parent, name, &m);
}

static void op_symlink(fuse_req_t req, const char *target, fuse_ino_t parent, const char *name)
{
	const struct make m = {.kind = MAKE_LINK, .target = target};
	ward_cleanup_op op = {.acting = false};
	int r = ward_op_begin(&op, req, "symlink");

	if (r < 0)
		ward_op_reply(&op, r);
	else
		make(&op, parent, name, &m);
}

static int remove_counted(struct ward_op *op, const struct ward_record_paths *paths, int dirfd,
	bool is_dir, const struct ward_decision *by)
{
	struct ward_record_paths with = *paths;
	struct ward_quota_old old;
	struct ward_file file;
	int r = ward_quota_old_begin(op, paths, dirfd, paths->name, &old);

	if (r < 0)
		return r;
	/* Which file it is, for the record: what the tables have may be another one's by now. */
	if (old.file)
		with.file = &old.seen;
	else if (op->tree->fs->log != WARD_LOG_DENIALS &&
		 ward_backing_stat(op->tree, dirfd, paths->name, &file) == 0)
		with.file = &file;
	r = ward_record_change(op, WARD_EVENT_REMOVE, &with, by);
	if (r == 0) {
		ward_resolve_keep(op->tree, paths->node, dirfd, paths->name);
		ward_quota_old_lock(op, &old);
		ward_links_removal(op->tree->nodes, true);
		r = ward_backing_unlink(dirfd, paths->name, is_dir);
		ward_quota_old_end(op, &old, r == 0);
		if (r == 0)
			ward_nodes_remove(op->tree->nodes, paths->node, paths->name);
		ward_links_removal(op->tree->nodes, false);
		return ward_record_outcome(op, WARD_EVENT_REMOVE, &with, by, r);
	}
	ward_quota_old_end(op, &old, false);
	return r;
}

static int do_remove(struct ward_op *op, struct ward_node *parent, const char *name, bool is_dir)
{
	const struct ward_record_paths paths = {.node = parent, .name = name};
	struct ward_decision by = {.verdict = WARD_VERDICT_DENY};
	struct ward_dirref dir;
	int r = ward_gate_name(
		op, parent, name, WARD_ACTION_REMOVE, 0, 0, is_dir ? S_IFDIR : S_IFREG, &by);

	if (r == 0)
		r = ward_resolve_dir(op->tree, parent, &dir);
	if (r != 0)
		return r;
	r = remove_counted(op, &paths, dir.fd, is_dir, &by);
	ward_dirref_put(op->tree, &dir);
	ward_resolve_places(op->tree);
	return r;
}

static void op_unlink(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	ward_cleanup_op op = {.acting = false};
	int r = ward_op_begin(&op, req, "unlink");

	ward_op_reply(&op, r < 0 ? r : do_remove(&op, ward_op_node(&op, parent), name, false));
}

static void op_rmdir(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	ward_cleanup_op op = {.acting = false};
	int r = ward_op_begin(&op, req, "rmdir");

	ward_op_reply(&op, r < 0 ? r : do_remove(&op, ward_op_node(&op, parent), name, true));
}

struct rename {
	struct ward_node *parent, *parent2;
	const char *name, *name2;
	struct ward_dirref dir, dir2;
	unsigned flags;
	bool recorded, nothing;
	struct ward_decision by; /* what allowed it last */
	/* As they were when it was decided; NULL in files: not there. */
	struct ward_file found[2];
	const struct ward_file *files[2];
	struct ward_quota_old old;   /* what is replaced */
	struct ward_quota_new white; /* RENAME_WHITEOUT: what comes to be at name */
	struct ward_decision white_by;
	struct ward_secret_move secrets;
	struct ward_alone alone;
};

static struct ward_record_paths paths_of(const struct rename *m)
{
	return (struct ward_record_paths){.node = m->parent,
		.name = m->name,
		.node2 = m->parent2,
		.name2 = m->name2,
		.file = m->files[0],
		.file2 = m->files[1]};
}

static int record_rename(struct ward_op *op, struct rename *m)
{
	const struct ward_record_paths paths = paths_of(m);
	int r = m->recorded ? 0 : ward_record_change(op, WARD_EVENT_RENAME, &paths, &m->by);

	m->recorded = m->recorded || r == 0;
	return r;
}

/* May something beneath be hidden under one name that is not under the other? */
static bool states_differ(struct ward_op *op, const struct rename *m)
{
	const struct ward_state *a = NULL, *b = NULL;
	bool differ = ward_node_child_state(op->tree->nodes, m->parent, m->name, &a) < 0 ||
		      ward_node_child_state(op->tree->nodes, m->parent2, m->name2, &b) < 0 ||
		      a != b;

	ward_policy_state_put(op->tree->fs->policy, a);
	ward_policy_state_put(op->tree->fs->policy, b);
	return differ;
}

/* The kernel's entries beneath a moved directory were right under its old name. */
static void notify_moved(struct ward_op *op, struct ward_node *parent, const char *name)
{
	const uint64_t number = ward_nodes_number(op->tree->nodes, parent, name);

	if (number)
		ward_forget_dir(op->tree->forget, number);
}

/* What quotas say of it; takes up what would be replaced. */
static int count_rename(struct ward_op *op, struct rename *m, uint32_t ask, bool other_there)
{
	const struct ward_record_paths paths = {
		.node = m->parent, .name = m->name, .node2 = m->parent2, .name2 = m->name2};
	const bool exchange = ask & WARD_REQUEST_EXCHANGE;
	int r = ward_quota_check_move(
		op, &paths, ask & WARD_REQUEST_DIR, ask & WARD_REQUEST_DST_DIR, exchange);

	if (r == 0 && other_there && !exchange && !(m->flags & RENAME_NOREPLACE))
		r = ward_quota_old_begin(op, &paths, m->dir2.fd, m->name2, &m->old);
	return r;
}

/* A hidden name is refused either way: it is not even looked whether something is there. */
static int stat_new_name(struct ward_op *op, const struct rename *m, struct ward_file *ret)
{
	if (!ward_beneath_flags(op->tree, m->parent2, m->name2) &&
		ward_gate_visible(op->tree, m->parent2, m->name2, true, WARD_GATE_ABSENT) <= 0)
		return -ENOENT;
	return ward_backing_stat(op->tree, m->dir2.fd, m->name2, ret);
}

/* Nobody else writes from here to the new name where that takes the right. */
static int check_alone(struct ward_op *op, struct rename *m, bool exchange)
{
	const struct ward_record_paths paths = paths_of(m);

	return ward_alone_rename(op, &paths, (const int[]){m->dir.fd, m->dir2.fd}, m->files[0],
		exchange ? m->files[1] : NULL, &m->alone);
}

/* renames_lock held for writing. */
static int rename_once(struct ward_op *op, struct rename *m, bool *ret_again)
{
	const struct ward_two_names at = {
		m->parent, m->parent2, m->name, m->name2, m->dir.fd, m->dir2.fd};
	struct ward_fs_tree *tree = op->tree;
	struct ward_file *from = &m->found[0], *to = &m->found[1];
	uint32_t ask = 0;
	unsigned flags = m->flags;
	bool there, other;
	int r;

	*ret_again = false;
	ward_alone_end(&m->alone);
	ward_secret_move_begin(op, &at, &m->secrets);
	r = ward_backing_stat(tree, m->dir.fd, m->name, from);
	if (r < 0)
		return r;
	r = stat_new_name(op, m, to);
	if (r < 0 && r != -ENOENT)
		return r;
	there = r == 0;
	m->files[0] = from;
	m->files[1] = there ? to : NULL;
	if (S_ISDIR(from->st.st_mode))
		ask |= WARD_REQUEST_DIR;
	if (there)
		ask |= WARD_REQUEST_DST_EXISTS;
	if (there && S_ISDIR(to->st.st_mode))
		ask |= WARD_REQUEST_DST_DIR;
	if (S_ISLNK(from->st.st_mode))
		ask |= WARD_REQUEST_SYMLINK;
	if (there && S_ISLNK(to->st.st_mode))
		ask |= WARD_REQUEST_DST_SYMLINK;
	if (flags & RENAME_EXCHANGE)
		ask |= WARD_REQUEST_EXCHANGE;
	if (from->st.st_nlink > 1)
		ask |= WARD_REQUEST_LINKED;
	if (there && to->st.st_nlink > 1)
		ask |= WARD_REQUEST_DST_LINKED;
	r = ward_gate_rename(op, m->parent, m->name, m->parent2, m->name2,
		(const int[]){m->dir.fd, m->dir2.fd, m->secrets.fd, m->secrets.fd2}, ask, &m->by);
	if (r == 0)
		r = count_rename(op, m, ask, there && !ward_file_id_equal(&from->id, &to->id));
	if (r == 0)
		r = ward_nodes_check_move(tree->nodes, m->parent, m->name, m->parent2, m->name2,
			flags & RENAME_EXCHANGE);
	if (r == 0)
		r = record_rename(op, m);
	if (r < 0)
		return r;
	/* Two names of one file: rename(2) does nothing. */
	m->nothing = there && ward_file_id_equal(&from->id, &to->id);
	if (m->nothing)
		return ward_backing_rename(m->dir.fd, m->name, m->dir2.fd, m->name2, flags);
	if (ask & (WARD_REQUEST_DIR | WARD_REQUEST_DST_DIR) && ward_moves_tell(tree->fs->moves) < 0)
		return -EIO;
	/* A name that was missing when we decided must not be replaced. */
	if (!there && !(flags & RENAME_EXCHANGE))
		flags |= RENAME_NOREPLACE;
	other = ask & (WARD_REQUEST_DIR | WARD_REQUEST_DST_DIR) && states_differ(op, m);
	if (there && !(flags & RENAME_EXCHANGE))
		ward_resolve_keep(tree, m->parent2, m->dir2.fd, m->name2);
	/* Behind what may wait for the disk: others wait as long as a lease lasts. */
	r = check_alone(op, m, flags & RENAME_EXCHANGE);
	if (r < 0)
		return r;
	ward_quota_old_lock(op, &m->old);
	r = ward_secret_rename(op, &at, &m->secrets, flags, there);
	if (r == -EINVAL && flags != m->flags) /* a backing without RENAME_NOREPLACE */
		r = ward_secret_rename(op, &at, &m->secrets, m->flags, there);
	if (r == -EEXIST && !(m->flags & RENAME_NOREPLACE) && !there)
		*ret_again = true;
	ward_quota_old_end(op, &m->old, r == 0);
	if (r == 0)
		r = ward_nodes_move(tree->nodes, m->parent, m->name, m->parent2, m->name2,
			flags & RENAME_EXCHANGE);
	if (r == 0 && other) {
		notify_moved(op, m->parent, m->name);
		notify_moved(op, m->parent2, m->name2);
	}
	return r;
}

/* RENAME_WHITEOUT makes a device 0:0 at the old name: decided, counted and recorded as if made. */
static int whiteout_begin(struct ward_op *op, struct rename *m)
{
	const struct ward_record_paths paths = {.node = m->parent, .name = m->name};
	int r;

	if (!(m->flags & RENAME_WHITEOUT))
		return 0;
	r = ward_gate_name(op, m->parent, m->name, WARD_ACTION_CREATE, 0, 0, S_IFREG, &m->white_by);
	if (r == 0)
		r = ward_quota_new_begin(op, m->parent, m->name, NULL, 0, &m->white);
	if (r < 0)
		return r;
	r = ward_record_change(op, WARD_EVENT_CREATE, &paths, &m->white_by);
	if (r < 0)
		ward_quota_new_undo(op, &m->white);
	return r;
}

/* r: what became of the rename. renames_lock held for writing: the whiteout is still there. */
static int whiteout_end(struct ward_op *op, struct rename *m, int r)
{
	const struct ward_record_paths paths = {.node = m->parent, .name = m->name};
	ward_cleanup_fd int fd = -1;
	struct ward_file file;

	if (!(m->flags & RENAME_WHITEOUT))
		return r;
	if (r == 0 && !m->nothing && ward_backing_open(m->dir.fd, m->name, O_PATH, 0, &fd) == 0 &&
		ward_backing_fstat(fd, &file) == 0 && S_ISCHR(file.st.st_mode)) {
		ward_quota_put(
			op->tree->fs->quotas, ward_quota_new_done(op, &m->white, &file, true));
		return ward_gate_made(op, m->parent, m->name, fd, NULL);
	}
	ward_quota_new_undo(op, &m->white);
	return ward_record_outcome(
		       op, WARD_EVENT_CREATE, &paths, &m->white_by, r == 0 ? -EEXIST : r) == -EIO
		       ? -EIO
		       : r;
}

/* Other sessions of these files move nothing from here to ward_moves_leave(). */
static int moves_enter(struct ward_op *op, const struct ward_record_paths *paths)
{
	const struct ward_decision d = {.verdict = WARD_VERDICT_DENY, .error = EXDEV};
	int r = ward_moves_enter(op->tree->fs->moves);

	if (r == 0)
		return 0;
	r = ward_record_deny(op, paths, WARD_RIGHT_CREATE, &d,
		r == -EBUSY ? "another session moves files all the time"
			    : "the lock that sessions share cannot be taken");
	return r < 0 ? r : -EXDEV; /* mv copies then */
}

static int do_rename(struct ward_op *op, struct rename *m)
{
	const struct ward_record_paths at = paths_of(m);
	bool again = true;
	int r;

	if (m->flags & ~(unsigned)(RENAME_NOREPLACE | RENAME_EXCHANGE | RENAME_WHITEOUT))
		return -EINVAL;
	ward_gate_settle(op, m->parent, m->name, m->parent2, m->name2);
	if (m->flags & RENAME_EXCHANGE)
		ward_gate_settle(op, m->parent2, m->name2, m->parent, m->name);
	r = moves_enter(op, &at);
	if (r < 0)
		return r;
	r = whiteout_begin(op, m);
	if (r < 0) {
		ward_moves_leave(op->tree->fs->moves);
		return r;
	}
	r = ward_resolve_dir(op->tree, m->parent, &m->dir);
	if (r == 0)
		r = ward_resolve_dir(op->tree, m->parent2, &m->dir2);
	if (r < 0) {
		r = whiteout_end(op, m, r);
	} else {
		pthread_rwlock_wrlock(&op->tree->nodes->renames_lock);
		for (int tries = 0; again && tries < 16; tries++)
			r = rename_once(op, m, &again);
		r = whiteout_end(op, m, r);
		pthread_rwlock_unlock(&op->tree->nodes->renames_lock);
		ward_dirref_put(op->tree, &m->dir2);
	}
	ward_dirref_put(op->tree, &m->dir);
	ward_moves_leave(op->tree->fs->moves);
	ward_resolve_places(op->tree);
	ward_alone_end(&m->alone);
	ward_secret_move_end(&m->secrets);
	ward_quota_old_end(op, &m->old, false);
	const struct ward_record_paths paths = paths_of(m);
	return m->recorded ? ward_record_outcome(op, WARD_EVENT_RENAME, &paths, &m->by, r) : r;
}

static void op_rename(fuse_req_t req, fuse_ino_t parent, const char *name, fuse_ino_t parent2,
	const char *name2, unsigned flags)
{
	ward_cleanup_op op = {.acting = false};
	int r = ward_op_begin(&op, req, flags & RENAME_EXCHANGE ? "exchange" : "rename");

	if (r == 0) {
		struct rename m = {.parent = ward_op_node(&op, parent),
			.parent2 = ward_op_node(&op, parent2),
			.name = name,
			.name2 = name2,
			.flags = flags,
			.secrets = WARD_SECRET_MOVE_INIT,
			.alone = WARD_ALONE_INIT};

		r = do_rename(&op, &m);
	}
	ward_op_reply(&op, r);
}

/* renames_lock held for writing: nothing is opened between the decision and the new name. */
static int link_locked(struct ward_op *op, const struct ward_record_paths *paths, int fd, int dirfd,
	struct ward_alone *alone)
{
	struct ward_fs_tree *tree = op->tree;
	const bool unnamed = ward_node_unnamed(tree->nodes, paths->node);
	struct ward_quota_file *quota = NULL;
	ward_cleanup_fd int gone_fd = -1;
	struct ward_links_step step;
	struct ward_decision by = {.verdict = WARD_VERDICT_DENY};
	struct ward_node *node = NULL;
	struct ward_file file;
	int r = ward_backing_fstat(fd, &file);

	/* Deleted by others: the name may lead to another file by now. After another lookup the
	 * answer is that of link(2) for a file without links. */
	if (r == 0 && !file.st.st_nlink && !unnamed)
		r = ward_replaced_fd(tree, paths->node, &gone_fd, &file) == 0 ? -ENOENT : -ESTALE;
	if (r == 0)
		r = ward_gate_link(op, paths->node, &file, (const int[]){fd, dirfd}, paths->node2,
			paths->name2, &by);
	if (r == 0)
		r = ward_record_change(op, WARD_EVENT_LINK, paths, &by);
	if (r < 0)
		return r;
	r = ward_alone_link(op, paths, fd, &file, alone);
	if (r < 0)
		return ward_record_outcome(op, WARD_EVENT_LINK, paths, &by, r);
	step = ward_links_step_begin(tree->nodes, paths->node);
	r = ward_quota_link_begin(op, paths, unnamed, &quota);
	if (r == 0) {
		r = ward_backing_link(fd, dirfd, paths->name2);
		ward_quota_link_end(op, quota, unnamed, r);
	}
	/* Its link count has changed: what git has committed would not be known again. */
	if (r == 0 && ward_gate_secret(paths->node, WARD_FACT_COMMITTED))
		r = ward_gate_own(op, paths->node, fd);
	if (r == 0)
		r = ward_gate_made(op, paths->node2, paths->name2, fd, NULL);
	if (r == 0)
		r = ward_backing_stat(tree, dirfd, paths->name2, &file);
	if (r == 0)
		r = ward_nodes_enter(tree->nodes, paths->node2, paths->name2, &file, &node);
	ward_links_step_end(tree->nodes, paths->node, &step);
	if (r == 0)
		ward_node_forget(tree->nodes, node, 1);
	return ward_record_outcome(op, WARD_EVENT_LINK, paths, &by, r);
}

static int do_link(
	struct ward_op *op, struct ward_node *node, struct ward_node *parent2, const char *name2)
{
	const struct ward_record_paths paths = {.node = node, .node2 = parent2, .name2 = name2};
	struct ward_alone alone = WARD_ALONE_INIT;
	struct ward_fdref ref = {.fd = -1};
	struct ward_dirref dir;
	int r;

	ward_gate_settle(op, node, NULL, parent2, name2);
	r = moves_enter(op, &paths);
	if (r < 0)
		return r;
	r = ward_resolve_fd(op->tree, node, &ref);
	if (r < 0) {
		ward_moves_leave(op->tree->fs->moves);
		return r;
	}
	r = ward_resolve_dir(op->tree, parent2, &dir);
	if (r == 0) {
		pthread_rwlock_wrlock(&op->tree->nodes->renames_lock);
		r = link_locked(op, &paths, ref.fd, dir.fd, &alone);
		pthread_rwlock_unlock(&op->tree->nodes->renames_lock);
		ward_alone_end(&alone);
		ward_dirref_put(op->tree, &dir);
	}
	ward_moves_leave(op->tree->fs->moves);
	ward_fdref_put(op->tree, &ref);
	return r;
}

static void op_link(fuse_req_t req, fuse_ino_t ino, fuse_ino_t parent2, const char *name2)
{
	ward_cleanup_op op = {.acting = false};
	int r = ward_op_begin(&op, req, "link");

	if (r == 0)
		r = do_link(&op, ward_op_node(&op, ino), ward_op_node(&op, parent2), name2);
	if (r < 0)
		ward_op_reply(&op, r);
	else
		ward_ops_reply_entry(&op, ward_op_node(&op, parent2), name2);
}

void ward_ops_modify_fill(struct fuse_lowlevel_ops *ops)
{
	ops->mknod = op_mknod;
	ops->mkdir = op_mkdir;
	ops->symlink = op_symlink;
	ops->unlink = op_unlink;
	ops->rmdir = op_rmdir;
	ops->rename = op_rename;
	ops->link = op_link;
}
