/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Owners of POSIX locks that would wait for each other forever: whoever would close the circle is
 * told EDEADLK instead. The kernel finds none, since what it is asked for are open-file-description
 * locks (ops_lock.h).
 *
 * An owner waits for those that hold a part of the range that it asked for. Only owners that wait
 * themselves can be in a circle, so nobody is asked while one alone waits. What an owner holds is
 * what the kernel says of its descriptor (/proc/self/fdinfo). Those of one tree: in each the kernel
 * has other numbers for owners.
 *
 * A search has bounds of looks and of CPU time. Beyond them nobody is told, and the owners wait.
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
