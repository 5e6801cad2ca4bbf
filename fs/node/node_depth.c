/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How deep nodes may lie. Every use of a node walks up to the root, under nodes->lock: without a
 * bound a command could build a tree in which each of its requests costs the guard milliseconds.
 */
#include "fs/node/node_depth.h"

static uint32_t below(const struct ward_node *node)
{
	return node && node->dir ? node->dir->below : 0;
}

bool ward_node_fits(const struct ward_nodes *nodes, const struct ward_node *parent,
	const struct ward_node *node)
{
	uint32_t depth = below(node);

	for (; parent != &nodes->root && parent->names; parent = parent->names->parent)
		if (++depth > WARD_NODE_DEPTH_MAX)
			return false;
	return true;
}

void ward_node_came(
	const struct ward_nodes *nodes, struct ward_node *parent, const struct ward_node *node)
{
	uint32_t level = below(node) + 1;

	/* A directory that has as many levels already has passed them on to those above. */
	for (; parent->dir && parent->dir->below < level; level++) {
		parent->dir->below = level;
		if (parent == &nodes->root || !parent->names)
			break;
		parent = parent->names->parent;
	}
}
