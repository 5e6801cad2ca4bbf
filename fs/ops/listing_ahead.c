/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the listing that will be asked for next, while there is time. */
#include "fs/ops/listing_ahead.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "enforcer/base/clock.h"
#include "fs/base/fuse_kernel.h"
#include "fs/base/request_turn.h"
#include "fs/resolve/resolve_node.h"
#include "fs/watch/backing_watch.h"

/* Entries a step. */
#define STEP 6U
/* Directories that were listed already are passed over, up to so many. */
#define TRIES 16U
/* What is older is not used. */
#define OLD_NS UINT64_C(20000000)
/* Listings that were given to their end, whose readers have not asked for more yet. */
#define ENDED_MAX 8U
/* Changes make walks unlikely: so many requests without one before anything is prepared. */
#define CALM 32U

enum state { IDLE, WANTED, FILLING, READY };

struct ward_ahead {
	struct ward_fs_tree *tree;
	pthread_mutex_t lock; /* protects the rest; before nodes->lock */
	enum state state;
	uint64_t number; /* of the directory */
	int64_t from;	 /* where the answer begins, on the backing */
	size_t size;	 /* as it was asked for last */
	struct ward_op op;
	struct ward_handle *h;
	struct ward_listing l;
	uint64_t outside; /* tree->outside_seq when it was begun */
	uint64_t begun_ns;
	unsigned calm;	     /* requests since the last change */
	unsigned n_changing; /* requests under way that change something */
	struct {
		uint64_t number; /* of the directory, 0: none */
		int64_t off;	 /* of its end */
	} ended[ENDED_MAX];
	unsigned next_ended; /* the one to be overwritten */
};

int ward_ahead_new(struct ward_fs_tree *tree, struct ward_ahead **ret, struct ward_err *err)
{
	struct ward_ahead *a = calloc(1, sizeof(*a));

	if (!a)
		return ward_err_sys(err, -ENOMEM, "listings");
	a->tree = tree;
	pthread_mutex_init(&a->lock, NULL);
	*ret = a;
	return 0;
}

static void drop(struct ward_ahead *a)
{
	if (a->state == FILLING || a->state == READY) {
		ward_listing_give_back(a->tree, &a->l);
		free(a->l.buf);
		ward_handle_release(a->tree->nodes, a->h);
		a->l = (struct ward_listing){.buf = NULL};
		a->h = NULL;
	}
	a->state = IDLE;
}

void ward_ahead_free(struct ward_ahead *a)
{
	if (!a)
		return;
	drop(a);
	pthread_mutex_destroy(&a->lock);
	free(a);
}

static bool changes(const char *msg, size_t len)
{
	const struct fuse_in_header *in = (const void *)msg;
	const struct fuse_open_in *open = (const void *)(in + 1);

	if (len < sizeof(*in))
		return true;
	switch (in->opcode) {
	case FUSE_LOOKUP:
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_GETATTR:
	case FUSE_READLINK:
	case FUSE_READ:
	case FUSE_STATFS:
	case FUSE_RELEASE:
	case FUSE_GETXATTR:
	case FUSE_LISTXATTR:
	case FUSE_FLUSH:
	case FUSE_OPENDIR:
	case FUSE_READDIR:
	case FUSE_READDIRPLUS:
	case FUSE_RELEASEDIR:
	case FUSE_ACCESS:
	case FUSE_INTERRUPT:
	case FUSE_LSEEK:
	case FUSE_FSYNC:
	case FUSE_FSYNCDIR:
	case FUSE_GETLK:
	case FUSE_SETLK:
	case FUSE_SETLKW:
		return false;
	case FUSE_OPEN:
		return len < sizeof(*in) + sizeof(*open) || (open->flags & O_ACCMODE) != O_RDONLY ||
		       open->flags & O_TRUNC;
	default:
		return true;
	}
}

bool ward_ahead_begin(struct ward_ahead *a, const char *msg, size_t len)
{
	const bool spoils = a && changes(msg, len);

	if (!a)
		return false;
	pthread_mutex_lock(&a->lock);
	if (spoils) {
		a->calm = 0;
		a->n_changing++;
		drop(a);
	} else if (a->calm < CALM) {
		a->calm++;
	}
	pthread_mutex_unlock(&a->lock);
	return spoils;
}

void ward_ahead_changed(struct ward_ahead *a)
{
	pthread_mutex_lock(&a->lock);
	a->calm = 0;
	a->n_changing--;
	pthread_mutex_unlock(&a->lock);
}

/* Locked (nodes->lock): the directory after this one in a depth-first walk; 0: none is known. */
static uint64_t after(const struct ward_nodes *nodes, const struct ward_node *node)
{
	uint64_t number = node->dir->next_dir;

	while (!number && node != &nodes->root && ward_node_first_name(node)) {
		node = node->names->parent;
		number = node->dir->next_dir;
	}
	return number;
}

/* Locked (nodes->lock): what a walk that has listed node will list next; 0: not known. */
static uint64_t guess(const struct ward_nodes *nodes, const struct ward_node *node)
{
	uint64_t number = node->dir->first_dir ? node->dir->first_dir : after(nodes, node);

	for (unsigned i = 0; number && i < TRIES; i++) {
		node = ward_node_ids_find(&nodes->ids, number);
		if (!node || !node->dir)
			return 0;
		if (!node->dir->listed)
			return number;
		number = after(nodes, node);
	}
	return 0;
}

/* Locked: is the answer that will be asked for behind l being made already? */
static bool goes_on(
	const struct ward_ahead *a, const struct ward_node *node, const struct ward_listing *l)
{
	return (a->state == FILLING || a->state == READY) && a->h->node == node &&
	       a->from == l->off && !l->end;
}

/* Locked: what will be asked for behind l, the last answer of node's listing. */
static void choose(struct ward_ahead *a, struct ward_node *node, const struct ward_listing *l)
{
	struct ward_nodes *nodes = a->tree->nodes;

	drop(a);
	pthread_mutex_lock(&nodes->lock);
	node->dir->listed = true;
	a->number = 0;
	a->from = 0;
	if (a->calm < CALM || a->n_changing) {
		; /* nothing */
	} else if (l->end) {
		a->number = guess(nodes, node);
	} else if (a->tree->list_anew) {
		/* Else the client's own handle goes on where it is. */
		a->number = ward_node_to_ino(nodes, node);
		a->from = l->off;
	}
	pthread_mutex_unlock(&nodes->lock);
	a->size = l->size;
	a->state = a->number ? WANTED : IDLE;
}

bool ward_ahead_guess(struct ward_ahead *a, struct ward_node *node, const struct ward_listing *l)
{
	bool wanted;

	if (!a)
		return false;
	pthread_mutex_lock(&a->lock);
	if (!goes_on(a, node, l))
		choose(a, node, l);
	wanted = a->state != IDLE;
	pthread_mutex_unlock(&a->lock);
	return wanted;
}

static int begin(struct ward_ahead *a)
{
	struct ward_node *node = ward_nodes_pin(a->tree->nodes, a->number);
	struct ward_file file;
	int fd = -1;
	int r = node ? 0 : -ENOENT;

	a->op = (struct ward_op){
		.tree = a->tree, .action = "list", .since = atomic_load(&a->tree->watch_seq)};
	a->outside = atomic_load(&a->tree->outside_seq);
	a->begun_ns = ward_clock_mono_ns();
	a->l = (struct ward_listing){.size = a->size, .off = a->from, .plus = true, .ahead = true};
	if (r == 0)
		r = ward_resolve_open(a->tree, node, O_RDONLY | O_DIRECTORY, &fd, &file);
	if (r == 0)
		r = ward_handle_new(a->tree->nodes, node, fd, 0, &a->h);
	if (r == 0) {
		a->h->is_dir = true;
		ward_watch_dir(a->tree, node, a->h->fd);
		/* What is looked at from here on is covered by the watch. */
		a->op.since = atomic_load(&a->tree->watch_seq);
		a->l.buf = malloc(a->size);
		if (!a->l.buf) {
			ward_handle_release(a->tree->nodes, a->h);
			r = -ENOMEM;
		}
	}
	if (node)
		ward_node_unpin(a->tree->nodes, node);
	return r;
}

/* Locked. */
static bool step(struct ward_ahead *a)
{
	int r;

	switch (a->state) {
	case IDLE:
	case READY:
		return false;
	case WANTED:
		a->state = begin(a) == 0 ? FILLING : IDLE;
		return true;
	case FILLING:
		r = ward_listing_fill(&a->op, a->h, &a->l, STEP);
		if (r == 0)
			a->state = READY;
		else if (r < 0)
			drop(a);
		return true;
	}
	return false;
}

bool ward_ahead_step(struct ward_ahead *a)
{
	bool more;

	/* No request's, but it asks the policy nevertheless. */
	if (!a || !ward_turn_try(a->tree->fs))
		return false;
	pthread_mutex_lock(&a->lock);
	more = step(a);
	pthread_mutex_unlock(&a->lock);
	ward_turn_end(a->tree->fs);
	return more;
}

/* Locked: the answer was taken. The next part of the same listing comes from the same handle. */
static void go_on(struct ward_ahead *a)
{
	const struct ward_listing taken = a->l;
	char *buf = taken.end || !a->tree->list_anew ? NULL : malloc(taken.size);

	a->l = (struct ward_listing){.buf = buf};
	if (!buf) {
		drop(a);
		return;
	}
	a->from = a->l.off = taken.off;
	a->l.size = taken.size;
	a->l.plus = a->l.ahead = true;
	a->state = FILLING;
}

/* Locked. */
static bool take(struct ward_ahead *a, const struct ward_node *node, struct ward_listing *l)
{
	if (a->state != FILLING && a->state != READY)
		return false;
	/* Another listing, or another part of it. */
	if (a->h->node != node || l->off != a->from)
		return false;
	if (!l->plus || l->size < a->l.size || a->outside != atomic_load(&a->tree->outside_seq) ||
		ward_clock_mono_ns() - a->begun_ns > OLD_NS) {
		drop(a);
		return false;
	}
	while (a->state == FILLING)
		(void)step(a);
	if (a->state != READY)
		return false;
	*l = a->l;
	go_on(a);
	return true;
}

bool ward_ahead_take(struct ward_ahead *a, const struct ward_node *node, struct ward_listing *l)
{
	bool taken;

	if (!a)
		return false;
	pthread_mutex_lock(&a->lock);
	taken = take(a, node, l);
	pthread_mutex_unlock(&a->lock);
	return taken;
}

/* --- ends --- */

/*
 * Each answer replaces what is known of its directory's end. So what a reader comes to know here is
 * as young as the answer that it goes on from, and what was added later it need not see.
 */
void ward_ahead_made(
	struct ward_ahead *a, const struct ward_node *node, const struct ward_listing *l)
{
	uint64_t number;

	if (!a)
		return;
	number = ward_node_to_ino(a->tree->nodes, node);
	pthread_mutex_lock(&a->lock);
	for (unsigned i = 0; i < ENDED_MAX; i++)
		if (a->ended[i].number == number)
			a->ended[i].number = 0;
	if (l->end && l->off) {
		a->ended[a->next_ended].number = number;
		a->ended[a->next_ended].off = l->off;
		a->next_ended = (a->next_ended + 1) % ENDED_MAX;
	}
	pthread_mutex_unlock(&a->lock);
}

bool ward_ahead_at_end(
	struct ward_ahead *a, const struct ward_node *node, const struct ward_listing *l)
{
	bool at_end = false;
	uint64_t number;

	if (!a || !l->off)
		return false;
	/* The root's node has no number of its own. */
	number = ward_node_to_ino(a->tree->nodes, node);
	pthread_mutex_lock(&a->lock);
	for (unsigned i = 0; i < ENDED_MAX && !at_end; i++) {
		at_end = a->ended[i].number == number && a->ended[i].off == l->off;
		if (at_end)
			a->ended[i].number = 0;
	}
	pthread_mutex_unlock(&a->lock);
	return at_end;
}
