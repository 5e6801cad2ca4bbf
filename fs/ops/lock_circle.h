/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds owners of POSIX locks that would wait for each other forever. The owner whose request would
 * close the circle gets EDEADLK. The kernel finds no circle, because wardfs takes
 * open-file-description locks there (ops_lock.h).
 *
 * An owner waits for the owners that hold a part of the range that it requested. Only owners that
 * wait can be in a circle, so there is no search while a single owner waits. The kernel says which
 * locks an owner holds (/proc/self/fdinfo of its descriptor). A search stays within one tree,
 * because the kernel's numbers for owners differ from tree to tree.
 *
 * A search has a bound of looks and a bound of CPU time. Beyond them no owner gets EDEADLK, and the
 * owners wait.
 */
#pragma once

#include <fcntl.h>
#include <sys/queue.h>

#include "fs/node/node.h"

/* A request that waits. The node lives until the end. */
struct ward_lock_wait {
	LIST_ENTRY(ward_lock_wait) next; /* of tree->lock_waits, protected by lock_waits_lock */
	const struct ward_node *node;
	const struct flock *lock; /* what it asks for, from the beginning of the file */
	uint64_t owner;
	bool reached, asked; /* by the search under way */
};

/*
 * A copy of the descriptor by which that owner has locked the file of node, the caller's; -ENOENT:
 * it has none.
 */
typedef int ward_lock_descriptor(
	struct ward_fs_tree *tree, const struct ward_node *node, uint64_t owner);
/* It is about to wait. -EDEADLK: it would do so forever, and does not count as waiting. */
int ward_lock_wait_begin(struct ward_fs_tree *tree, struct ward_lock_wait *w,
	ward_lock_descriptor *descriptor) ward_must_check;
/* It waits no more. */
void ward_lock_wait_end(struct ward_fs_tree *tree, struct ward_lock_wait *w);
