/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the session's grants give at the names of nodes, beside the states of those names: both are
 * found under one hold of nodes->lock, so that they speak of the same names. Nothing is kept: a
 * grant covers paths, and paths change.
 */
#pragma once

#include "enforcer/policy/grants.h"
#include "fs/node/node.h"

/* Of a node: one entry for each of its names, the newest one first. */
struct ward_node_grants {
	size_t n;
	const struct ward_state **states; /* references */
	struct ward_granted *grants;
};

/*
 * pid: who asks. -ENOMEM; -EMLINK: more names than WARD_NODE_STATES_MAX, which no grant covers;
 * -ESTALE. To be put in any case. Locked (nodes->lock) the second one.
 */
int ward_node_grants(struct ward_nodes *nodes, struct ward_node *node, uint32_t pid,
	struct ward_node_grants *ret) ward_must_check;
int ward_node_grants_locked(struct ward_nodes *nodes, struct ward_node *node, uint32_t pid,
	struct ward_node_grants *ret) ward_must_check;
void ward_node_grants_put(struct ward_nodes *nodes, struct ward_node_grants *g);

/* Of name below parent: its state (a reference) and what grants give there. */
int ward_child_grants(struct ward_nodes *nodes, struct ward_node *parent, const char *name,
	uint32_t pid, const struct ward_state **ret,
	struct ward_granted *ret_grants) ward_must_check;
/* The same, of the grants alone for which some() is true; without the state. */
int ward_child_grants_some(struct ward_nodes *nodes, struct ward_node *parent, const char *name,
	uint32_t pid, ward_grants_some_fn *some, void *user,
	struct ward_granted *ret) ward_must_check;
