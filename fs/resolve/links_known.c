/* SPDX-License-Identifier: Apache-2.0 */
/* Looks whether all links of a file are names that are known, and remembers it. */
#include "fs/resolve/links_known.h"

#include <stdlib.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"
#include "fs/kernel/forget_queue.h"
#include "fs/node/node_links.h"
#include "fs/resolve/resolve_node.h"
#include "fs/watch/backing_watch.h"

/* Names that a file may get before they are looked at, and how often that is done where they
 * change. */
#define MORE 16U
#define TRIES 8U
/* Of fewer names it is not worth to remember anything. */
#define MANY 16U

/* --- a look at all of them --- */

static bool same_time(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

/* Links that come and go change ctime alone; what is written changes both times. */
static bool relinked(const struct stat *a, const struct stat *b)
{
	return a->st_nlink != b->st_nlink ||
	       (!same_time(&a->st_ctim, &b->st_ctim) && same_time(&a->st_mtim, &b->st_mtim));
}

/* Does the name lead to the file? */
static bool leads_to(
	struct ward_fs_tree *tree, const struct ward_node *node, const struct ward_place *place)
{
	struct ward_dirref dir = {0};
	struct ward_file file = {.id = {0}};
	int r = ward_resolve_dir(tree, place->parent, &dir);

	if (r == 0)
		r = ward_backing_there(dir.fd, place->name);
	if (r == 0)
		r = ward_backing_stat(tree, dir.fd, place->name, &file);
	ward_dirref_put(tree, &dir);
	return r == 0 && ward_file_id_equal(&file.id, &node->id);
}

/*
 * All names are taken at once: while they are looked at, others may come before them. False: links
 * came or went meanwhile.
 */
static bool count_links(struct ward_fs_tree *tree, struct ward_node *node, size_t max,
	uint64_t *ret_nlink, uint64_t *ret_names)
{
	ward_cleanup_free struct ward_place *places = calloc(max, sizeof(*places));
	const size_t n = places ? ward_node_places(tree->nodes, node, 0, places, max) : 0;
	struct ward_file before, after;
	int r = ward_resolve_stat(tree, node, &before);

	*ret_names = 0;
	for (size_t i = 0; i < n; i++) {
		*ret_names += r == 0 && leads_to(tree, node, &places[i]);
		ward_place_put(tree->nodes, &places[i]);
	}
	if (r == 0)
		r = ward_resolve_stat(tree, node, &after);
	if (r != 0)
		return false;
	*ret_nlink = (uint64_t)after.st.st_nlink;
	return !relinked(&before.st, &after.st);
}

/* How many names lead to it, if those are all of its links; else 0. */
static uint64_t look(struct ward_fs_tree *tree, struct ward_node *node, size_t n_names)
{
	uint64_t nlink = 0, names = 0;
	bool steady = false;

	for (unsigned tries = 0; !steady && tries < TRIES; tries++) {
		/* No rename or link of ours is half done; read locks nest (by_names_surely). */
		pthread_rwlock_rdlock(&tree->nodes->renames_lock);
		steady = count_links(tree, node, n_names + MORE, &nlink, &names);
		pthread_rwlock_unlock(&tree->nodes->renames_lock);
	}
	return steady && nlink <= names ? names : 0;
}

/* --- what is known of many --- */

/* What is in the queue of the watches by now is heeded afterwards. */
static void heed(struct ward_fs_tree *tree)
{
	if (ward_watch_pull(tree))
		ward_forget_wake(tree->forget);
}

/*
 * Was it sure, and is it still? The links are counted between two looks at the names. If a removal
 * inside took a link away before the count, it has removed its name before the second look.
 */
static bool still_sure(struct ward_fs_tree *tree, struct ward_node *node)
{
	struct ward_nodes *nodes = tree->nodes;
	struct ward_file file;
	bool sure;

	/* No rename or link of ours is half done. */
	pthread_rwlock_rdlock(&nodes->renames_lock);
	pthread_mutex_lock(&nodes->lock);
	sure = ward_links_sure(nodes, node->several);
	pthread_mutex_unlock(&nodes->lock);
	if (sure && ward_resolve_stat(tree, node, &file) == 0) {
		heed(tree);
		pthread_mutex_lock(&nodes->lock);
		sure = ward_links_sure(nodes, node->several) &&
		       node->several->n == file.st.st_nlink;
		pthread_mutex_unlock(&nodes->lock);
	} else {
		sure = false;
	}
	pthread_rwlock_unlock(&nodes->renames_lock);
	return sure;
}

/* A look whose outcome is remembered, if nothing came between. */
static bool look_and_remember(struct ward_fs_tree *tree, struct ward_node *node, size_t n_names)
{
	struct ward_nodes *nodes = tree->nodes;
	struct ward_several *s;
	uint64_t doubts = 0, dirs_gen = 0, names;
	bool watched;

	/* From here on, each reader of an event looks it through. */
	atomic_fetch_add(&nodes->n_sure, 1);
	heed(tree);
	pthread_mutex_lock(&nodes->lock);
	s = node->several;
	/* After a loss, directories are where they were once they were looked at again. */
	watched = s && ward_links_watched(nodes, s) &&
		  (!nodes->links_lost_ns ||
			  ward_clock_mono_ns() - nodes->links_lost_ns > 2 * WARD_RESOLVE_FRESH_NS);
	if (watched) {
		doubts = s->doubts;
		dirs_gen = nodes->dirs_gen;
	}
	pthread_mutex_unlock(&nodes->lock);
	names = look(tree, node, n_names);
	if (watched && names) {
		heed(tree);
		pthread_mutex_lock(&nodes->lock);
		s = node->several;
		/* Each of them leads there: none is left that could stand for another link. */
		if (s && s->doubts == doubts && nodes->dirs_gen == dirs_gen && s->n == names)
			ward_node_names_sure(nodes, s);
		pthread_mutex_unlock(&nodes->lock);
	}
	atomic_fetch_sub(&nodes->n_sure, 1);
	return names;
}

bool ward_links_known(
	struct ward_fs_tree *tree, struct ward_node *node, uint64_t nlink, size_t n_names)
{
	if (n_names < MANY || !tree->watch)
		return look(tree, node, n_names);
	return (nlink == n_names && still_sure(tree, node)) ||
	       look_and_remember(tree, node, n_names);
}
