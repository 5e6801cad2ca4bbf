/* SPDX-License-Identifier: Apache-2.0 */
/* Locks that nobody waits for, and ends that are late. */
#include "fs/ops/lock_try.h"

#include <errno.h>
#include <sys/file.h>

int ward_lock_attempt(int fd, const struct flock *lock, int flock_op)
{
	const int r = lock ? fcntl(fd, F_OFD_SETLK, lock) : flock(fd, flock_op | LOCK_NB);

	if (r == 0)
		return 0;
	return errno == EACCES ? -EAGAIN : -errno;
}

/*
 * Locked: a descriptor of another handle was closed, or it has locked and can only read, and no
 * FLUSH would tell.
 */
static bool others_end(const struct ward_handle *h)
{
	for (struct ward_handle *o = h->node->handles; o; o = o->next)
		if (o != h &&
			(atomic_load(&o->flushed) || (!o->flushes && atomic_load(&o->locked))))
			return true;
	return false;
}

bool ward_lock_may_end(const struct ward_fs_tree *tree, const struct ward_handle *h, uint64_t seen)
{
	bool may;

	if (!ward_ends_late(tree))
		return false;
	pthread_mutex_lock(&tree->nodes->lock);
	may = tree->nodes->n_ended != seen || others_end(h);
	pthread_mutex_unlock(&tree->nodes->lock);
	return may;
}

int ward_lock_try(struct ward_fs_tree *tree, const struct ward_handle *h, int fd,
	const struct flock *lock, int flock_op)
{
	struct ward_ends ends = ward_ends_begin();
	struct ward_nodes *nodes = tree->nodes;
	uint64_t seen;
	bool again;
	int r;

	do {
		seen = ward_ends_seen(nodes);
		r = ward_lock_attempt(fd, lock, flock_op);
		if (r != -EAGAIN)
			return r;
		pthread_mutex_lock(&nodes->lock);
		again = ward_ends_await(nodes, &ends, seen);
		pthread_mutex_unlock(&nodes->lock);
	} while (again);
	return r;
}
