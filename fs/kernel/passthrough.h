/* SPDX-License-Identifier: Apache-2.0 */
/*
 * FUSE passthrough: the kernel reads and writes a backing file itself, named by a backing id. An id
 * is a transport and no permission: neither making one nor the kernel's reopening checks mode bits,
 * so a real open with the asked mode comes first, always. One id an inode, kept until FORGET.
 */
#pragma once

#include <stdint.h>

#include "enforcer/base/err.h"

struct ward_fs_tree;

/*
 * An id for the file of fd. As root O_PATH does, dir is -1, and CAP_SYS_ADMIN must be in the
 * permitted set; it is effective during the ioctl alone. With wardfs-hostd fd and dir are as
 * ward_host_ids_open() takes them. -EPERM: not for us; -ELOOP: the backing is itself stacked too
 * high.
 */
int ward_passthrough_open(
	struct ward_fs_tree *tree, int fd, int dir, int32_t *ret_id) ward_must_check;

/*
 * The id is no more. Changing what is in effect takes longer than the ioctl, and where a tree is
 * removed there is an id a file: so a thread that settles() tells the kernel of several at once,
 * with the next ward_passthrough_open(), when there are WARD_PASSTHROUGH_LEFT, or when it has
 * nothing else to do. Other threads tell it at once. No id holds a file open for writing; the space
 * of a removed one may.
 */
void ward_passthrough_close(struct ward_fs_tree *tree, int32_t id);
/* The calling thread will call _settle() before each time it waits for a request. */
void ward_passthrough_settles(void);
void ward_passthrough_settle(struct ward_fs_tree *tree);
