/* SPDX-License-Identifier: Apache-2.0 */
/* Finds what grants give at the names of nodes. */
#include "fs/node/node_grants.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "enforcer/base/clock.h"
#include "fs/node/node_names.h"

/* Locked. */
static int match_some(struct ward_nodes *nodes, const struct ward_name *at, const char *tail,
	uint32_t pid, ward_grants_some_fn *some, void *user, struct ward_granted *ret)
{
	char buf[WARD_NODE_PATH_MAX];
	size_t len;
	const char *path = ward_name_path_locked(nodes, at, tail, buf, &len);

	*ret = (struct ward_granted){.rights = 0};
	/* Of most paths this is all that is asked, and no clock. */
	if (!ward_grants_near(nodes->tree->fs->grants, path, len))
		return 0;
	return ward_grants_match_some(
		nodes->tree->fs->grants, path, len, pid, ward_clock_boot_ns(), some, user, ret);
}

/* Locked. */
static int match(struct ward_nodes *nodes, const struct ward_name *at, const char *tail,
	uint32_t pid, struct ward_granted *ret)
{
	return match_some(nodes, at, tail, pid, NULL, NULL, ret);
}

static int room(struct ward_node_grants *g, size_t n)
{
	g->states = calloc(n, sizeof(*g->states));
	g->grants = calloc(n, sizeof(*g->grants));
	return g->states && g->grants ? 0 : -ENOMEM;
}

int ward_node_grants_locked(struct ward_nodes *nodes, struct ward_node *node, uint32_t pid,
	struct ward_node_grants *ret)
{
	struct ward_states states;
	size_t n = 0;
	int r;

	*ret = (struct ward_node_grants){.n = 0};
	/* With this the states of all names are right. */
	r = ward_node_states_locked(nodes, node, &states);
	if (r < 0)
		return r;
	ward_states_put(nodes, &states);
	for (const struct ward_name *at = node->names; at; at = ward_node_name_older(at))
		n++;
	if (n > WARD_NODE_STATES_MAX)
		return -EMLINK;
	r = room(ret, n ? n : 1);
	if (r == 0 && !n) {
		ret->states[ret->n++] = ward_policy_state_get(nodes->root_state);
		r = match(nodes, NULL, NULL, pid, &ret->grants[0]);
	}
	for (const struct ward_name *at = node->names; r == 0 && at;
		at = ward_node_name_older(at)) {
		ret->states[ret->n] = ward_policy_state_get(at->state);
		r = match(nodes, at, NULL, pid, &ret->grants[ret->n++]);
	}
	return r;
}

int ward_node_grants(struct ward_nodes *nodes, struct ward_node *node, uint32_t pid,
	struct ward_node_grants *ret)
{
	int r;

	pthread_mutex_lock(&nodes->lock);
	r = ward_node_grants_locked(nodes, node, pid, ret);
	pthread_mutex_unlock(&nodes->lock);
	return r;
}

void ward_node_grants_put(struct ward_nodes *nodes, struct ward_node_grants *g)
{
	for (size_t i = 0; i < g->n; i++)
		ward_policy_state_put(nodes->policy, g->states[i]);
	free(g->states);
	free(g->grants);
	*g = (struct ward_node_grants){.n = 0};
}

int ward_child_grants(struct ward_nodes *nodes, struct ward_node *parent, const char *name,
	uint32_t pid, const struct ward_state **ret, struct ward_granted *ret_grants)
{
	const struct ward_name *at = NULL;
	int r;

	*ret_grants = (struct ward_granted){.rights = 0};
	pthread_mutex_lock(&nodes->lock);
	r = ward_node_child_state_locked(nodes, parent, name, ret);
	if (r == 0) {
		at = parent == &nodes->root ? NULL : parent->names;
		r = match(nodes, at, name, pid, ret_grants);
		if (r < 0) {
			ward_policy_state_put(nodes->policy, *ret);
			*ret = NULL;
		}
	}
	pthread_mutex_unlock(&nodes->lock);
	return r;
}

int ward_child_grants_some(struct ward_nodes *nodes, struct ward_node *parent, const char *name,
	uint32_t pid, ward_grants_some_fn *some, void *user, struct ward_granted *ret)
{
	int r;

	pthread_mutex_lock(&nodes->lock);
	r = match_some(
		nodes, parent == &nodes->root ? NULL : parent->names, name, pid, some, user, ret);
	pthread_mutex_unlock(&nodes->lock);
	return r;
}
