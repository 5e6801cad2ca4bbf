/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The thread of a tree that tells the kernel what to forget (forget_queue.h). It holds no lock as
 * it does: the kernel may need a lock that the caller of a request holds. The same thread reads the
 * watches.
 */
#pragma once

#include "fs/base/fs.h"

struct ward_forget_thread;

/* tree->se and tree->forget must exist, the tree must outlive it. */
int ward_forget_thread_new(struct ward_fs_tree *tree, struct ward_forget_thread **ret,
	struct ward_err *err) ward_must_check;
/*
 * The file system is gone: ends the thread, then records what others changed and nobody looked at
 * yet. Nothing but ward_forget_thread_free() may follow.
 */
void ward_forget_thread_end(struct ward_forget_thread *n);
void ward_forget_thread_free(struct ward_forget_thread *n);
