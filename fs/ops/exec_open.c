/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that their caller may execute, but not read. */
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "fs/base/caller_identity.h"
#include "fs/kernel/backing.h"
#include "fs/ops/ops_open.h"
#include "fs/resolve/resolve_node.h"

/* As the daemon, which may read what its callers may not. */
static int reopen(struct ward_op *op, int path_fd, int *ret_fd)
{
	int r, back;

	ward_identity_leave();
	r = ward_backing_reopen(path_fd, O_RDONLY, ret_fd);
	back = ward_identity_enter(op->uid, op->gid, (pid_t)op->pid);
	if (back < 0) {
		op->acting = false;
		if (r == 0)
			close(*ret_fd);
		return back;
	}
	return r;
}

int ward_open_executable(
	struct ward_op *op, struct ward_node *node, int *ret_fd, struct ward_file *ret_file)
{
	ward_cleanup_fd int path_fd = -1;
	int r;

	if (!op->acting)
		return -EACCES;
	/* Up to here as the caller: who may not search the way gets nowhere. */
	r = ward_resolve_open(op->tree, node, O_PATH, &path_fd, ret_file);
	if (r == 0 && !S_ISREG(ret_file->st.st_mode))
		r = -ESTALE;
	if (r == 0)
		r = ward_backing_access(path_fd, X_OK);
	if (r < 0)
		return r;
	r = reopen(op, path_fd, ret_fd);
	if (r < 0)
		return r;
	/*
	 * would_dump() of fs/exec.c asks for MAY_READ once this is answered, and the kernel decides
	 * by the mode that it knows (default_permissions). That must be the mode of now. The caller
	 * waits for the answer: the kernel has the inode, and takes no lock of it for this.
	 */
	r = fuse_lowlevel_notify_inval_inode(
		op->tree->se, ward_node_to_ino(op->tree->nodes, node), -1, 0);
	if (r == 0)
		return 0;
	/* It would decide by a mode of before. */
	close(*ret_fd);
	*ret_fd = -1;
	return -EACCES;
}
