/* SPDX-License-Identifier: Apache-2.0 */
/* Open files and directories: made, counted at their nodes, released. */
#include "fs/handle/handle.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "enforcer/base/clock.h"
#include "enforcer/policy/grants.h"
#include "fs/kernel/uring.h"
#include "fs/quota/quota.h"
#include "fs/review/review.h"
#include "fs/watch/backing_watch.h"

/* Handles of one file that are exchanged at once. */
#define FRESH_MAX 64U

const char *ward_io_name(enum ward_io io)
{
	switch (io) {
	case WARD_IO_NONE:
		return "none";
	case WARD_IO_CACHED:
		return "cached";
	case WARD_IO_DIRECT:
		return "direct";
	case WARD_IO_PASSTHROUGH:
		return "passthrough";
	}
	return "?";
}

bool ward_handle_holds(const struct ward_handle *h)
{
	const uint64_t now = ward_clock_boot_ns();

	for (unsigned i = 0; i < h->n_held; i++)
		if (!ward_held_holds(h->held[i], now))
			return false;
	return true;
}

static bool same_time(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

bool ward_handle_seen(struct ward_nodes *nodes, struct ward_handle *h, const struct stat *st)
{
	bool same;

	pthread_mutex_lock(&nodes->lock);
	same = same_time(&h->seen_mtime, &st->st_mtim) && same_time(&h->seen_ctime, &st->st_ctim);
	h->seen_mtime = st->st_mtim;
	h->seen_ctime = st->st_ctim;
	pthread_mutex_unlock(&nodes->lock);
	return !same;
}

/* A lock that was taken by the old description stays: a copy of it is kept. */
static void fresh(struct ward_handle *h)
{
	if (h->lock_fd < 0 && atomic_load(&h->locked))
		h->lock_fd = fcntl(h->fd, F_DUPFD_CLOEXEC, 0);
	(void)!ward_review_fresh(ward_backing_staged(), h->fd);
}

void ward_handles_fresh(struct ward_nodes *nodes, const struct ward_file_id *id)
{
	struct ward_handle *v[FRESH_MAX];
	size_t n;
	size_t done = 0;

	do {
		size_t at = 0;

		n = 0;
		pthread_mutex_lock(&nodes->lock);
		for (struct ward_handle *h = ward_node_handles(nodes, id); h && n < FRESH_MAX;
			h = h->next) {
			if (at++ < done)
				continue;
			h->refs++;
			v[n++] = h;
		}
		pthread_mutex_unlock(&nodes->lock);
		for (size_t i = 0; i < n; i++) {
			fresh(v[i]);
			ward_handle_put(nodes, v[i]);
		}
		done += n;
	} while (n == FRESH_MAX);
}

int ward_handle_new(struct ward_nodes *nodes, struct ward_node *node, int fd, uid_t uid,
	struct ward_handle **ret)
{
	struct ward_shares *shares = nodes->tree->fs->shares;
	struct ward_handle *h;

	if (!ward_share_take(shares, WARD_SHARE_OPEN, uid, 1)) {
		close(fd);
		return -ENFILE;
	}
	h = calloc(1, sizeof(*h));
	if (!h) {
		ward_share_give(shares, WARD_SHARE_OPEN, uid, 1);
		close(fd);
		return -ENOMEM;
	}
	h->fd = fd;
	h->lock_fd = -1;
	h->uid = uid;
	h->refs = 1;
	h->node = node;
	pthread_mutex_init(&h->dir_lock, NULL);
	pthread_mutex_lock(&nodes->lock);
	node->refs++;
	h->next = node->handles;
	node->handles = h;
	LIST_INSERT_HEAD(&nodes->handles, h, all);
	pthread_mutex_unlock(&nodes->lock);
	/* From here on ward_handles_fresh() finds it; what was staged before is looked for here. */
	if (ward_backing_staged()) {
		fresh(h);
		h->lock_fd = ward_review_lock_fd(ward_backing_staged(), h->fd);
	}
	*ret = h;
	return 0;
}

struct ward_handle *ward_handle_any(struct ward_nodes *nodes, struct ward_node *node)
{
	struct ward_handle *h;

	pthread_mutex_lock(&nodes->lock);
	h = node->handles;
	if (h)
		h->refs++;
	pthread_mutex_unlock(&nodes->lock);
	return h;
}

struct ward_handle *ward_handle_take_left(struct ward_nodes *nodes)
{
	struct ward_handle *h;

	pthread_mutex_lock(&nodes->lock);
	h = LIST_FIRST(&nodes->handles);
	if (h)
		LIST_REMOVE(h, all);
	pthread_mutex_unlock(&nodes->lock);
	return h;
}

void ward_handle_put(struct ward_nodes *nodes, struct ward_handle *h)
{
	bool last;

	pthread_mutex_lock(&nodes->lock);
	last = --h->refs == 0;
	pthread_mutex_unlock(&nodes->lock);
	if (!last)
		return;
	close(h->fd);
	if (h->lock_fd >= 0)
		close(h->lock_fd);
	ward_share_give(nodes->tree->fs->shares, WARD_SHARE_OPEN, h->uid, 1);
	ward_quota_put(nodes->tree->fs->quotas, h->quota);
	ward_node_unpin(nodes, h->node);
	pthread_mutex_destroy(&h->dir_lock);
	free(h->owners);
	free(h->dir_buf);
	free(h);
}

/* Locked. */
static void note_passed(struct ward_nodes *nodes, uint64_t number)
{
	struct ward_passed *p = &nodes->passed_by[number % WARD_NODE_PASSED];

	if (p->number != number)
		nodes->passed_others =
			p->round > nodes->passed_others ? p->round : nodes->passed_others;
	*p = (struct ward_passed){.number = number, .round = nodes->passed};
}

uint64_t ward_handle_passed(const struct ward_nodes *nodes, uint64_t number)
{
	const struct ward_passed *p = &nodes->passed_by[number % WARD_NODE_PASSED];

	return p->number == number ? p->round : nodes->passed_others;
}

void ward_handle_release(struct ward_nodes *nodes, struct ward_handle *h)
{
	struct ward_handle **at;
	bool unmute = false;

	pthread_mutex_lock(&nodes->lock);
	for (at = &h->node->handles; *at && *at != h; at = &(*at)->next)
		;
	if (*at)
		*at = h->next;
	LIST_REMOVE(h, all);
	nodes->n_ended++;
	if (h->writes)
		h->node->n_writers--;
	if (h->passing) {
		nodes->n_passing--;
		nodes->passed = ward_watch_round(nodes->tree->watch) + 1;
		note_passed(nodes, h->node->number);
	}
	/* Muted until the mark is off: its attributes are not kept meanwhile. */
	if (h->writing && !--h->node->n_writing)
		unmute = h->node->muted;
	if (h->retired)
		; /* of an inode that the node has left */
	else if (h->io == WARD_IO_PASSTHROUGH || h->paired)
		h->node->n_pass--;
	else if (h->io == WARD_IO_CACHED)
		h->node->n_cached--;
	if (!h->node->dir && !h->node->handles && !ward_node_first_name(h->node)) {
		h->node->nlink = 0;
		ward_node_check_gone(h->node);
	}
	if (nodes->n_awaiting)
		pthread_cond_broadcast(&nodes->ended);
	pthread_mutex_unlock(&nodes->lock);
	if (unmute) {
		ward_watch_unmute(nodes->tree, h->fd);
		pthread_mutex_lock(&nodes->lock);
		h->node->muted = false;
		pthread_mutex_unlock(&nodes->lock);
	}
	ward_handle_put(nodes, h);
}

bool ward_ends_late(const struct ward_fs_tree *tree)
{
	return ward_uring_active(tree->uring) || tree->fs->hash != WARD_HASH_NONE;
}

uint64_t ward_ends_seen(struct ward_nodes *nodes)
{
	uint64_t seen;

	pthread_mutex_lock(&nodes->lock);
	seen = nodes->n_ended;
	pthread_mutex_unlock(&nodes->lock);
	return seen;
}

struct ward_ends ward_ends_begin(void)
{
	return (struct ward_ends){
		.until_ns = ward_clock_mono_ns() + WARD_ENDS_NS, .rounds = WARD_ENDS_ROUNDS};
}

/* Has everything been served that was queued as the wait began, and once more? */
static bool all_served(const struct ward_fs_tree *tree, struct ward_ends *e)
{
	if (tree->fs->hash != WARD_HASH_NONE || !ward_uring_active(tree->uring))
		return false;
	while (e->rounds && (!e->ticket || ward_uring_passed(tree->uring, e->ticket))) {
		if (e->ticket && --e->rounds == 0)
			break;
		e->ticket = ward_uring_ask(tree->uring);
	}
	return !e->rounds;
}

bool ward_ends_await(struct ward_nodes *nodes, struct ward_ends *io_ends, uint64_t seen)
{
	const struct timespec until = {.tv_sec = (time_t)(io_ends->until_ns / 1000000000U),
		.tv_nsec = (long)(io_ends->until_ns % 1000000000U)};
	int r = 0;

	if (!io_ends->rounds || ward_clock_mono_ns() >= io_ends->until_ns)
		return false;
	nodes->n_awaiting++;
	while (nodes->n_ended == seen && !all_served(nodes->tree, io_ends) && r == 0)
		r = pthread_cond_timedwait(&nodes->ended, &nodes->lock, &until);
	nodes->n_awaiting--;
	return nodes->n_ended != seen;
}

void ward_ends_look(struct ward_nodes *nodes)
{
	pthread_mutex_lock(&nodes->lock);
	if (nodes->n_awaiting)
		pthread_cond_broadcast(&nodes->ended);
	pthread_mutex_unlock(&nodes->lock);
}
