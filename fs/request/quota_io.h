/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Changes of content under quotas. Each is done with the file's lock held and its size looked at,
 * so that the charge is right even if others write at the same time; without a quota above the file
 * it is the system call alone. Refusals are recorded.
 */
#pragma once

#include "fs/quota/quota.h"
#include "fs/request/op.h"

/* Has every write of the file to be seen? */
bool ward_quota_counts_writes(const struct ward_fs_tree *tree, const struct ward_quota_file *f);

/*
 * pwrite(2) to h, at its end if append. What fits is written, as file systems with quotas do: fewer
 * bytes than asked, and -EDQUOT (growth) or -EFBIG (file) where not one more fits.
 */
ssize_t ward_quota_write(struct ward_op *op, struct ward_handle *h, const char *buf, size_t size,
	off_t off, bool append) ward_must_check;
/* ward_backing_truncate() of node's file fd; f may be NULL. */
int ward_quota_truncate(struct ward_op *op, struct ward_node *node, struct ward_quota_file *f,
	int fd, off_t size, bool times) ward_must_check;
/* fallocate(2): all of it or nothing. */
int ward_quota_fallocate(
	struct ward_op *op, struct ward_handle *h, int mode, off_t off, off_t len) ward_must_check;
/* copy_file_range(2): as much as fits. */
ssize_t ward_quota_copy(struct ward_op *op, struct ward_handle *in, off_t off_in,
	struct ward_handle *out, off_t off_out, size_t len) ward_must_check;
/*
 * node's file, just opened for writing as fd, is f: what of it are holes is charged, once. st is of
 * fd.
 */
int ward_quota_open_holes(struct ward_op *op, struct ward_node *node, struct ward_quota_file *f,
	int fd, const struct stat *st) ward_must_check;
/* setxattr(2) (value NULL: removexattr) of node's file fd. */
int ward_quota_xattr(struct ward_op *op, struct ward_node *node, int fd, const char *name,
	const char *value, size_t size, int flags) ward_must_check;

/* May a writer of f have to wait ([quota] rate)? NULL: no. */
bool ward_quota_has_rate(const struct ward_fs_tree *tree, const struct ward_quota_file *f);
/*
 * Takes n bytes, which are about to be written to h, from its rate, and returns how long to wait
 * before, in ns. What is not written then goes back with ward_quota_unwritten().
 */
uint64_t ward_quota_to_write(
	const struct ward_fs_tree *tree, const struct ward_handle *h, uint64_t n);
void ward_quota_unwritten(const struct ward_fs_tree *tree, const struct ward_handle *h, uint64_t n);
