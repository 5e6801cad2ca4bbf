/* SPDX-License-Identifier: Apache-2.0 */
/* Counts who can write to a file, and refuses names where that would be too much. */
#include "fs/handle/writers.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "enforcer/base/clock.h"
#include "fs/handle/written_nodes.h"
#include "fs/kernel/forget_queue.h"
#include "fs/node/node_grants.h"
#include "fs/node/node_names.h"

/*
 * Names that one check walks up, past which the answer is no: a command can have many files open
 * deep down, and each rename above them would cost the guard all of that.
 */
#define STEPS_MAX (1U << 20)

static bool writes(const struct ward_handle *h)
{
	return (h->flags & O_ACCMODE) != O_RDONLY && !h->append_only;
}

/* Locked. */
static void count_writer(struct ward_nodes *nodes, struct ward_handle *h)
{
	h->writes = true;
	h->node->n_writers++;
	if (ward_handle_maps_past(h))
		h->node->mapped = true;
	ward_written_add(nodes, h->node);
}

void ward_writers_add(struct ward_nodes *nodes, struct ward_handle *h)
{
	bool forget;

	if ((h->flags & O_ACCMODE) == O_RDONLY)
		return;
	pthread_mutex_lock(&nodes->lock);
	h->writing = true;
	h->node->n_writing++;
	h->passing = h->io == WARD_IO_PASSTHROUGH || h->paired;
	nodes->n_passing += h->passing;
	forget = h->node->kept;
	h->node->kept = false;
	if (writes(h))
		count_writer(nodes, h);
	pthread_mutex_unlock(&nodes->lock);
	if (forget)
		ward_forget_attr(nodes->tree->forget, ward_node_to_ino(nodes, h->node));
}

/* The same where a grant gave the right. */
static int confirm_granted(struct ward_nodes *nodes, const struct ward_handle *h)
{
	uint32_t rights = WARD_RIGHTS_ALL;
	struct ward_node_grants g;
	int r;

	pthread_rwlock_rdlock(&nodes->renames_lock);
	r = ward_node_grants(nodes, h->node, h->pid, &g);
	pthread_rwlock_unlock(&nodes->renames_lock);
	for (size_t i = 0; r == 0 && i < g.n; i++)
		/* Its last use may have been this one. */
		rights &=
			ward_policy_rights_held(nodes->tree->fs->policy, g.states[i], &g.grants[i]);
	ward_node_grants_put(nodes, &g);
	if (r < 0)
		return r;
	return rights & WARD_RIGHT_WRITE ? 0 : -ESTALE;
}

static uint32_t rights_of(const struct ward_nodes *nodes, const struct ward_state *s)
{
	const struct ward_policy *p = nodes->tree->fs->policy;

	return nodes->tree->stages ? ward_policy_rights_staged(p, s) : ward_policy_rights(p, s);
}

int ward_writers_confirm(struct ward_nodes *nodes, const struct ward_handle *h)
{
	struct ward_states states;
	uint32_t rights = WARD_RIGHTS_ALL;
	int r;

	if (!h->writes)
		return 0;
	if (h->n_held)
		return confirm_granted(nodes, h);
	pthread_rwlock_rdlock(&nodes->renames_lock);
	r = ward_node_states(nodes, h->node, &states);
	pthread_rwlock_unlock(&nodes->renames_lock);
	if (r < 0)
		return r;
	for (size_t i = 0; i < states.n; i++)
		rights &= rights_of(nodes, states.v[i]);
	ward_states_put(nodes, &states);
	return rights & WARD_RIGHT_WRITE ? 0 : -ESTALE;
}

/* Locked: are its writers only those whose end may be on its way? */
static bool ending(const struct ward_node *node)
{
	for (const struct ward_handle *h = node->handles; h; h = h->next)
		if (h->writes && !atomic_load(&h->flushed))
			return false;
	return !node->mapped;
}

/* Locked. -EXDEV; -EBUSY where that may be over in a moment. */
static int check_state(
	const struct ward_nodes *nodes, const struct ward_node *node, const struct ward_state *to)
{
	if (!node->n_writers && !node->mapped)
		return 0;
	if (rights_of(nodes, to) & WARD_RIGHT_WRITE)
		return 0;
	return ending(node) ? -EBUSY : -EXDEV;
}

/* Locked: name n lies `depth` names beneath a directory that comes to `to`. */
static int check_beneath(const struct ward_nodes *nodes, const struct ward_name *n, size_t depth,
	const struct ward_state *to)
{
	struct ward_policy *policy = nodes->tree->fs->policy;
	const struct ward_name **way = calloc(depth, sizeof(const struct ward_name *));
	const struct ward_node *node = n->node;
	const struct ward_state *state = ward_policy_state_get(to);
	int r = way ? 0 : -ENOMEM;

	for (size_t i = depth; r == 0 && i-- > 0; n = n->parent->names)
		way[i] = n;
	for (size_t i = 0; r == 0 && i < depth; i++) {
		const struct ward_state *next;

		r = ward_policy_step(policy, state, way[i]->text, way[i]->len, &next);
		if (r < 0)
			break;
		ward_policy_state_put(policy, state);
		state = next;
	}
	if (r == 0)
		r = check_state(nodes, node, state);
	ward_policy_state_put(policy, state);
	free(way);
	return r;
}

/* Locked: how many names n is beneath dir, 0: it is not. Counts in *io_steps. */
static size_t depth_beneath(const struct ward_nodes *nodes, const struct ward_name *n,
	const struct ward_node *dir, size_t *io_steps)
{
	for (size_t depth = 1; n && n->live; n = n->parent->names, depth++) {
		++*io_steps;
		if (n->parent == dir)
			return depth;
		if (n->parent == &nodes->root)
			break;
	}
	return 0;
}

/* Locked: file can be written to; where it is beneath dir, it comes beneath `to`. */
static int check_file(const struct ward_nodes *nodes, const struct ward_node *file,
	const struct ward_node *dir, const struct ward_state *to, size_t *io_steps)
{
	int r = 0;

	++*io_steps;
	for (const struct ward_name *n = file->names; r == 0 && n; n = ward_node_name_older(n)) {
		const size_t depth = depth_beneath(nodes, n, dir, io_steps);

		if (depth)
			r = check_beneath(nodes, n, depth, to);
		if (*io_steps > STEPS_MAX)
			return -EXDEV;
	}
	return r;
}

/* Locked. */
static int check_dir(
	struct ward_nodes *nodes, const struct ward_node *dir, const struct ward_state *to)
{
	const struct ward_node *file;
	uint64_t at = 0;
	size_t steps = 0;
	int r = 0;

	while (r == 0 && (file = ward_written_next(nodes, &at)))
		r = check_file(nodes, file, dir, to, &steps);
	return r;
}

/* Locked. */
static int check_name(struct ward_nodes *nodes, const struct ward_node *parent, const char *name,
	const struct ward_state *to)
{
	const struct ward_name *n = ward_nodes_find(nodes, parent, name, strlen(name));

	if (!n)
		return 0;
	return n->node->dir ? check_dir(nodes, n->node, to) : check_state(nodes, n->node, to);
}

/* name NULL: node itself, which gets a further name. */
static int check(struct ward_nodes *nodes, const struct ward_node *node, const char *name,
	const struct ward_state *to, bool await)
{
	struct ward_ends ends = ward_ends_begin();
	uint64_t seen;
	int r;

	pthread_mutex_lock(&nodes->lock);
	do {
		seen = nodes->n_ended;
		r = name ? check_name(nodes, node, name, to) : check_state(nodes, node, to);
	} while (r == -EBUSY && await && ward_ends_await(nodes, &ends, seen));
	pthread_mutex_unlock(&nodes->lock);
	return r == -EBUSY ? -EXDEV : r;
}

int ward_writers_check(struct ward_nodes *nodes, const struct ward_node *node, const char *name,
	const struct ward_state *to)
{
	return check(nodes, node, name, to, false);
}

void ward_writers_settle(struct ward_nodes *nodes, const struct ward_node *node, const char *name,
	const struct ward_state *to)
{
	if (ward_ends_late(nodes->tree))
		(void)check(nodes, node, name, to, true);
}
