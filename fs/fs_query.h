/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What wardfs-fs tells the supervisor when it is asked (WARD_MSG_FS_QUERY), as one JSON object.
 * Each function holds locks for memory work alone and is bounded, so that neither requests nor the
 * supervisor wait for it; paths are escaped (base/escape.h).
 */
#pragma once

#include "enforcer/base/buf.h"
#include "fs/base/fs.h"

/* Most open files that an answer names; the rest is counted. */
#define WARD_QUERY_HANDLES_MAX 256U

/*
 * Appends the answer to `what` (enum ward_fs_query): at most WARD_FS_ANSWER_MAX bytes.
 * {"error": text} for what there is no answer to, and where memory fails.
 *
 * WARD_FS_QUERY_IO: {"handles":[{"path","io","why","pid"}…], "more": handles not in the list,
 * "totals": {"passthrough","cached","direct","directories"}}. io: how the kernel was told to read
 * and write (handle.h); pid: of the thread that opened it, as the mounter's pid namespace has it.
 */
void ward_query(struct ward_fs *fs, uint32_t what, struct ward_buf *ret);

/*
 * WARD_FS_QUERY_WATCH: {"trees":[{"path","watched","refused","why"}…]}: directories of each tree
 * that are watched, and that are not; why: null, or the reason for the last (or for all).
 *
 * WARD_FS_QUERY_RETIRED: {"inodes":[[TREE,NUMBER]…], "more": N}: at most WARD_QUERY_RETIRED_MAX
 * of those that the kernel has not asked about yet.
 *
 * WARD_MSG_FS_POLICY: {"ok":true,"mono":ns,"checked":N,"passthrough":N,"directories":N,
 * "forgotten":BOOL}: when the policy came into force; how many open files and directories lost a
 * right that they were opened with (of those in passthrough, how many files); whether the kernel
 * has forgotten what it was told before.
 */
#define WARD_QUERY_RETIRED_MAX 512U

/* Appends the answer to WARD_MSG_FS_POLICY with the descriptor fd (-1: none came). */
void ward_query_policy(struct ward_fs *fs, int fd, struct ward_buf *ret);
