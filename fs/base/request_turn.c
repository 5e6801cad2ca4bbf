/* SPDX-License-Identifier: Apache-2.0 */
/* The lock that each request holds while it is served. */
#include "fs/base/request_turn.h"

#include <time.h>

#include "fs/base/tsan_order.h"

int ward_turn_init(struct ward_fs *fs)
{
	pthread_rwlockattr_t attr;
	int r = -pthread_rwlockattr_init(&attr);

	if (r < 0)
		return r;
	/* Else requests without end keep the swap from its turn. */
	(void)pthread_rwlockattr_setkind_np(&attr, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
	r = -pthread_rwlock_init(&fs->turn, &attr);
	pthread_rwlockattr_destroy(&attr);
	return r;
}

void ward_turn_begin(struct ward_fs *fs)
{
	pthread_rwlock_rdlock(&fs->turn);
}

bool ward_turn_try(struct ward_fs *fs)
{
	return pthread_rwlock_tryrdlock(&fs->turn) == 0;
}

void ward_turn_end(struct ward_fs *fs)
{
	pthread_rwlock_unlock(&fs->turn);
}

int ward_turn_all(struct ward_fs *fs, unsigned ms)
{
	struct timespec until;
	int r;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += ms * 1000000L;
	until.tv_sec += until.tv_nsec / 1000000000L;
	until.tv_nsec %= 1000000000L;
	ward_order_lock_begin(&fs->turn);
	r = -pthread_rwlock_clockwrlock(&fs->turn, CLOCK_MONOTONIC, &until);
	ward_order_lock_end(&fs->turn, r == 0);
	return r;
}
