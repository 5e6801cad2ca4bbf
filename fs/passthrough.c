/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/passthrough.h"

#include <errno.h>
#include <sys/ioctl.h>

#include "fs/confine.h"
#include "fs/fs.h"
#include "fs/fuse_kernel.h"

int ward_passthrough_open(const struct ward_fs_tree *tree, int fd, int32_t *ret_id)
{
	struct ward_backing_map map = {.fd = fd};
	struct __user_cap_data_struct before[2];
	int r = ward_confine_raise(before);

	if (r < 0)
		return r;
	r = ioctl(tree->dev_fd, WARD_DEV_IOC_BACKING_OPEN, &map);
	if (r < 0)
		r = -errno;
	if (ward_confine_restore(before) < 0 && r > 0) {
		(void)ioctl(tree->dev_fd, WARD_DEV_IOC_BACKING_CLOSE, &(uint32_t){(uint32_t)r});
		return -EPERM;
	}
	if (r <= 0)
		return r < 0 ? r : -EIO;
	*ret_id = r;
	return 0;
}

void ward_passthrough_close(const struct ward_fs_tree *tree, int32_t id)
{
	uint32_t v = (uint32_t)id;
	struct __user_cap_data_struct before[2];

	/* With the connection its backing files are gone. */
	if (tree->ended || ward_confine_raise(before) < 0)
		return;
	/* A failure leaves the kernel with a reference until the connection ends. */
	(void)ioctl(tree->dev_fd, WARD_DEV_IOC_BACKING_CLOSE, &v);
	if (ward_confine_restore(before) < 0)
		return;
}
