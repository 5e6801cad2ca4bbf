/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/notify.h"

#include <fuse3/fuse_lowlevel.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define QUEUE_MAX 256
#define BATCH 64

struct ward_notify {
	struct ward_fs_tree *tree;
	pthread_t thread;
	pthread_mutex_t lock; /* protects the rest; innermost */
	pthread_cond_t wake;
	struct ward_node *queue[QUEUE_MAX]; /* pinned */
	size_t first, n;
	bool stop;
};

struct batch {
	char names[BATCH][NAME_MAX + 1];
	size_t n;
};

/* Children of dir in the name table from bucket *at on. */
static void collect(
	struct ward_nodes *nodes, const struct ward_node *dir, size_t *at, struct batch *ret)
{
	ret->n = 0;
	pthread_mutex_lock(&nodes->lock);
	for (; *at <= nodes->mask_names; (*at)++) {
		size_t before = ret->n;

		for (struct ward_name *n = nodes->names[*at]; n; n = n->hash_next) {
			if (n->parent != dir)
				continue;
			if (ret->n == BATCH) {
				/* The bucket once more, from its start, in the next batch. */
				ret->n = before ? before : BATCH;
				*at += before ? 0 : 1;
				goto out;
			}
			memcpy(ret->names[ret->n++], n->text, n->len + 1U);
		}
	}
out:
	pthread_mutex_unlock(&nodes->lock);
}

static void invalidate(struct ward_fs_tree *tree, struct ward_node *dir)
{
	const uint64_t ino = ward_node_to_ino(tree->nodes, dir);
	struct batch *b = malloc(sizeof(*b));
	size_t at = 0;

	(void)fuse_lowlevel_notify_inval_inode(tree->se, ino, -1, 0);
	if (!b)
		return;
	for (;;) {
		collect(tree->nodes, dir, &at, b);
		if (!b->n)
			break;
		for (size_t i = 0; i < b->n; i++)
			(void)fuse_lowlevel_notify_inval_entry(
				tree->se, ino, b->names[i], strlen(b->names[i]));
		if (at > tree->nodes->mask_names)
			break;
	}
	free(b);
}

static void *run(void *arg)
{
	struct ward_notify *n = arg;

	pthread_mutex_lock(&n->lock);
	for (;;) {
		struct ward_node *dir;

		while (!n->n && !n->stop)
			pthread_cond_wait(&n->wake, &n->lock);
		if (n->stop)
			break;
		dir = n->queue[n->first];
		n->first = (n->first + 1) % QUEUE_MAX;
		n->n--;
		pthread_mutex_unlock(&n->lock);
		invalidate(n->tree, dir);
		ward_node_unpin(n->tree->nodes, dir);
		pthread_mutex_lock(&n->lock);
	}
	pthread_mutex_unlock(&n->lock);
	return NULL;
}

int ward_notify_new(struct ward_fs_tree *tree, struct ward_notify **ret, struct ward_err *err)
{
	struct ward_notify *n = calloc(1, sizeof(*n));
	int r;

	if (!n)
		return ward_err_sys(err, -ENOMEM, "notifications");
	n->tree = tree;
	pthread_mutex_init(&n->lock, NULL);
	pthread_cond_init(&n->wake, NULL);
	r = pthread_create(&n->thread, NULL, run, n);
	if (r) {
		free(n);
		return ward_err_sys(err, -r, "notifications: thread");
	}
	*ret = n;
	return 0;
}

void ward_notify_free(struct ward_notify *n)
{
	if (!n)
		return;
	pthread_mutex_lock(&n->lock);
	n->stop = true;
	pthread_cond_signal(&n->wake);
	pthread_mutex_unlock(&n->lock);
	pthread_join(n->thread, NULL);
	for (; n->n; n->n--, n->first = (n->first + 1) % QUEUE_MAX)
		ward_node_unpin(n->tree->nodes, n->queue[n->first]);
	pthread_mutex_destroy(&n->lock);
	pthread_cond_destroy(&n->wake);
	free(n);
}

void ward_notify_dir(struct ward_notify *n, struct ward_node *dir)
{
	bool queued = false;

	ward_node_pin(n->tree->nodes, dir);
	pthread_mutex_lock(&n->lock);
	if (n->n < QUEUE_MAX) {
		n->queue[(n->first + n->n++) % QUEUE_MAX] = dir;
		queued = true;
		pthread_cond_signal(&n->wake);
	}
	pthread_mutex_unlock(&n->lock);
	if (!queued)
		ward_node_unpin(n->tree->nodes, dir);
}
