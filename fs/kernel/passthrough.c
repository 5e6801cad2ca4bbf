/* SPDX-License-Identifier: Apache-2.0 */
/* Makes and closes backing ids, with CAP_SYS_ADMIN in effect for that moment alone. */
#include "fs/kernel/passthrough.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>

#include "fs/base/fs.h"
#include "fs/base/fs_confine.h"
#include "fs/base/fuse_kernel.h"
#include "fs/kernel/host_ids.h"

static _Thread_local bool settles;

/*
 * With CAP_SYS_ADMIN in effect, or by wardfs-hostd, for which no lock is held. A failure leaves the
 * kernel with a reference until the end.
 */
static void close_left(struct ward_fs_tree *tree)
{
	struct ward_passthrough_left *left = &tree->left;
	uint32_t ids[WARD_PASSTHROUGH_LEFT];
	unsigned n;

	if (atomic_load(&left->n) == 0)
		return;
	pthread_mutex_lock(&left->lock);
	n = atomic_load(&left->n);
	memcpy(ids, left->ids, n * sizeof(*ids));
	atomic_store(&left->n, 0);
	pthread_mutex_unlock(&left->lock);
	if (tree->fs->host)
		ward_host_ids_close(tree->fs->host, tree->dev_fd, ids, n);
	for (unsigned i = 0; !tree->fs->host && i < n; i++)
		(void)ioctl(tree->dev_fd, WARD_DEV_IOC_BACKING_CLOSE, &ids[i]);
}

int ward_passthrough_open(struct ward_fs_tree *tree, int fd, int dir, int32_t *ret_id)
{
	struct ward_backing_map map = {.fd = fd};
	struct __user_cap_data_struct before[2];
	int r;

	if (tree->fs->host)
		return ward_host_ids_open(tree->fs->host, tree->dev_fd, fd, dir, ret_id);
	r = ward_confine_raise(tree->fs, before);

	if (r < 0)
		return r;
	r = ioctl(tree->dev_fd, WARD_DEV_IOC_BACKING_OPEN, &map);
	if (r < 0)
		r = -errno;
	close_left(tree);
	if (ward_confine_restore(before) < 0 && r > 0) {
		(void)ioctl(tree->dev_fd, WARD_DEV_IOC_BACKING_CLOSE, &(uint32_t){(uint32_t)r});
		return -EPERM;
	}
	if (r <= 0)
		return r < 0 ? r : -EIO;
	*ret_id = r;
	return 0;
}

void ward_passthrough_close(struct ward_fs_tree *tree, int32_t id)
{
	struct ward_passthrough_left *left = &tree->left;

	/* With the connection its backing files are gone. */
	if (tree->ended)
		return;
	for (bool there = false; !there;) {
		unsigned n;

		pthread_mutex_lock(&left->lock);
		n = atomic_load(&left->n);
		there = n < WARD_PASSTHROUGH_LEFT;
		if (there) {
			left->ids[n] = (uint32_t)id;
			atomic_store(&left->n, n + 1);
		}
		pthread_mutex_unlock(&left->lock);
		if (!there)
			ward_passthrough_settle(tree);
	}
	if (!settles)
		ward_passthrough_settle(tree);
}

void ward_passthrough_settles(void)
{
	settles = true;
}

void ward_passthrough_settle(struct ward_fs_tree *tree)
{
	struct __user_cap_data_struct before[2];

	if (atomic_load(&tree->left.n) == 0)
		return;
	if (tree->fs->host && !tree->ended) {
		close_left(tree);
		return;
	}
	if (tree->ended || ward_confine_raise(tree->fs, before) < 0) {
		/* As if it had been tried: the kernel keeps them until the end. */
		pthread_mutex_lock(&tree->left.lock);
		atomic_store(&tree->left.n, 0);
		pthread_mutex_unlock(&tree->left.lock);
		return;
	}
	close_left(tree);
	if (ward_confine_restore(before) < 0)
		return;
}
