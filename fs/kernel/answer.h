/* SPDX-License-Identifier: Apache-2.0 */
/* Where every answer and notification of libfuse goes, and our own ones: to the kernel. */
#pragma once

#include <sys/uio.h>

#include "fs/base/fs.h"

/*
 * Gives the kernel an answer, as writev(2) on /dev/fuse does: bytes, or -1 and errno. Not for
 * INIT's.
 */
ssize_t ward_answer_send(struct ward_fs_tree *tree, const struct iovec *iov, int count);
