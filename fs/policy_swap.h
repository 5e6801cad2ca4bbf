/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Puts another policy in force in a running session. Each request is served under one policy: it
 * holds fs->turn for reading from its arrival to its answer. The swap takes fs->turn for writing,
 * in short tries. So if a request waits for a disk, the others wait no longer than one try.
 *
 * An open handle loses the rights that the new policy refuses, and gains none. Handles that the
 * daemon reads and writes for lose them at once. For handles that the kernel reads and writes
 * itself, the inode goes bad (retired_inodes.h). Then the kernel forgets all names, attributes,
 * listings and pages.
 */
#pragma once

#include "fs/base/fs.h"

/* Handles that lost a right they were opened with, by how they are read and written. */
struct ward_swapped {
	uint64_t mono_ns; /* CLOCK_MONOTONIC when the new policy came into force */
	uint64_t checked; /* we read and write for them */
	uint64_t passthrough;
	uint64_t directories;
	bool forgotten; /* the kernel has forgotten what it was told under the old policy */
};

/* How long the swap may wait for requests that are under way, and for the kernel to forget. */
#define WARD_SWAP_TRIES 40U
#define WARD_SWAP_TRY_MS 25
#define WARD_SWAP_FORGET_MS 2500

/*
 * policy: a reference, taken on success. -EBUSY: requests that wait for a disk were under way all
 * the time; -ENOMEM, -EAGAIN (a thread that it needs), …: nothing has changed. Not from a thread
 * that serves requests.
 */
int ward_swap(struct ward_fs *fs, struct ward_policy *policy, struct ward_swapped *ret,
	struct ward_err *err) ward_must_check;

/*
 * Where a tree's backing folds: *ret is the policy with every rule folded, the caller's; elsewhere
 * NULL. -EOPNOTSUPP: policy does not fold ([guard] fold).
 */
int ward_swap_folded(const struct ward_fs *fs, const struct ward_policy *policy,
	struct ward_policy **ret, struct ward_err *err) ward_must_check;

/* What the trees and the process take from a policy's settings. Without requests under way. */
void ward_swap_settings(struct ward_fs *fs);

/* Before the first request: INIT asks for ACLs, or not. */
void ward_swap_acl(struct ward_fs *fs);
