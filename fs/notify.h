/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Invalidations pushed to the kernel, from a thread of their own that holds no lock: the kernel may
 * need a lock for them that the caller of a request holds.
 */
#pragma once

#include "fs/node.h"

struct ward_notify;

/* One thread for a tree. tree->se must exist, the tree must outlive it. */
int ward_notify_new(
	struct ward_fs_tree *tree, struct ward_notify **ret, struct ward_err *err) ward_must_check;
void ward_notify_free(struct ward_notify *n);

/*
 * Who may search the directory changed: the kernel forgets what it knows beneath. A full queue
 * drops the call; the time-out of the entries (WARD_FS_TIMEOUT) then does the same, later.
 */
void ward_notify_dir(struct ward_notify *n, struct ward_node *dir);
