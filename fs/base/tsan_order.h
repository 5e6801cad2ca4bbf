/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Orders that the thread sanitizer does not see by itself. Nothing without that sanitizer.
 *
 * The kernel keeps one: what is open is released after every request on it was answered, by
 * whichever thread. Only the end of a handle is announced, else races between requests would be
 * hidden too.
 *
 * A lock that is waited for by CLOCK_MONOTONIC is another: the sanitizer knows the locks of POSIX
 * alone. What unlocks it is seen.
 */
#pragma once

#include "fs/base/fs.h"

#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>

static inline void ward_order_answer(struct ward_fs_tree *tree)
{
	__tsan_release(tree);
}

static inline void ward_order_release(struct ward_fs_tree *tree)
{
	__tsan_acquire(tree);
}

/* Around what locks it for writing, or tries to for a time. */
static inline void ward_order_lock_begin(pthread_rwlock_t *lock)
{
	__tsan_mutex_pre_lock(lock, __tsan_mutex_try_lock);
}

static inline void ward_order_lock_end(pthread_rwlock_t *lock, bool locked)
{
	__tsan_mutex_post_lock(
		lock, __tsan_mutex_try_lock | (locked ? 0 : __tsan_mutex_try_lock_failed), 0);
}
#else
static inline void ward_order_answer(struct ward_fs_tree *tree)
{
	(void)tree;
}

static inline void ward_order_release(struct ward_fs_tree *tree)
{
	(void)tree;
}

static inline void ward_order_lock_begin(pthread_rwlock_t *lock)
{
	(void)lock;
}

static inline void ward_order_lock_end(pthread_rwlock_t *lock, bool locked)
{
	(void)lock;
	(void)locked;
}
#endif
