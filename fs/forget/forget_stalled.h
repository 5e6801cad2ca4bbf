/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When the thread that says to the kernel what to forget is held up. To forget an entry the kernel
 * takes its directory's lock, which a program that lists the directory holds while its buffer is
 * filled: a page of that buffer that never comes (userfaultfd(2), a mapped file of a FUSE mount of
 * its own) would stop all forgetting, for everybody. So while one call lasts too long nothing new
 * is kept for long, and what was kept is forgotten by calls that need no such lock.
 */
#pragma once

#include "fs/base/fs.h"

struct ward_stall;

/* A thread that looks on. tree->se must exist, the tree must outlive it. */
int ward_stall_new(
	struct ward_fs_tree *tree, struct ward_stall **ret, struct ward_err *err) ward_must_check;
void ward_stall_free(struct ward_stall *s);

/* Around each call that may be held up. One thread alone. */
void ward_stall_begin(struct ward_stall *s);
void ward_stall_end(struct ward_stall *s);
