/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Extended attributes: user.* and the POSIX ACLs pass. security.* and trusted.* do not exist
 * inside: file capabilities and labels are the host's affair. user.wardfs.* is ours
 * (why_attribute.h).
 */
#include <errno.h>
#include <linux/limits.h>
#include <linux/xattr.h>
#include <stdlib.h>
#include <string.h>

#include "fs/gate/gate.h"
#include "fs/gate/steps_attribute.h"
#include "fs/gate/why_attribute.h"
#include "fs/ops/ops.h"
#include "fs/request/fs_records.h"
#include "fs/request/quota_io.h"
#include "fs/resolve/resolve_node.h"

enum xattr_kind { XATTR_FOREIGN = 0, XATTR_USER, XATTR_ACL, XATTR_OURS };

static enum xattr_kind kind_of(const char *name)
{
	if (!strncmp(name, WARD_WHY_PREFIX, strlen(WARD_WHY_PREFIX)))
		return XATTR_OURS;
	if (!strncmp(name, XATTR_USER_PREFIX, XATTR_USER_PREFIX_LEN))
		return XATTR_USER;
	if (!strcmp(name, XATTR_NAME_POSIX_ACL_ACCESS) ||
		!strcmp(name, XATTR_NAME_POSIX_ACL_DEFAULT))
		return XATTR_ACL;
	return XATTR_FOREIGN;
}

/* The host's are refused; any other name means nothing to a file system. */
static int foreign_error(const char *name)
{
	return !strncmp(name, XATTR_SECURITY_PREFIX, XATTR_SECURITY_PREFIX_LEN) ||
			       !strncmp(name, XATTR_TRUSTED_PREFIX, XATTR_TRUSTED_PREFIX_LEN)
		       ? -EPERM
		       : -EOPNOTSUPP;
}

/* The node's descriptor, once the policy gives these rights to a file with that many links. */
static int open_gated(struct ward_op *op, struct ward_node *node, uint32_t rights, uint32_t alt,
	struct ward_fdref *ret, struct ward_decision *ret_by)
{
	struct ward_file file;
	int r = ward_resolve_fd(op->tree, node, ret);

	if (r < 0)
		return r;
	r = ward_backing_fstat(ret->fd, &file);
	return r < 0 ? r : ward_gate_node(op, node, rights, alt, file.st.st_nlink, ret_by);
}

/* Answers with n bytes of buf, or with their number where size is 0. */
static void reply_bytes(struct ward_op *op, ssize_t n, const char *buf, size_t size)
{
	if (n < 0)
		ward_op_reply(op, (int)n);
	else if (!size)
		(void)fuse_reply_xattr(op->req, (size_t)n);
	else
		(void)fuse_reply_buf(op->req, buf, (size_t)n);
}

static void reply_ours(fuse_req_t req, fuse_ino_t ino, const char *name, size_t size)
{
	ward_cleanup(ward_buf_clear) struct ward_buf text = WARD_BUF_INIT;
	ward_cleanup_op op = {.acting = false};
	ssize_t n = ward_op_begin(&op, req, "getxattr");

	if (n == 0)
		n = ward_gate_node(&op, ward_op_node(&op, ino), WARD_RIGHT_STAT, 0, 0, NULL);
	if (n == 0)
		n = strcmp(name, WARD_WHY_NAME) ? ward_steps_get(op.tree->fs, name, &text)
						: ward_why(&op, ward_op_node(&op, ino), &text);
	if (n == 0)
		n = (ssize_t)text.len;
	if (n > XATTR_SIZE_MAX)
		n = -E2BIG;
	if (n > 0 && size && (size_t)n > size)
		n = -ERANGE;
	reply_bytes(&op, n, text.data, size);
}

static void op_getxattr(fuse_req_t req, fuse_ino_t ino, const char *name, size_t size)
{
	ward_cleanup_op op = {.acting = false};
	char *buf = NULL;
	const enum xattr_kind kind = kind_of(name);
	struct ward_fdref ref = {.fd = -1};
	ssize_t n;

	/* Asked before every write (security.capability): no work at all. */
	if (kind == XATTR_FOREIGN) {
		(void)fuse_reply_err(req, foreign_error(name) == -EPERM ? ENODATA : EOPNOTSUPP);
		return;
	}
	if (kind == XATTR_OURS) {
		reply_ours(req, ino, name, size);
		return;
	}
	n = ward_op_begin(&op, req, "getxattr");
	if (n == 0)
		n = open_gated(&op, ward_op_node(&op, ino),
			kind == XATTR_USER ? WARD_RIGHT_READ : WARD_RIGHT_STAT,
			kind == XATTR_USER && ward_op_node(&op, ino)->dir ? WARD_RIGHT_LIST : 0,
			&ref, NULL);
	if (n == 0 && (size > XATTR_SIZE_MAX || (size && !(buf = malloc(size)))))
		n = size > XATTR_SIZE_MAX ? -E2BIG : -ENOMEM;
	if (n == 0)
		n = ward_backing_getxattr(ref.fd, name, buf, size);
	ward_fdref_put(op.tree, &ref);
	reply_bytes(&op, n, buf, size);
	free(buf);
}

/* Leaves the names that exist inside; returns their length. */
static ssize_t filter(char *names, ssize_t len)
{
	ssize_t out = 0, at = 0;

	while (at < len) {
		const size_t n = strnlen(names + at, (size_t)(len - at)) + 1;

		if ((ssize_t)n > len - at)
			break;
		if (kind_of(names + at) == XATTR_USER || kind_of(names + at) == XATTR_ACL) {
			memmove(names + out, names + at, n);
			out += (ssize_t)n;
		}
		at += (ssize_t)n;
	}
	return out;
}

static void op_listxattr(fuse_req_t req, fuse_ino_t ino, size_t size)
{
	ward_cleanup_op op = {.acting = false};
	char *buf = malloc(XATTR_LIST_MAX);
	struct ward_fdref ref = {.fd = -1};
	ssize_t n = ward_op_begin(&op, req, "listxattr");

	if (n == 0 && !buf)
		n = -ENOMEM;
	if (n == 0)
		n = ward_gate_node(&op, ward_op_node(&op, ino), WARD_RIGHT_STAT, 0, 0, NULL);
	if (n == 0)
		n = ward_resolve_fd(op.tree, ward_op_node(&op, ino), &ref);
	if (n == 0)
		n = ward_backing_listxattr(ref.fd, buf, XATTR_LIST_MAX);
	ward_fdref_put(op.tree, &ref);
	if (n > 0)
		n = filter(buf, n);
	if (n > 0 && size && (size_t)n > size)
		n = -ERANGE;
	reply_bytes(&op, n, buf, size);
	free(buf);
}

/*
 * The backing makes the mode what the ACL says. Without FUSE_POSIX_ACL, the kernel forgets the time
 * of change alone. The caller waits for the answer: the kernel has the inode, and takes no lock of
 * it for this. Not later (ward_forget_attr()): the kernel would drop the attributes that it asks
 * for next, and decide by the old mode.
 */
static void tell_acl(struct ward_fs_tree *tree, struct ward_node *node)
{
	const uint64_t number = ward_node_to_ino(tree->nodes, node);

	if (node->dir)
		ward_ops_dir_changed(tree, node);
	(void)fuse_lowlevel_notify_inval_inode(tree->se, number, -1, 0);
}

/* value NULL: remove. */
static int change(struct ward_op *op, struct ward_node *node, const char *name, const char *value,
	size_t size, int flags)
{
	const struct ward_record_paths paths = {.node = node, .xattr = name};
	const enum xattr_kind kind = kind_of(name);
	struct ward_quotas *q = op->tree->fs->quotas;
	/* inherited_acl.h */
	const bool inherited = ward_quotas_any(q) && !strcmp(name, XATTR_NAME_POSIX_ACL_DEFAULT);
	struct ward_fdref ref = {.fd = -1};
	struct ward_decision by = {.verdict = WARD_VERDICT_DENY};
	int r;

	if (kind == XATTR_FOREIGN)
		return foreign_error(name);
	if (kind == XATTR_OURS)
		return -EPERM;
	r = open_gated(op, node, WARD_RIGHT_ATTR, 0, &ref, &by);
	if (r == 0)
		r = ward_record_change(op, WARD_EVENT_XATTR, &paths, &by);
	/* As for the other attributes (ops_attr.c). */
	if (r == 0 && ward_gate_secret(node, WARD_FACT_COMMITTED))
		r = ward_gate_own(op, node, ref.fd);
	if (r == 0) {
		if (inherited)
			ward_quota_inherit_lock(q, true);
		r = ward_quota_xattr(op, node, ref.fd, name, value, size, flags);
		if (inherited)
			ward_quota_inherit_unlock(q);
		r = ward_record_outcome(op, WARD_EVENT_XATTR, &paths, &by, r);
	}
	ward_fdref_put(op->tree, &ref);
	if (r == 0 && kind == XATTR_ACL)
		tell_acl(op->tree, node);
	return r;
}

static void op_setxattr(
	fuse_req_t req, fuse_ino_t ino, const char *name, const char *value, size_t size, int flags)
{
	ward_cleanup_op op = {.acting = false};
	int r = ward_op_begin(&op, req, "setxattr");

	if (r == 0 && kind_of(name) == XATTR_OURS) {
		r = ward_gate_node(&op, ward_op_node(&op, ino), WARD_RIGHT_STAT, 0, 0, NULL);
		if (r == 0)
			r = ward_steps_ask(&op, name, value, size);
		/* Answered by the main thread. */
		if (r == 0)
			return;
	}
	if (r == 0)
		r = change(&op, ward_op_node(&op, ino), name, value, size, flags);
	ward_op_reply(&op, r);
}

static void op_removexattr(fuse_req_t req, fuse_ino_t ino, const char *name)
{
	ward_cleanup_op op = {.acting = false};
	int r = ward_op_begin(&op, req, "removexattr");

	if (r == 0)
		r = change(&op, ward_op_node(&op, ino), name, NULL, 0, 0);
	ward_op_reply(&op, r);
}

void ward_ops_xattr_fill(struct fuse_lowlevel_ops *ops)
{
	ops->getxattr = op_getxattr;
	ops->listxattr = op_listxattr;
	ops->setxattr = op_setxattr;
	ops->removexattr = op_removexattr;
}
