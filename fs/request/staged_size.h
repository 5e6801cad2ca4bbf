/* SPDX-License-Identifier: Apache-2.0 */
/*
 * [review] size: changes of content where what is staged is bounded (review/review_size.h). Without
 * the key each is the system call alone. What does not fit is -EDQUOT, and *hit says why.
 */
#pragma once

#include "fs/quota/quota.h"
#include "fs/request/op.h"

/* Once, before anything is staged. */
void ward_staged_begin(struct ward_fs *fs);
/* Has every write in the tree to be seen? */
bool ward_staged_counts(const struct ward_fs_tree *tree);

/* As ward_quota_write(), and so on (quota_io.h). */
ssize_t ward_staged_write(const struct ward_op *op, const struct ward_handle *h, const char *buf,
	size_t size, off_t off, bool append, struct ward_quota_hit *hit) ward_must_check;
int ward_staged_truncate(const struct ward_op *op, int fd, off_t size, bool times,
	struct ward_quota_hit *hit) ward_must_check;
int ward_staged_fallocate(const struct ward_op *op, const struct ward_handle *h, int mode,
	off_t off, off_t len, struct ward_quota_hit *hit) ward_must_check;
ssize_t ward_staged_copy(const struct ward_op *op, const struct ward_handle *in, off_t off_in,
	const struct ward_handle *out, off_t off_out, size_t len,
	struct ward_quota_hit *hit) ward_must_check;
/* setxattr(2) (value NULL: removexattr). */
int ward_staged_xattr(const struct ward_op *op, int fd, const char *name, const char *value,
	size_t size, int flags, struct ward_quota_hit *hit) ward_must_check;
