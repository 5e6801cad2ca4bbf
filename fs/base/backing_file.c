/* SPDX-License-Identifier: Apache-2.0 */
/* Reads what statx(2) tells. */
#include "fs/base/backing_file.h"

#include <string.h>
#include <sys/sysmacros.h>

void ward_file_from_statx(const struct statx *stx, struct ward_file *ret)
{
	struct stat *st = &ret->st;

	memset(st, 0, sizeof(*st));
	st->st_dev = makedev(stx->stx_dev_major, stx->stx_dev_minor);
	st->st_ino = stx->stx_ino;
	st->st_mode = stx->stx_mode;
	st->st_nlink = stx->stx_nlink;
	st->st_uid = stx->stx_uid;
	st->st_gid = stx->stx_gid;
	st->st_rdev = makedev(stx->stx_rdev_major, stx->stx_rdev_minor);
	st->st_size = (off_t)stx->stx_size;
	st->st_blksize = stx->stx_blksize;
	st->st_blocks = (blkcnt_t)stx->stx_blocks;
	st->st_atim.tv_sec = stx->stx_atime.tv_sec;
	st->st_atim.tv_nsec = stx->stx_atime.tv_nsec;
	st->st_mtim.tv_sec = stx->stx_mtime.tv_sec;
	st->st_mtim.tv_nsec = stx->stx_mtime.tv_nsec;
	st->st_ctim.tv_sec = stx->stx_ctime.tv_sec;
	st->st_ctim.tv_nsec = stx->stx_ctime.tv_nsec;
	ret->id.ino = stx->stx_ino;
	ret->id.btime_ns =
		stx->stx_mask & STATX_BTIME
			? (uint64_t)stx->stx_btime.tv_sec * 1000000000U + stx->stx_btime.tv_nsec
			: 0;
}
