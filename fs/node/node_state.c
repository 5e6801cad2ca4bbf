/* SPDX-License-Identifier: Apache-2.0 */
/* The states of nodes' names: found lazily, all of them again for another policy. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fs/base/fuse_kernel.h"
#include "fs/node/node.h"
#include "fs/node/node_names.h"

/* Places for states to begin with. */
#define STATES_START 2U
#define STEPS_AT_ONCE 64U
/* Nodes looked at while the lock is held once. */
#define SWEEP_AT_ONCE 1024U

/* Locked. */
static int step_name(struct ward_nodes *nodes, struct ward_name *n)
{
	const bool top = n->parent == &nodes->root;
	const struct ward_state *from = top ? nodes->root_state : n->parent->names->state;
	const struct ward_state *to;
	int r = 0;

	if (n->len)
		r = ward_policy_step(nodes->policy, from, n->text, n->len, &to);
	else /* made without a name */
		to = ward_policy_state_get(from);
	if (r < 0)
		return r;
	ward_policy_state_put(nodes->policy, n->state);
	n->state = to;
	n->gen = nodes->gen;
	return 0;
}

/* Goes up to the first name whose state is right and comes down again, STEPS_AT_ONCE at a time. */
static int refresh(struct ward_nodes *nodes, struct ward_name *name)
{
	struct ward_name *way[STEPS_AT_ONCE];

	while (name->gen != nodes->gen) {
		size_t n = 0;
		int r = 0;

		for (struct ward_name *at = name;; at = at->parent->names) {
			way[n++ % STEPS_AT_ONCE] = at;
			if (at->parent == &nodes->root || at->parent->names->gen == nodes->gen)
				break;
		}
		for (size_t i = 0; r == 0 && i < STEPS_AT_ONCE && i < n; i++)
			r = step_name(nodes, way[(n - 1 - i) % STEPS_AT_ONCE]);
		if (r < 0)
			return r;
	}
	return 0;
}

static int count_state(struct ward_several *s, const struct ward_state *state)
{
	struct ward_state_count *v;
	uint32_t i = 0;

	while (i < s->n_states && s->states[i].state != state)
		i++;
	if (i < s->n_states) {
		s->states[i].n++;
		return 0;
	}
	if (i == WARD_NODE_STATES_MAX)
		return -EMLINK;
	if (i == s->states_room) {
		const uint32_t room = i ? i * 2 : STATES_START;

		v = reallocarray(s->states, room, sizeof(*v));
		if (!v)
			return -ENOMEM;
		s->states = v;
		s->states_room = room;
	}
	s->states[s->n_states++] = (struct ward_state_count){.state = state, .n = 1};
	return 0;
}

/* All of several are counted afterwards. -EMLINK: more than WARD_NODE_STATES_MAX states. */
static int count_names(struct ward_nodes *nodes, struct ward_node *node)
{
	struct ward_several *s = node->several;
	int r = 0;

	if (s->gen != nodes->gen) {
		for (uint32_t i = s->first; i < s->end; i++)
			if (s->v[i])
				s->v[i]->counted = false;
		s->n_counted = s->n_states = 0;
		s->gen = nodes->gen;
	}
	/* Those that came last stand at the end. */
	for (uint32_t i = s->end; r == 0 && s->n_counted < s->n && i-- > s->first;) {
		struct ward_name *n = s->v[i];

		if (!n || n->counted)
			continue;
		r = refresh(nodes, n);
		if (r == 0)
			r = count_state(s, n->state);
		if (r == 0) {
			n->counted = true;
			s->n_counted++;
		}
	}
	return r;
}

/* Locked. Of several names: the newest one's state first, as records tell. */
static int several_states(struct ward_nodes *nodes, struct ward_node *node, struct ward_states *ret)
{
	const struct ward_several *s = node->several;
	int r = count_names(nodes, node);

	if (r < 0)
		return r;
	ret->v[ret->n++] = ward_policy_state_get(node->names->state);
	for (uint32_t i = 0; i < s->n_states; i++)
		if (s->states[i].state != node->names->state)
			ret->v[ret->n++] = ward_policy_state_get(s->states[i].state);
	return 0;
}

int ward_node_states_locked(
	struct ward_nodes *nodes, struct ward_node *node, struct ward_states *ret)
{
	int r;

	ret->n = 0;
	ret->n_names = 0;
	if (node == &nodes->root) {
		ret->v[ret->n++] = ward_policy_state_get(nodes->root_state);
		ret->n_names = 1;
		return 0;
	}
	if (!node->names)
		return -ESTALE;
	ret->n_names = ward_node_names_live(node);
	if (node->several)
		return several_states(nodes, node, ret);
	r = refresh(nodes, node->names);
	if (r == 0)
		ret->v[ret->n++] = ward_policy_state_get(node->names->state);
	return r;
}

int ward_node_states(struct ward_nodes *nodes, struct ward_node *node, struct ward_states *ret)
{
	int r;

	pthread_mutex_lock(&nodes->lock);
	r = ward_node_states_locked(nodes, node, ret);
	pthread_mutex_unlock(&nodes->lock);
	return r;
}

void ward_states_put(struct ward_nodes *nodes, struct ward_states *states)
{
	for (size_t i = 0; i < states->n; i++)
		ward_policy_state_put(nodes->policy, states->v[i]);
	states->n = 0;
}

/* Locked. */
static int child_state(struct ward_nodes *nodes, struct ward_node *parent, const char *name,
	const struct ward_state **ret)
{
	const struct ward_state *from = nodes->root_state;
	int r = 0;

	if (parent != &nodes->root) {
		r = parent->names ? refresh(nodes, parent->names) : -ESTALE;
		if (r == 0)
			from = parent->names->state;
	}
	if (r == 0)
		r = ward_policy_step(nodes->policy, from, name, strlen(name), ret);
	return r;
}

int ward_node_child_state_locked(struct ward_nodes *nodes, struct ward_node *parent,
	const char *name, const struct ward_state **ret)
{
	return child_state(nodes, parent, name, ret);
}

int ward_node_child_state(struct ward_nodes *nodes, struct ward_node *parent, const char *name,
	const struct ward_state **ret)
{
	int r;

	pthread_mutex_lock(&nodes->lock);
	r = child_state(nodes, parent, name, ret);
	pthread_mutex_unlock(&nodes->lock);
	return r;
}

bool ward_nodes_same_state(struct ward_nodes *nodes, struct ward_node *parent, const char *name,
	struct ward_node *parent2, const char *name2)
{
	const struct ward_state *a = NULL, *b = NULL;
	const bool same = child_state(nodes, parent, name, &a) == 0 &&
			  child_state(nodes, parent2, name2, &b) == 0 &&
			  ward_policy_same_state(a, b);

	ward_policy_state_put(nodes->policy, a);
	ward_policy_state_put(nodes->policy, b);
	return same;
}

const struct ward_state *ward_nodes_set_policy(
	struct ward_nodes *nodes, struct ward_policy *policy, const struct ward_state *root)
{
	const struct ward_state *old = nodes->root_state;

	nodes->policy = policy;
	nodes->root_state = root;
	nodes->gen++;
	nodes->moves++;
	return old;
}

/* Locked. */
static void sweep_node(struct ward_nodes *nodes, struct ward_node *node)
{
	for (struct ward_name *n = node->names; n; n = ward_node_name_older(n)) {
		if (n->gen == nodes->gen)
			continue;
		ward_policy_state_put(nodes->policy, n->state);
		n->state = NULL;
	}
}

void ward_nodes_sweep(struct ward_nodes *nodes)
{
	uint64_t number = FUSE_ROOT_ID;

	do {
		pthread_mutex_lock(&nodes->lock);
		for (size_t i = 0; i < SWEEP_AT_ONCE; i++) {
			struct ward_node *node;

			number = ward_node_ids_next(&nodes->ids, number);
			node = number ? ward_node_ids_find(&nodes->ids, number) : NULL;
			if (!node)
				break;
			sweep_node(nodes, node);
		}
		pthread_mutex_unlock(&nodes->lock);
	} while (number);
}
