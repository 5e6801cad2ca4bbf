/* SPDX-License-Identifier: Apache-2.0 */
/*
 * statx(2) where it asks for the time of birth: FUSE_STATX (7.39, Linux 6.6), which libfuse 3.14
 * does not know; read and answered here. For all else the kernel asks GETATTR.
 */
#include <linux/stat.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "fs/base/fuse_kernel.h"
#include "fs/gate/gate.h"
#include "fs/ops/ops.h"
#include "fs/resolve/resolve_node.h"
#include "fs/watch/keep_time.h"

#define NS_PER_S 1000000000U

static struct ward_sx_time sx_time(const struct timespec *ts)
{
	return (struct ward_sx_time){.sec = ts->tv_sec, .nsec = (uint32_t)ts->tv_nsec};
}

static struct ward_statx to_statx(const struct ward_file *file)
{
	const struct stat *st = &file->st;
	struct ward_statx sx = {
		.mask = STATX_BASIC_STATS,
		.blksize = (uint32_t)st->st_blksize,
		.nlink = (uint32_t)st->st_nlink,
		.uid = st->st_uid,
		.gid = st->st_gid,
		.mode = (uint16_t)st->st_mode,
		.ino = st->st_ino,
		.size = (uint64_t)st->st_size,
		.blocks = (uint64_t)st->st_blocks,
		.atime = sx_time(&st->st_atim),
		.ctime = sx_time(&st->st_ctim),
		.mtime = sx_time(&st->st_mtim),
		.rdev_major = major(st->st_rdev),
		.rdev_minor = minor(st->st_rdev),
	};

	if (file->id.btime_ns) {
		sx.mask |= STATX_BTIME;
		sx.btime.sec = (int64_t)(file->id.btime_ns / NS_PER_S);
		sx.btime.nsec = (uint32_t)(file->id.btime_ns % NS_PER_S);
	}
	return sx;
}

void ward_ops_statx(struct ward_fs_tree *tree, const char *msg)
{
	const struct fuse_in_header *in = (const void *)msg;
	ward_cleanup_op op = {.acting = false};
	struct ward_statx_out out = {0};
	struct ward_node *node = NULL;
	struct ward_file file;
	int r = ward_op_begin_raw(&op, tree, in, "stat");

	if (r == 0) {
		node = ward_op_node(&op, in->nodeid);
		r = ward_resolve_stat(tree, node, &file);
	}
	if (r == 0)
		r = ward_gate_node(&op, node, WARD_RIGHT_STAT, 0, 0, NULL);
	if (r < 0) {
		(void)ward_op_reply_raw(&op, in->unique, r, NULL, 0);
		return;
	}
	ward_op_map_stat(tree, node, &file.st);
	out.stat = to_statx(&file);
	if (!op.shown)
		out.attr_valid = (uint64_t)ward_keep_attr(tree->nodes, node, &file.st, op.since);
	(void)ward_op_reply_raw(&op, in->unique, 0, &out, sizeof(out));
}
