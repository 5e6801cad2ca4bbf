/* SPDX-License-Identifier: Apache-2.0 */
/* What the tables know of the links of files with many names, and what makes it doubtful. */
#include "fs/node/node_links.h"

#include <string.h>

#include "enforcer/base/clock.h"
#include "fs/base/fuse_kernel.h"

bool ward_links_sure(const struct ward_nodes *nodes, const struct ward_several *s)
{
	return s && s->sure && s->sure_gen == nodes->dirs_gen && !nodes->n_removals;
}

/* Locked: is there a watch on each directory from the root to the name? */
static bool is_watched(const struct ward_nodes *nodes, const struct ward_name *n)
{
	for (const struct ward_node *dir = n->parent;; dir = dir->names->parent) {
		if (!dir->dir->watched)
			return false;
		if (dir == &nodes->root)
			return true;
		if (!ward_node_first_name(dir))
			return false;
	}
}

bool ward_links_watched(const struct ward_nodes *nodes, const struct ward_several *s)
{
	const struct ward_node *last = NULL;

	for (uint32_t i = s->first; i < s->end; i++) {
		if (!s->v[i] || s->v[i]->parent == last)
			continue;
		if (!is_watched(nodes, s->v[i]))
			return false;
		last = s->v[i]->parent;
	}
	return true;
}

void ward_links_removal(struct ward_nodes *nodes, bool begins)
{
	pthread_mutex_lock(&nodes->lock);
	nodes->n_removals += begins ? 1 : -1;
	pthread_mutex_unlock(&nodes->lock);
}

struct ward_links_step ward_links_step_begin(struct ward_nodes *nodes, const struct ward_node *node)
{
	struct ward_links_step step = {.sure = false};

	pthread_mutex_lock(&nodes->lock);
	if (ward_links_sure(nodes, node->several)) {
		step.sure = true;
		step.doubts = node->several->doubts;
		step.dirs_gen = nodes->dirs_gen;
		step.seen = nodes->links_seen;
		/* What comes between is looked through. */
		atomic_fetch_add(&nodes->n_sure, 1);
	}
	pthread_mutex_unlock(&nodes->lock);
	return step;
}

void ward_links_step_end(
	struct ward_nodes *nodes, struct ward_node *node, const struct ward_links_step *step)
{
	struct ward_several *s;

	if (!step->sure)
		return;
	pthread_mutex_lock(&nodes->lock);
	s = node->several;
	/* The new name, which is the newest, was the one doubt. */
	if (s && s->doubts == step->doubts + 1 && nodes->links_seen == step->seen &&
		nodes->dirs_gen == step->dirs_gen && is_watched(nodes, node->names))
		ward_node_names_sure(nodes, s);
	pthread_mutex_unlock(&nodes->lock);
	atomic_fetch_sub(&nodes->n_sure, 1);
}

bool ward_links_ask(const struct ward_nodes *nodes)
{
	return atomic_load(&nodes->n_sure) > 0;
}

void ward_links_changed(struct ward_nodes *nodes, uint64_t dir, const char *name)
{
	struct ward_node *node;
	struct ward_name *n;

	pthread_mutex_lock(&nodes->lock);
	nodes->links_seen++;
	node = dir == FUSE_ROOT_ID ? &nodes->root : ward_node_ids_find(&nodes->ids, dir);
	n = node ? ward_nodes_find(nodes, node, name, strlen(name)) : NULL;
	if (n && n->node->dir) {
		/* A look at what lies beneath first checks that the directory still exists. */
		n->node->dir->checked_ns = 0;
		nodes->dirs_gen++;
	} else if (n && n->node->several)
		ward_node_names_doubt(nodes, n->node->several);
	pthread_mutex_unlock(&nodes->lock);
}

void ward_links_lost(struct ward_nodes *nodes)
{
	pthread_mutex_lock(&nodes->lock);
	nodes->links_seen++;
	nodes->dirs_gen++;
	nodes->links_lost_ns = ward_clock_mono_ns();
	pthread_mutex_unlock(&nodes->lock);
}
