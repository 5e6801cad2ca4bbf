/* SPDX-License-Identifier: Apache-2.0 */
/* Makes libfuse's session, patches its INIT reply, and serves one request in its turn. */
#include "fs/serve/fuse_session.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "enforcer/ipc/helper.h"
#include "fs/base/fuse_kernel.h"
#include "fs/base/request_turn.h"
#include "fs/base/tsan_order.h"
#include "fs/kernel/answer.h"
#include "fs/ops/listing_ahead.h"
#include "fs/ops/ops.h"
#include "fs/replay/replay.h"

#define BACKGROUND_MAX 64

static void on_init(void *userdata, struct fuse_conn_info *conn)
{
	struct ward_fs_tree *tree = userdata;

	conn->want |= conn->capable & (FUSE_CAP_ASYNC_READ | FUSE_CAP_POSIX_LOCKS |
					      FUSE_CAP_FLOCK_LOCKS | FUSE_CAP_ATOMIC_O_TRUNC |
					      FUSE_CAP_DONT_MASK | FUSE_CAP_AUTO_INVAL_DATA |
					      FUSE_CAP_READDIRPLUS | FUSE_CAP_PARALLEL_DIROPS);
	/* Handles get no size that the backing does not have; splice bypasses writev.
	 * READDIRPLUS_AUTO gives attributes with the first part of a listing alone, before anybody
	 * can have asked for any: what walks a tree then looks up the rest one by one. */
	conn->want &= ~(unsigned)(FUSE_CAP_READDIRPLUS_AUTO | FUSE_CAP_WRITEBACK_CACHE |
				  FUSE_CAP_SPLICE_READ | FUSE_CAP_SPLICE_WRITE |
				  FUSE_CAP_SPLICE_MOVE | FUSE_CAP_HANDLE_KILLPRIV);
	/* When an asynchronous direct write ends, the kernel drops no pages that others have
	 * read meanwhile: old data would stay. Passthrough goes another way. */
	conn->want &= ~(unsigned)FUSE_CAP_ASYNC_DIO;
	conn->time_gran = 1;
	tree->list_anew =
		tree->watch && !(tree->fs->flags & (WARD_FS_ALLOW_OTHER | WARD_FS_REVIEW));
	/* All entries become invalid then, and the kernel detaches what is mounted on one. */
	/* A mount of the initial user namespace has ACLs since Linux 4.9. */
	if (tree->acl && tree->fs->flags & WARD_FS_MASK_IDS &&
		conn->proto_minor < WARD_FUSE_MINOR_USER_ACL) {
		tree->acl = false;
		tree->no_acl = true;
	}
	tree->epoch = conn->proto_minor >= WARD_FUSE_MINOR_EPOCH && !tree->beneath;
	/* Readahead in flight; the kernel's default of 12 starves two readers. */
	conn->max_background = BACKGROUND_MAX;
	/* libfuse asks for 256 pages, which is more where they are larger than 4 KiB. */
	if (conn->max_write > WARD_FUSE_MESSAGE_DATA)
		conn->max_write = WARD_FUSE_MESSAGE_DATA;
}

/* What libfuse 3.14 cannot say in its INIT reply. */
static void patch_init(struct ward_fs_tree *tree, char *out)
{
	struct fuse_init_out *init = (void *)out;
	const uint32_t depth = tree->stack_depth;

	init->flags |= FUSE_PARALLEL_DIROPS;
	init->flags &= ~(uint32_t)FUSE_WRITEBACK_CACHE;
	/*
	 * Clients write, truncate and change owners here without CAP_FSETID (unless root
	 * does, with allow_other): the backing takes setuid bits by itself, and the kernel asks for
	 * security.capability at the first write to an inode only, not at each.
	 */
	init->flags |= FUSE_HANDLE_KILLPRIV_V2;
	if (tree->acl)
		init->flags |= FUSE_POSIX_ACL;
	if (tree->passthrough) {
		init->flags |= FUSE_INIT_EXT;
		init->flags2 |= WARD_FUSE_PASSTHROUGH_FLAG2;
		memcpy(out + WARD_INIT_OUT_STACK_DEPTH, &depth, sizeof(depth));
	}
	if (tree->rings) {
		init->flags |= FUSE_INIT_EXT;
		init->flags2 |= WARD_FUSE_OVER_IO_URING_FLAG2;
	}
	tree->payload = (size_t)init->max_pages * (size_t)sysconf(_SC_PAGESIZE);
	if (tree->payload < init->max_write)
		tree->payload = init->max_write;
}

static ssize_t hook_writev(int fd, struct iovec *iov, int count, void *userdata)
{
	struct ward_fs_tree *tree = userdata;
	char init[WARD_INIT_OUT_SIZE];
	struct iovec patched[2];

	if (!tree->inited && count == 2 && iov[1].iov_len == sizeof(init)) {
		tree->inited = true;
		memcpy(init, iov[1].iov_base, sizeof(init));
		patch_init(tree, init);
		patched[0] = iov[0];
		patched[1] = (struct iovec){.iov_base = init, .iov_len = sizeof(init)};
		return writev(fd, patched, 2);
	}
	return ward_answer_send(tree, iov, count);
}

static ssize_t hook_read(int fd, void *buf, size_t len, void *userdata)
{
	return read(fd, buf, len);
}

int ward_session_new(struct ward_fs_tree *tree, struct ward_err *err)
{
	static const struct fuse_custom_io io = {.writev = hook_writev, .read = hook_read};
	char *argv[] = {(char[]){"wardfs"}, NULL};
	struct fuse_args args = FUSE_ARGS_INIT(1, argv);
	struct fuse_lowlevel_ops ops = {.init = on_init};
	int r;

	ward_ops_lookup_fill(&ops);
	ward_ops_attr_fill(&ops);
	ward_ops_open_fill(&ops);
	ward_ops_close_fill(&ops);
	ward_ops_io_fill(&ops);
	ward_ops_dir_fill(&ops);
	ward_ops_modify_fill(&ops);
	ward_ops_xattr_fill(&ops);
	ward_ops_lock_fill(&ops);
	tree->se = fuse_session_new(&args, &ops, sizeof(ops), tree);
	/* The library has put a copy in its place. */
	fuse_opt_free_args(&args);
	if (!tree->se)
		return ward_err_set(err, -ENOMEM, "%s: fuse session", tree->path);
	r = fuse_session_custom_io(tree->se, &io, tree->dev_fd);
	if (r) {
		fuse_session_destroy(tree->se);
		tree->se = NULL;
		return ward_err_sys(err, r < 0 ? r : -EINVAL, "%s: fuse session", tree->path);
	}
	return 0;
}

int ward_session_acl(const struct ward_fs_tree *tree, struct ward_err *err)
{
	if (!tree->no_acl)
		return 0;
	return ward_err_set(err, -EOPNOTSUPP,
		"%s: this kernel gives the mounts of ordinary users no POSIX ACLs (Linux 6.2 or later "
		"does). Start wardfs as root, or remove 'acl = yes' from [tree %s]",
		tree->path, tree->path);
}

void ward_session_free(struct ward_fs_tree *tree)
{
	if (tree->se)
		fuse_session_destroy(tree->se);
	tree->se = NULL;
}

/* These wait for a disk, by a descriptor that is open, and ask for no right. */
static bool is_sync(uint32_t opcode)
{
	return opcode == FUSE_FSYNC || opcode == FUSE_FSYNCDIR;
}

void ward_session_process(struct ward_fs_tree *tree, char *msg, size_t len)
{
	const struct fuse_buf buf = {.mem = msg, .size = len};
	const struct fuse_in_header *in = (const void *)msg;
	const bool turn = len < sizeof(*in) || !is_sync(in->opcode);
	bool change;

	if (len >= sizeof(*in) && (in->opcode == FUSE_RELEASE || in->opcode == FUSE_RELEASEDIR))
		ward_order_release(tree);
	if (turn)
		ward_turn_begin(tree->fs);
	if (len >= sizeof(*in) && ward_replay_asks(tree->fs, in->pid) &&
		ward_ops_replay(tree, msg, len)) {
		if (turn)
			ward_turn_end(tree->fs);
		return;
	}
	change = ward_ahead_begin(tree->ahead, msg, len);
	if (len >= sizeof(*in) && in->opcode == FUSE_TMPFILE)
		ward_ops_tmpfile(tree, msg, len);
	else if (len >= sizeof(*in) && in->opcode == WARD_FUSE_STATX)
		ward_ops_statx(tree, msg);
	else
		fuse_session_process_buf(tree->se, &buf);
	if (change)
		ward_ahead_changed(tree->ahead);
	if (turn)
		ward_turn_end(tree->fs);
}
