/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names of one node, for node*.c and who goes through all of them. A file with one name, as
 * nearly all have, needs nothing beside it. One with several has a list by age, in which a name is
 * found by its place, and counts of the states that they have: to add a name, to take one away and
 * to ask what all of them give costs the same for two names and for fifty thousand.
 *
 * Locked (nodes->lock), all of it.
 */
#pragma once

#include "fs/node/node.h"

struct ward_quota_domain;

struct ward_state_count {
	const struct ward_state *state; /* of a name that is counted, which has the reference */
	uint32_t n;
};

/* All live: a ghost is alone. */
struct ward_several {
	struct ward_name **v; /* by age, the oldest first; NULL: it went */
	uint32_t first, end;  /* v[first] and v[end - 1] are names */
	uint32_t room;
	uint32_t n;
	/* Counted are names that are marked so, if gen is nodes->gen. */
	struct ward_state_count *states;
	uint32_t n_states, states_room;
	uint32_t n_counted;
	uint32_t gen;
	/* quota_name.c: where names lie that are marked as placed, if quota_moves is nodes->moves.
	 */
	struct ward_quota_domain *domain;
	uint32_t n_placed;
	uint32_t quota_moves;
	bool differs; /* one of them lies elsewhere */
	/* links_known.c: all links of the file are these names, if sure_gen is nodes->dirs_gen. */
	bool sure;
	uint64_t sure_gen;
	uint64_t doubts; /* how often it was asked whether it still is; begins nowhere twice */
};

/* Binds n, the newest one from now on. -ENOMEM. */
int ward_node_names_add(
	struct ward_nodes *nodes, struct ward_node *node, struct ward_name *n) ward_must_check;
/* One of several: n is the caller's. */
void ward_node_names_take(struct ward_nodes *nodes, struct ward_node *node, struct ward_name *n);
/* All names were freed. */
void ward_node_names_clear(struct ward_nodes *nodes, struct ward_node *node);

/* The next older name of the same node, NULL: it is the oldest. node->names is the newest. */
struct ward_name *ward_node_name_older(const struct ward_name *n);
/* Ghosts too; NULL: none. */
struct ward_name *ward_node_names_oldest(const struct ward_node *node);
size_t ward_node_names_live(const struct ward_node *node);
/* The i-th newest live one; NULL: there are not that many. */
struct ward_name *ward_node_names_nth(const struct ward_node *node, size_t i);

/* Locked: the path of a name (NULL: of the root), in buf; with tail below it unless that is NULL.
 */
const char *ward_name_path_locked(const struct ward_nodes *nodes, const struct ward_name *at,
	const char *tail, char buf[WARD_NODE_PATH_MAX], size_t *ret_len);

/* All links are these names; that is no longer sure (also: a name came). */
void ward_node_names_sure(struct ward_nodes *nodes, struct ward_several *s);
void ward_node_names_doubt(struct ward_nodes *nodes, struct ward_several *s);
