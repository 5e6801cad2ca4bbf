/* SPDX-License-Identifier: Apache-2.0 */
/* Answers by the way that their requests came. */
#include "fs/kernel/answer.h"

#include <errno.h>
#include <unistd.h>

#include "fs/base/fuse_kernel.h"
#include "fs/base/tsan_order.h"
#include "fs/kernel/uring.h"

ssize_t ward_answer_send(struct ward_fs_tree *tree, const struct iovec *iov, int count)
{
	const struct fuse_out_header *out = iov[0].iov_base;
	ssize_t n;

	ward_order_answer(tree);
	if (ward_uring_reply(tree->uring, iov, count, &n)) {
		if (n >= 0)
			return n;
		errno = (int)-n;
		return -1;
	}
	n = writev(tree->dev_fd, iov, count);
	if (out->unique & WARD_FUSE_INTERRUPT_BIT && out->error == -EAGAIN &&
		ward_uring_active(tree->uring))
		ward_uring_interrupt_again(tree->uring, out->unique & ~WARD_FUSE_INTERRUPT_BIT);
	return n;
}
