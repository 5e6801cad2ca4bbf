/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers for the nodes of a tree: what the kernel calls them by. Agents can see them (file handles
 * in /proc/PID/fdinfo), so they are no addresses: an index into a table, and how often its place
 * was used before in the upper half. A number that is not in use finds nothing.
 *
 * Not locked: the caller holds nodes->lock.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "enforcer/base/err.h"

struct ward_node;

struct ward_node_slot {
	struct ward_node *node; /* NULL: free */
	uint32_t uses;
	uint32_t next_free;
};

/* All zero is an empty table. 0 and 1 (FUSE_ROOT_ID) are never given out. */
struct ward_node_ids {
	struct ward_node_slot *v;
	uint32_t n, room;
	uint32_t free; /* first of the free places, 0: none */
};

/* -ENOMEM. */
int ward_node_ids_take(
	struct ward_node_ids *ids, struct ward_node *node, uint64_t *ret) ward_must_check;
void ward_node_ids_give(struct ward_node_ids *ids, uint64_t id);
struct ward_node *ward_node_ids_find(const struct ward_node_ids *ids, uint64_t id);
/* The number in use at the next place of the table; 0: there is none. */
uint64_t ward_node_ids_next(const struct ward_node_ids *ids, uint64_t id);
void ward_node_ids_clear(struct ward_node_ids *ids);
