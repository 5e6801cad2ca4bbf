/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The nodes of a tree that can be written to by what is open or mapped: by their numbers, so that a
 * node without a writer needs no room for it. A number whose node went, or that nobody writes to
 * any more, stays until room is short.
 *
 * The caller of everything here holds nodes->lock.
 */
#pragma once

#include "fs/node/node.h"

/* Node has a writer. Where memory is short, searches go through all nodes from then on. */
void ward_written_add(struct ward_nodes *nodes, struct ward_node *node);
/* Node has another number. */
void ward_written_again(struct ward_nodes *nodes, struct ward_node *node);
/*
 * The next node that can be written to; NULL: no more. *io_at is 0 to begin with. Some may come
 * twice.
 */
struct ward_node *ward_written_next(struct ward_nodes *nodes, uint64_t *io_at);
