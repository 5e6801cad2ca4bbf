/* SPDX-License-Identifier: Apache-2.0 */
/* Begins and ends a request, and shows ids as the agent is to see them. */
#include "fs/request/op.h"

#include <errno.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include "enforcer/ipc/helper.h"
#include "fs/base/caller_identity.h"
#include "fs/base/fuse_kernel.h"
#include "fs/kernel/answer.h"

/* Shown for an id of the host that happens to be the agent's but is not the owner's. */
#define ID_NOBODY 65534U
/* Shown for every directory: a block of ext4. */
#define DIR_SIZE 4096

/* Of the thread whose request this one serves. */
static _Thread_local uint32_t asker;
static _Thread_local struct ward_op *current; /* until it ends */

uint32_t ward_op_asker(void)
{
	return asker;
}

/* op->tree, pid, uid and gid are set. */
static int enter(struct ward_op *op, const char *action, bool groups)
{
	int r;

	op->action = action;
	op->since = atomic_load(&op->tree->watch_seq);
	atomic_fetch_add_explicit(&op->tree->n_requests, 1, memory_order_relaxed);
	op->acting = false;
	op->asks = op->shown = false;
	op->n_held = 0;
	op->may_wait = false;
	op->question = op->question_path = 0;
	asker = op->pid;
	current = op;
	if (!(op->tree->fs->flags & WARD_FS_ALLOW_OTHER))
		return 0;
	r = ward_identity_enter(op->uid, op->gid, groups ? (pid_t)op->pid : 0);
	op->acting = r == 0;
	return r;
}

static int begin(struct ward_op *op, fuse_req_t req, const char *action, bool groups)
{
	const struct fuse_ctx *ctx = fuse_req_ctx(req);

	op->tree = fuse_req_userdata(req);
	op->req = req;
	op->pid = (uint32_t)ctx->pid;
	op->uid = ctx->uid;
	op->gid = ctx->gid;
	return enter(op, action, groups);
}

int ward_op_begin_raw(struct ward_op *op, struct ward_fs_tree *tree,
	const struct fuse_in_header *in, const char *action)
{
	op->tree = tree;
	op->req = NULL;
	op->pid = in->pid;
	op->uid = in->uid;
	op->gid = in->gid;
	return enter(op, action, true);
}

int ward_op_begin(struct ward_op *op, fuse_req_t req, const char *action)
{
	return begin(op, req, action, true);
}

int ward_op_begin_io(struct ward_op *op, fuse_req_t req)
{
	return begin(op, req, "write", false);
}

void ward_op_hold(const struct ward_op *op, struct ward_handle *h)
{
	for (h->n_held = 0; h->n_held < op->n_held; h->n_held++)
		h->held[h->n_held] = op->held[h->n_held];
}

void ward_op_end(struct ward_op *op)
{
	if (op->acting)
		ward_identity_leave();
	op->acting = false;
	current = NULL;
}

struct ward_op *ward_op_current(void)
{
	return current;
}

void ward_op_reply(struct ward_op *op, int r)
{
	/* The table that is full is ours, not that of the caller's process. */
	if (r == -EMFILE)
		r = -ENFILE;
	(void)fuse_reply_err(op->req, r < 0 ? -r : 0);
}

bool ward_op_reply_raw(
	const struct ward_op *op, uint64_t unique, int error, const void *data, size_t len)
{
	struct fuse_out_header out = {
		.len = (uint32_t)(sizeof(out) + len), .error = error, .unique = unique};
	struct iovec iov[2] = {{.iov_base = &out, .iov_len = sizeof(out)},
		{.iov_base = (void *)(uintptr_t)data, .iov_len = len}};

	return ward_answer_send(op->tree, iov, len ? 2 : 1) >= 0;
}

static uint32_t shown(uint32_t id, uint32_t owner, uint32_t agent, bool mask)
{
	if (id == owner || mask)
		return agent;
	return id == agent ? ID_NOBODY : id;
}

/* No name in the directory can be one that listings leave out. */
static bool shows_all(struct ward_fs_tree *tree, struct ward_node *node)
{
	struct ward_states states;
	bool all;

	if (tree->folds || ward_node_states(tree->nodes, node, &states) < 0)
		return false;
	all = ward_policy_shows_all(states.v[0]);
	ward_states_put(tree->nodes, &states);
	return all;
}

/*
 * The kernel takes the agent for the owner of a file that belongs to somebody else (MASK_IDS), and
 * with default_permissions it asks nobody where the owner's bits say no. The guard may say yes, by
 * another class or by an ACL, whose mask stands in the bits of the group.
 */
static mode_t owner_of_all(mode_t mode)
{
	return mode | (mode & S_IRWXG) << 3 | (mode & S_IRWXO) << 6;
}

void ward_op_map_stat(struct ward_fs_tree *tree, struct ward_node *node, struct stat *st)
{
	const struct ward_fs *fs = tree->fs;
	const bool mask = fs->flags & WARD_FS_MASK_IDS;

	/* Links and size of a directory count what is hidden in it. One link means "not known" to
	 * find(1) and fts(3); none is a directory that was removed. */
	if (S_ISDIR(st->st_mode)) {
		if (st->st_nlink && !shows_all(tree, node))
			st->st_nlink = 1;
		st->st_size = DIR_SIZE;
		st->st_blocks = DIR_SIZE / 512;
	}
	if (fs->flags & WARD_FS_ALLOW_OTHER)
		return;
	if (mask && tree->acl && st->st_uid != fs->ids.owner_uid && !S_ISLNK(st->st_mode))
		st->st_mode = owner_of_all(st->st_mode);
	st->st_uid = shown(st->st_uid, fs->ids.owner_uid, fs->ids.agent_uid, mask);
	st->st_gid = shown(st->st_gid, fs->ids.owner_gid, fs->ids.agent_gid, mask);
}

uid_t ward_op_unmap_uid(const struct ward_fs *fs, uid_t uid)
{
	if (!(fs->flags & WARD_FS_ALLOW_OTHER) && uid == fs->ids.agent_uid)
		return fs->ids.owner_uid;
	return uid;
}

gid_t ward_op_unmap_gid(const struct ward_fs *fs, gid_t gid)
{
	if (!(fs->flags & WARD_FS_ALLOW_OTHER) && gid == fs->ids.agent_gid)
		return fs->ids.owner_gid;
	return gid;
}
