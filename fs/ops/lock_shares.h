/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many lock owners and waiters there may be (lock_count.h has the numbers), of the process and
 * of each user (user_shares.h). True: one more was taken; the caller gives it back. False: there
 * are too many, which is ENOLCK for the client. Any thread, no lock needed.
 */
#pragma once

#include "fs/handle/handle.h"

/* A lock owner of a file. */
bool ward_lock_take_locker(struct ward_fs *fs, uid_t uid) ward_must_check;
void ward_lock_give_locker(struct ward_fs *fs, uid_t uid);
/* An owner that a handle remembers: the share of the handle's user. */
bool ward_lock_take_owner(struct ward_fs *fs, const struct ward_handle *h) ward_must_check;
void ward_lock_give_owner(struct ward_fs *fs, const struct ward_handle *h);
/* A request that is answered by a thread of its own. */
bool ward_lock_take_waiter(struct ward_fs *fs, uid_t uid) ward_must_check;
void ward_lock_give_waiter(struct ward_fs *fs, uid_t uid);
