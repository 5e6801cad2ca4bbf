/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An order that the kernel keeps, told to the thread sanitizer, which sees only that of locks: what
 * is open is released after every request on it was answered, by whichever thread. Nothing without
 * that sanitizer. Only the end of a handle is announced, else races between requests would be
 * hidden too.
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
#else
static inline void ward_order_answer(struct ward_fs_tree *tree)
{
	(void)tree;
}

static inline void ward_order_release(struct ward_fs_tree *tree)
{
	(void)tree;
}
#endif
