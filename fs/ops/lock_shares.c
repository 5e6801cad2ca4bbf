/* SPDX-License-Identifier: Apache-2.0 */
/* Bounds of lock owners and waiters, of the process and of each user. */
#include "fs/ops/lock_shares.h"

#include <stdatomic.h>

#include "fs/ops/lock_count.h"

/* Takes one of at most max. */
static bool take(atomic_uint *n, unsigned max)
{
	if (atomic_fetch_add(n, 1) < max)
		return true;
	atomic_fetch_sub(n, 1);
	return false;
}

bool ward_lock_take_locker(struct ward_fs *fs, uid_t uid)
{
	if (!ward_share_take(fs->shares, WARD_SHARE_LOCKERS, uid, 1))
		return false;
	if (take(&fs->n_lockers, WARD_LOCKERS_MAX))
		return true;
	ward_share_give(fs->shares, WARD_SHARE_LOCKERS, uid, 1);
	return false;
}

void ward_lock_give_locker(struct ward_fs *fs, uid_t uid)
{
	atomic_fetch_sub(&fs->n_lockers, 1);
	ward_share_give(fs->shares, WARD_SHARE_LOCKERS, uid, 1);
}

bool ward_lock_take_owner(struct ward_fs *fs, const struct ward_handle *h)
{
	if (!ward_share_take(fs->shares, WARD_SHARE_OWNERS, h->uid, 1))
		return false;
	if (take(&fs->n_lock_owners, WARD_LOCK_OWNERS_MAX))
		return true;
	ward_share_give(fs->shares, WARD_SHARE_OWNERS, h->uid, 1);
	return false;
}

void ward_lock_give_owner(struct ward_fs *fs, const struct ward_handle *h)
{
	atomic_fetch_sub(&fs->n_lock_owners, 1);
	ward_share_give(fs->shares, WARD_SHARE_OWNERS, h->uid, 1);
}

bool ward_lock_take_waiter(struct ward_fs *fs, uid_t uid)
{
	if (!ward_share_take(fs->shares, WARD_SHARE_WAITERS, uid, 1))
		return false;
	if (atomic_fetch_add(&fs->n_waiters, 1) < WARD_WAITERS_MAX)
		return true;
	atomic_fetch_sub(&fs->n_waiters, 1);
	ward_share_give(fs->shares, WARD_SHARE_WAITERS, uid, 1);
	return false;
}

void ward_lock_give_waiter(struct ward_fs *fs, uid_t uid)
{
	ward_share_give(fs->shares, WARD_SHARE_WAITERS, uid, 1);
	atomic_fetch_sub(&fs->n_waiters, 1);
}
