/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How deep nodes may lie: WARD_NODE_DEPTH_MAX, also after a directory was moved with all that is
 * beneath it. For that a directory remembers how many levels of nodes it has ever had beneath
 * (ward_dir.below): a bound that needs no search, and that only grows while the directory is known.
 */
#pragma once

#include "fs/node/node.h"

/* Locked: may node, with what is beneath it, stand in parent? NULL: one that has nothing beneath.
 */
bool ward_node_fits(const struct ward_nodes *nodes, const struct ward_node *parent,
	const struct ward_node *node) ward_must_check;
/* Locked: node has got a name in parent. */
void ward_node_came(
	const struct ward_nodes *nodes, struct ward_node *parent, const struct ward_node *node);
