/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests of the replayer (fs/replay/): answered from what is known, so that the kernel tells
 * watchers inside. Nothing here changes the backing, counts in a quota or makes a record: whatever
 * else the replayer asks for is refused. Messages as the kernel's include/uapi/linux/fuse.h has
 * them; they come whole from the kernel, with names that end.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "fs/base/fuse_kernel.h"
#include "fs/gate/gate.h"
#include "fs/ops/ops.h"
#include "fs/ops/ops_open.h"
#include "fs/replay/replay.h"
#include "fs/resolve/resolve_node.h"
#include "fs/watch/keep_time.h"

#define SET_TIMES (FATTR_ATIME | FATTR_MTIME | FATTR_ATIME_NOW | FATTR_MTIME_NOW)

struct asked {
	struct ward_fs_tree *tree;
	const struct fuse_in_header *in;
	const char *body;
	size_t len; /* of the body */
};

/* The name behind the first `skip` bytes; NULL: no valid name. */
static const char *name_at(const struct asked *a, size_t skip)
{
	return a->len > skip && memchr(a->body + skip, '\0', a->len - skip) ? a->body + skip : NULL;
}

/* False: the kernel did not take it. */
static bool answer(const struct asked *a, int r, const void *data, size_t len)
{
	const struct ward_op op = {.tree = a->tree};

	return ward_op_reply_raw(&op, a->in->unique, r, data, r < 0 ? 0 : len);
}

/*
 * Something to remove, which nobody else ever sees, so it needs no valid attributes. If the file
 * existed and is open inside, it is that file itself: only then do its watchers hear that it lost
 * its name. Of any other file nothing is known any more, and the kernel would believe whatever this
 * answer says.
 */
static void answer_standin(const struct asked *a, const struct ward_replay_standin *s)
{
	struct ward_nodes *nodes = a->tree->nodes;
	struct ward_node *node = s->gone ? ward_nodes_pin(nodes, s->gone) : NULL;
	struct ward_handle *h = node && !node->dir ? ward_handle_any(nodes, node) : NULL;
	struct fuse_entry_param e = {.ino = s->number, .generation = 1};
	struct fuse_entry_out out;
	struct ward_file file;
	bool real =
		h && ward_backing_fstat(h->fd, &file) == 0 && (file.st.st_mode & S_IFMT) == s->type;

	if (real) {
		e.ino = s->gone;
		e.generation = 0;
		e.attr = file.st;
		ward_op_map_stat(a->tree, node, &e.attr);
		ward_node_told(nodes, node);
	} else {
		e.attr = (struct stat){.st_ino = WARD_REPLAY_STANDIN,
			.st_mode = s->type | 0600,
			.st_nlink = 1,
			.st_uid = a->in->uid,
			.st_gid = a->in->gid};
	}
	ward_open_entry(&e, &out);
	if (!answer(a, 0, &out, sizeof(out)) && real)
		ward_node_forget(nodes, node, 1);
	if (h)
		ward_handle_put(nodes, h);
	if (node)
		ward_node_unpin(nodes, node);
}

/* True: answered. False: it is looked up as for anybody. */
static bool lookup(const struct asked *a, const char *name)
{
	struct ward_node *dir = ward_nodes_from_ino(a->tree->nodes, a->in->nodeid);
	struct ward_replay_standin standin;

	switch (ward_replay_look(a->tree, a->in->nodeid, name, &standin)) {
	case WARD_REPLAY_LOOK_STANDIN:
		answer_standin(a, &standin);
		return true;
	case WARD_REPLAY_LOOK_ABSENT:
		(void)answer(a, -ENOENT, NULL, 0);
		return true;
	case WARD_REPLAY_LOOK_PLAIN:
		break;
	}
	/* The agent did not ask: no record of what is hidden. */
	if (ward_gate_visible(a->tree, dir, name, true, -1) > 0)
		return false;
	(void)answer(a, -ENOENT, NULL, 0);
	return true;
}

static void create(const struct asked *a, const char *name, mode_t type)
{
	ward_cleanup_op op = {.acting = false};
	struct fuse_entry_param e = {.ino = 0};
	struct fuse_entry_out out;
	struct ward_node *dir = ward_nodes_from_ino(a->tree->nodes, a->in->nodeid);
	int r = ward_op_begin_raw(&op, a->tree, a->in, "lookup");

	if (r == 0 && !ward_replay_take(a->tree, a->in->nodeid, name, WARD_REPLAY_CREATE, type))
		r = -EACCES;
	if (r == 0 && !ward_gate_readable(a->tree, dir, name, S_ISDIR(type)))
		r = -ENOENT;
	if (r == 0)
		r = ward_ops_enter(&op, dir, name, &e);
	if (r == 0 && (e.attr.st_mode & S_IFMT) != type) {
		ward_node_forget(a->tree->nodes, ward_op_node(&op, e.ino), 1);
		r = -ESTALE;
	}
	if (r < 0) {
		(void)answer(a, r, NULL, 0);
		return;
	}
	ward_open_entry(&e, &out);
	if (!ward_op_reply_raw(&op, a->in->unique, 0, &out, sizeof(out)))
		ward_node_forget(a->tree->nodes, ward_op_node(&op, e.ino), 1);
}

/* Sets nothing, and answers with what is there. */
static void setattr(const struct asked *a)
{
	const struct fuse_setattr_in *arg = (const void *)a->body;
	ward_cleanup_op op = {.acting = false};
	struct fuse_entry_param e = {.ino = a->in->nodeid};
	struct fuse_entry_out entry;
	struct ward_file file;
	struct ward_node *node = NULL;
	struct fuse_attr_out out = {0};
	int r = ward_op_begin_raw(&op, a->tree, a->in, "stat");

	if (r == 0 && (a->len < sizeof(*arg) || arg->valid & ~(uint32_t)SET_TIMES ||
			      !ward_replay_take_node(a->tree, a->in->nodeid, false)))
		r = -EACCES;
	if (r == 0) {
		node = ward_op_node(&op, a->in->nodeid);
		r = ward_resolve_stat(a->tree, node, &file);
	}
	if (r < 0) {
		(void)answer(a, r, NULL, 0);
		return;
	}
	ward_op_map_stat(a->tree, node, &file.st);
	e.attr = file.st;
	ward_open_entry(&e, &entry);
	out.attr = entry.attr;
	out.attr_valid = (uint64_t)ward_keep_attr(a->tree->nodes, node, &file.st, op.since);
	(void)answer(a, 0, &out, sizeof(out));
}

/* Nothing is opened: RELEASE of such a handle does nothing (ops_open.c). */
static void open_written(const struct asked *a)
{
	const struct fuse_open_in *arg = (const void *)a->body;
	/* Neither the kernel's pages of the file nor who has it open are to know. */
	const struct ward_open_out out = {.fh = WARD_REPLAY_FH,
		.open_flags =
			FOPEN_DIRECT_IO | FOPEN_KEEP_CACHE | FOPEN_NOFLUSH | FOPEN_NONSEEKABLE};
	const bool may = a->len >= sizeof(*arg) && (arg->flags & O_ACCMODE) == O_WRONLY &&
			 !(arg->flags & O_TRUNC) &&
			 ward_replay_take_node(a->tree, a->in->nodeid, true);

	(void)answer(a, may ? 0 : -EACCES, &out, sizeof(out));
}

static void remove_name(const struct asked *a, const char *name)
{
	const bool may = ward_replay_take(a->tree, a->in->nodeid, name, WARD_REPLAY_REMOVE, 0);

	(void)answer(a, may ? 0 : -EACCES, NULL, 0);
}

bool ward_ops_replay(struct ward_fs_tree *tree, const char *msg, size_t len)
{
	const struct fuse_in_header *in = (const void *)msg;
	const struct asked a = {tree, in, msg + sizeof(*in), len - sizeof(*in)};
	const struct fuse_mknod_in *mknod = (const void *)a.body;
	const char *name;

	switch (in->opcode) {
	case FUSE_LOOKUP:
		name = name_at(&a, 0);
		return name && lookup(&a, name);
	/* What is looked at on the way, and what the kernel says by itself. */
	case FUSE_GETATTR:
	case WARD_FUSE_STATX:
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
		return false;
	case FUSE_MKNOD:
		name = name_at(&a, sizeof(*mknod));
		if (name)
			create(&a, name, mknod->mode & S_IFMT);
		break;
	case FUSE_MKDIR:
		name = name_at(&a, sizeof(struct fuse_mkdir_in));
		if (name)
			create(&a, name, S_IFDIR);
		break;
	case FUSE_SYMLINK:
		name = name_at(&a, 0);
		if (name)
			create(&a, name, S_IFLNK);
		break;
	case FUSE_UNLINK:
	case FUSE_RMDIR:
		name = name_at(&a, 0);
		if (name)
			remove_name(&a, name);
		break;
	case FUSE_SETATTR:
		name = "";
		setattr(&a);
		break;
	case FUSE_OPEN:
		name = "";
		open_written(&a);
		break;
	default:
		name = NULL;
		break;
	}
	if (!name)
		(void)answer(&a, -EACCES, NULL, 0);
	return true;
}
