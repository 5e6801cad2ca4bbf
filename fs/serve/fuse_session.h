/* SPDX-License-Identifier: Apache-2.0 */
/* libfuse's session of one tree, over a /dev/fuse that somebody else mounted. */
#pragma once

#include <stddef.h>

#include "fs/base/fs.h"

/* Fills tree->se; dev_fd belongs to the session from then on. */
int ward_session_new(struct ward_fs_tree *tree, struct ward_err *err) ward_must_check;
/* Once INIT was answered. -EOPNOTSUPP: the policy has `acl = yes`, and this kernel lacks them. */
int ward_session_acl(const struct ward_fs_tree *tree, struct ward_err *err) ward_must_check;
void ward_session_free(struct ward_fs_tree *tree);
/* Serves one message of the kernel, on the calling thread. Any number of threads may. */
void ward_session_process(struct ward_fs_tree *tree, char *msg, size_t len);
