/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which files have a backing id (passthrough.h), and of which kind. Root's are good for every open.
 * As an ordinary user an id costs a request to wardfs-hostd, which registers for writing what the
 * owner can open for reading and writing: files that are written to, and large ones that are read.
 */
#pragma once

#include <stdint.h>

#include "enforcer/base/err.h"
#include "fs/node/node.h"

/*
 * The node's backing id, made if it has none, for a handle whose descriptor is fd, opened as acc
 * (O_ACCMODE). 0: it cannot have one, the page cache serves as well. -ETXTBSY: it is to be written
 * to, and others read it by an id that allows no writing.
 */
int32_t ward_backing_id(
	struct ward_fs_tree *tree, struct ward_node *node, int fd, int acc) ward_must_check;
