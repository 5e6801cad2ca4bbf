/* SPDX-License-Identifier: Apache-2.0 */
/*
 * POSIX locks, carried to the backing as open-file-description locks: one open file description per
 * lock owner (the client's files_struct, or its file for F_OFD_SETLK), so that they conflict with
 * those of host programs and of other sessions. flock(2) locks are taken on the handle's own
 * descriptor, which is one open file description a client's open.
 *
 * Lists at nodes and handles are protected by nodes->lock.
 */
#pragma once

#include "fs/handle/handle.h"

/* Signal that takes a waiting thread out of fcntl(2); its handler does nothing (main.c). */
#define WARD_LOCK_SIGNAL SIGUSR1

/* FLUSH: the owner closed a descriptor of the file, which ends all its locks on it. */
void ward_lock_drop_owner(struct ward_fs_tree *tree, struct ward_node *node, uint64_t owner);
/*
 * RELEASE, before the handle is taken from its node: locks of owners that locked through it end,
 * but for those of owners that have locked through another handle of the file, too.
 */
void ward_lock_drop_handle(struct ward_fs_tree *tree, struct ward_handle *h);
