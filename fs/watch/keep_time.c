/* SPDX-License-Identifier: Apache-2.0 */
/* Decides how long the kernel may keep an answer. */
#include "fs/watch/keep_time.h"

#include <sys/stat.h>

#include "enforcer/policy/grants.h"
#include "fs/kernel/forget_queue.h"
#include "fs/watch/backing_watch.h"

/* Locked. */
static bool covers(const struct ward_nodes *nodes, const struct ward_node *dir, uint64_t since)
{
	return !atomic_load(&nodes->tree->stalled) && ward_watch_covers(dir, since);
}

/* Locked. */
static double attr(struct ward_nodes *nodes, struct ward_node *node, const struct ward_node *parent,
	uint64_t nlink, uint64_t since)
{
	const struct ward_node *watched = node->dir ? node : parent;

	/* Nobody tells what the host writes: each read beyond the known end asks. */
	if (nodes->tree->files)
		return 0;
	if (!watched || !covers(nodes, watched, since))
		return WARD_KEEP_SHORT;
	if (!node->dir && (nlink != 1 || node->n_writing || node->muted || node->mapped))
		return WARD_KEEP_SHORT;
	node->kept = true;
	return WARD_KEEP_LONG;
}

struct ward_keep ward_keep_name(
	struct ward_nodes *nodes, struct ward_node *parent, struct ward_node *node, uint64_t since)
{
	struct ward_keep keep;

	pthread_mutex_lock(&nodes->lock);
	keep.entry = covers(nodes, parent, since) ? WARD_KEEP_LONG : WARD_KEEP_SHORT;
	keep.attr = attr(nodes, node, parent, node->nlink, since);
	pthread_mutex_unlock(&nodes->lock);
	return keep;
}

double ward_keep_attr(
	struct ward_nodes *nodes, struct ward_node *node, const struct stat *st, uint64_t since)
{
	const struct ward_name *name;
	double seconds;

	pthread_mutex_lock(&nodes->lock);
	name = ward_node_first_name(node);
	seconds = attr(nodes, node, name ? name->parent : NULL, st->st_nlink, since);
	pthread_mutex_unlock(&nodes->lock);
	return seconds;
}

void ward_keep_opened(struct ward_nodes *nodes, struct ward_node *node, const struct stat *st)
{
	bool forget;

	if (st->st_nlink <= 1)
		return;
	pthread_mutex_lock(&nodes->lock);
	forget = node->kept;
	node->kept = false;
	pthread_mutex_unlock(&nodes->lock);
	if (forget)
		ward_forget_attr(nodes->tree->forget, ward_node_to_ino(nodes, node));
}

bool ward_keep_writing(struct ward_nodes *nodes, const struct ward_node *node)
{
	bool writing;

	pthread_mutex_lock(&nodes->lock);
	writing = node->n_writing || node->mapped;
	pthread_mutex_unlock(&nodes->lock);
	return writing;
}

bool ward_keep_listing(struct ward_nodes *nodes, const struct ward_node *dir)
{
	bool watched;

	pthread_mutex_lock(&nodes->lock);
	/* Names that a grant shows disappear at its end. */
	watched = covers(nodes, dir, UINT64_MAX) && !ward_grants_any(nodes->tree->fs->grants);
	pthread_mutex_unlock(&nodes->lock);
	return watched;
}

double ward_keep_absent(
	struct ward_nodes *nodes, struct ward_node *parent, bool visible, uint64_t since)
{
	bool covered;

	/* Each look at a name that rules hide comes here again: each one is recorded. */
	if (!visible)
		return 0;
	/* wardfs has no table of missing names, so only the kernel can forget them all at once. */
	if (!nodes->tree->epoch)
		return WARD_KEEP_SHORT;
	pthread_mutex_lock(&nodes->lock);
	covered = covers(nodes, parent, since);
	pthread_mutex_unlock(&nodes->lock);
	return covered ? WARD_KEEP_LONG : WARD_KEEP_SHORT;
}
