/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Locks that nobody waits for. A file that was closed a moment ago may still hold one, if its end
 * is late (handle.h).
 */
#pragma once

#include <fcntl.h>

#include "fs/handle/handle.h"

/*
 * One attempt on fd, without a wait: an open-file-description lock, or flock(2) where lock is NULL.
 * 0; -EAGAIN: somebody else has it; another negative errno.
 */
int ward_lock_attempt(int fd, const struct flock *lock, int flock_op) ward_must_check;
/*
 * After -EAGAIN: can another open file of h's file have ended since ward_ends_seen() gave `seen`,
 * or be about to end, and with it what it locked?
 */
bool ward_lock_may_end(const struct ward_fs_tree *tree, const struct ward_handle *h, uint64_t seen);
/*
 * As ward_lock_attempt(), again and again until the ends that are on their way have come. It can
 * take WARD_ENDS_NS: not on a thread that serves a ring, which may have to serve such an end.
 */
int ward_lock_try(struct ward_fs_tree *tree, const struct ward_handle *h, int fd,
	const struct flock *lock, int flock_op) ward_must_check;
