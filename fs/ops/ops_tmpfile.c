/* SPDX-License-Identifier: Apache-2.0 */
/*
 * open(2) with O_TMPFILE: FUSE_TMPFILE (7.37, Linux 6.1), which libfuse 3.14 does not know; read
 * and answered here. The file has no name, so the rules of its directory are its own, until
 * linkat(2) gives it one.
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fs/gate/gate.h"
#include "fs/ops/inherited_acl.h"
#include "fs/ops/ops.h"
#include "fs/ops/ops_open.h"
#include "fs/request/fs_records.h"
#include "fs/resolve/resolve_node.h"
#include "fs/watch/keep_time.h"

struct made {
	struct ward_node *node;
	struct ward_handle *h;
	struct ward_file file;
	int32_t id;
};

static int open_unnamed(
	struct ward_op *op, struct ward_node *parent, const struct fuse_create_in *in, int *ret_fd)
{
	const int flags = (int)in->flags;
	struct ward_dirref dir;
	int r = ward_resolve_dir(op->tree, parent, &dir);

	if (r < 0)
		return r;
	umask(in->umask & 0777);
	r = ward_backing_open(dir.fd, "",
		(flags & (O_ACCMODE | O_EXCL | WARD_OPEN_PASSED)) | O_TMPFILE, in->mode, ret_fd);
	ward_dirref_put(op->tree, &dir);
	return r;
}

static int make_counted(struct ward_op *op, struct ward_node *parent,
	const struct fuse_create_in *in, struct made *ret, struct ward_quota_use *use, int *ret_fd)
{
	ward_cleanup(ward_inherited_end) struct ward_inherited acl;
	struct ward_quota_new count;
	int r;

	ward_inherited_begin(op, parent, false, &acl);
	r = ward_quota_new_unnamed(op, parent, acl.bytes, &count);
	if (r < 0)
		return r;
	r = open_unnamed(op, parent, in, ret_fd);
	if (r == 0)
		r = ward_backing_fstat(*ret_fd, &ret->file);
	if (r < 0)
		ward_quota_new_undo(op, &count);
	else
		use->f = ward_quota_new_done(op, &count, &ret->file, false);
	return r;
}

static int make(struct ward_op *op, struct ward_node *parent, const struct fuse_create_in *in,
	struct made *ret)
{
	const struct ward_want w = ward_want_from_flags((int)in->flags, true);
	ward_cleanup(ward_quota_use_end) struct ward_quota_use use = {op->tree->fs->quotas, NULL};
	struct ward_opened opened = {.flags = (int)in->flags, .made = true, .use = &use};
	struct ward_record_paths paths;
	struct ward_decision by = {.verdict = WARD_VERDICT_DENY};
	ward_cleanup_fd int fd = -1;
	int r = w.acc == O_RDONLY || !S_ISREG(in->mode) ? -EINVAL : 0;

	if (r == 0)
		r = ward_gate_unnamed(op, parent, w.rights, &by);
	if (r == 0)
		opened.granted = by.granted;
	if (r == 0)
		r = ward_gate_mode(op, parent, NULL, in->mode, 0);
	if (r == 0)
		r = make_counted(op, parent, in, ret, &use, &fd);
	if (r == 0)
		r = ward_nodes_enter_unnamed(op->tree->nodes, parent, &ret->file, &ret->node);
	if (r < 0)
		return r;
	paths = (struct ward_record_paths){.node = ret->node, .file = &ret->file};
	opened.fd = ward_steal_fd(&fd);
	r = ward_gate_made(op, parent, NULL, opened.fd, ret->node);
	if (r < 0)
		close(opened.fd);
	else
		r = ward_open_handle(op, ret->node, &opened, &w, &ret->h, &ret->id);
	if (r == 0) {
		r = ward_record_open(
			op, WARD_EVENT_CREATE, &paths, ret->h, w.rights | WARD_RIGHT_CREATE, &by);
		if (r < 0)
			ward_handle_release(op->tree->nodes, ret->h);
	}
	if (r < 0)
		ward_node_forget(op->tree->nodes, ret->node, 1);
	return r;
}

void ward_ops_tmpfile(struct ward_fs_tree *tree, const char *msg, size_t len)
{
	const struct fuse_in_header *in = (const void *)msg;
	const struct fuse_create_in *arg = (const void *)(in + 1);
	ward_cleanup_op op = {.acting = false};
	struct made made = {.id = 0};
	struct {
		struct fuse_entry_out entry;
		struct ward_open_out open;
	} out;
	int r = ward_op_begin_raw(&op, tree, in, "create");

	if (r == 0 && len < sizeof(*in) + sizeof(*arg))
		r = -EINVAL;
	if (r == 0)
		r = make(&op, ward_op_node(&op, in->nodeid), arg, &made);
	if (r < 0) {
		(void)ward_op_reply_raw(&op, in->unique, r, NULL, 0);
		return;
	}
	struct fuse_entry_param e = {.ino = ward_node_to_ino(tree->nodes, made.node),
		.attr = made.file.st,
		.attr_timeout = WARD_KEEP_SHORT,
		.entry_timeout = WARD_KEEP_SHORT};
	ward_op_map_stat(tree, made.node, &e.attr);
	ward_open_entry(&e, &out.entry);
	out.open = ward_open_reply(tree, made.h, &made.file.st, made.id);
	if (!ward_op_reply_raw(&op, in->unique, 0, &out, sizeof(out))) {
		ward_handle_release(tree->nodes, made.h);
		ward_node_forget(tree->nodes, made.node, 1);
	}
}
