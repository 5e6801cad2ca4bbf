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
 * An id for the file of fd (O_PATH does). Needs CAP_SYS_ADMIN in the permitted set; it is effective
 * during the ioctl alone. -EPERM: not for us; -ELOOP: the backing is itself stacked too high.
 */
int ward_passthrough_open(const struct ward_fs_tree *tree, int fd, int32_t *ret_id) ward_must_check;
void ward_passthrough_close(const struct ward_fs_tree *tree, int32_t id);
