/* SPDX-License-Identifier: Apache-2.0 */
/*
 * user.wardfs.why: what may be done with a path, and which rules say so, for who stands before it
 * inside. The attribute is in no list, so that nobody copies it; nothing is stored anywhere.
 */
#pragma once

#include "fs/request/op.h"

/* All names with this prefix are ours: on the backing they are not seen, not set, not removed. */
#define WARD_WHY_PREFIX "user.wardfs."
#define WARD_WHY_NAME "user.wardfs.why"

/* Appends the text for a visible node. -ENOMEM, -EACCES. */
int ward_why(struct ward_op *op, struct ward_node *node, struct ward_buf *ret) ward_must_check;
