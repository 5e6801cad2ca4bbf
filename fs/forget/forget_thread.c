/* SPDX-License-Identifier: Apache-2.0 */
/* The thread that tells the kernel what to forget, and reads the watch. */
#include "fs/forget/forget_thread.h"

#include <fuse3/fuse_lowlevel.h>

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "enforcer/base/clock.h"
#include "fs/forget/forget_stalled.h"
#include "fs/forget/outside_change.h"
#include "fs/forget/outside_record.h"
#include "fs/handle/retired_inodes.h"
#include "fs/kernel/forget_queue.h"
#include "fs/node/node_table.h"
#include "fs/resolve/replaced_files.h"
#include "fs/replay/replay.h"
#include "fs/resolve/resolve_node.h"
#include "fs/resolve/trees_beneath.h"
#include "fs/watch/backing_watch.h"

/* Events that come together are read together: this long after the first. */
#define SETTLE_MS 20
/*
 * What is forgotten is forgotten once more, one to two of these later: an answer that was under way
 * (the client may not have seen it yet) can bring back what was true before.
 */
#define AGAIN_MS 300
#define AGAIN_MAX 4096
/* A session that lives so long is worth its watches (ward_watch_due()): somebody inside may wait
 * for what others change. */
#define WATCH_MS 150
/* Without epochs absent names, which stand in no table, end by themselves (keep_time.h: one
 * second). */
#define ABSENT_NS UINT64_C(1100000000)
/* Retired inodes whose attributes the kernel forgets. */
#define RETIRED_MAX 1024U

/* What was forgotten a moment ago. */
struct again {
	struct again *next;
	uint64_t number;
	char name[]; /* of an entry; "": attributes; "/": all beneath */
};

struct ward_forget_thread {
	struct ward_fs_tree *tree;
	pthread_t thread;
	struct ward_stall *stall;
	struct ward_external *external;
	uint64_t begun_ns;
	atomic_bool stop;

	/* the thread's own */
	struct again *young, *old;
	size_t n_again;
	bool young_all, old_all;
	uint64_t ticket;    /* 0: none waits for what follows */
	uint64_t ticket_ns; /* when all was forgotten for it the first time */
	uint64_t again_ns;  /* when the old ones are due */
};

/* --- to the kernel --- */

static struct again *new_again(uint64_t number, const char *name, struct again *next)
{
	const size_t len = strlen(name);
	struct again *a = malloc(sizeof(*a) + len + 1);

	if (a) {
		a->next = next;
		a->number = number;
		memcpy(a->name, name, len + 1);
	}
	return a;
}

static int add_again(uint64_t number, const char *name, struct again **list)
{
	struct again *a = new_again(number, name, *list);

	if (!a)
		return -ENOMEM;
	*list = a;
	return 0;
}

static void remember(struct ward_forget_thread *n, uint64_t number, const char *name)
{
	struct again *a = n->n_again < AGAIN_MAX ? new_again(number, name, n->young) : NULL;

	if (!a) {
		ward_forget_lost(n->tree->forget);
		return;
	}
	n->young = a;
	n->n_again++;
}

static void send_inode(struct ward_forget_thread *n, uint64_t number, bool pages)
{
	/* Offset 0, no length: with the pages of a directory's listing. A file's pages are kept:
	 * the kernel drops them itself where times or size turn out to be others. */
	bool dir;
	struct ward_node *node = ward_nodes_pin(n->tree->nodes, number);

	if (!node)
		return;
	dir = node->dir != NULL;
	ward_node_unpin(n->tree->nodes, node);
	ward_stall_begin(n->stall);
	(void)fuse_lowlevel_notify_inval_inode(n->tree->se, number, dir || pages ? 0 : -1, 0);
	ward_stall_end(n->stall);
}

static void send_attr(struct ward_forget_thread *n, uint64_t number)
{
	send_inode(n, number, false);
}

static void send_entry(struct ward_forget_thread *n, uint64_t dir, const char *name)
{
	ward_stall_begin(n->stall);
	(void)fuse_lowlevel_notify_inval_entry(n->tree->se, dir, name, strlen(name));
	ward_stall_end(n->stall);
}

/* Locked (nodes->lock). */
static bool is_beneath(
	const struct ward_nodes *nodes, const struct ward_node *node, const struct ward_node *dir)
{
	while (node != dir) {
		if (node == &nodes->root || !ward_node_first_name(node))
			return false;
		node = node->names->parent;
	}
	return true;
}

/* Locked (nodes->lock): the names known in the directory at. */
static int collect_in(struct ward_nodes *nodes, const struct ward_node *at, struct again **list)
{
	const struct ward_name *n = NULL;
	size_t i = 0;
	int r = 0;

	while (r == 0 && (n = ward_node_table_next(at->dir, n, &i))) {
		/* A name that is reported as gone loses what is mounted on it. */
		if (!(ward_beneath_flags_locked(nodes->tree, at, n->text) &
			    ~WARD_REQUEST_ELSEWHERE))
			r = add_again(ward_node_to_ino(nodes, at), n->text, list);
		if (r == 0 && n->node->dir)
			r = add_again(ward_node_to_ino(nodes, n->node), "", list);
	}
	return r;
}

/*
 * Every name known beneath dir, however deep, and the directories among them: what a program is in,
 * or has open, stays in the kernel's cache with all that lies in it, whatever is forgotten above.
 */
static int collect(struct ward_nodes *nodes, const struct ward_node *dir, struct again **ret)
{
	struct again *list = NULL;
	uint64_t number = FUSE_ROOT_ID;
	const struct ward_node *at = &nodes->root;
	int r = 0;

	pthread_mutex_lock(&nodes->lock);
	do {
		if (at->dir && is_beneath(nodes, at, dir))
			r = collect_in(nodes, at, &list);
		number = ward_node_ids_next(&nodes->ids, number);
		at = ward_node_ids_find(&nodes->ids, number);
	} while (r == 0 && number);
	pthread_mutex_unlock(&nodes->lock);
	*ret = list;
	return r;
}

static void send_beneath(struct ward_forget_thread *n, uint64_t number)
{
	struct ward_nodes *nodes = n->tree->nodes;
	struct ward_node *dir = ward_nodes_pin(nodes, number);
	struct again *list = NULL, *next;

	if (!dir)
		return;
	send_attr(n, number);
	if (dir->dir && collect(nodes, dir, &list) < 0) {
		ward_forget_lost(n->tree->forget);
	}
	for (; list; list = next) {
		next = list->next;
		if (*list->name)
			send_entry(n, list->number, list->name);
		else
			send_attr(n, list->number);
		free(list);
	}
	ward_node_unpin(nodes, dir);
}

/* Their numbers lead nowhere here; a client that looks at one makes it go bad. */
static void send_retired(struct ward_forget_thread *n)
{
	uint64_t v[RETIRED_MAX];
	size_t all;
	const size_t n_v = ward_retire_list(n->tree->nodes, v, RETIRED_MAX, &all);

	for (size_t i = 0; i < n_v; i++) {
		ward_stall_begin(n->stall);
		(void)fuse_lowlevel_notify_inval_inode(n->tree->se, v[i], -1, 0);
		ward_stall_end(n->stall);
	}
}

/* pages: those of files too, which a new policy may have closed. */
static void send_all(struct ward_forget_thread *n, bool pages)
{
	uint64_t number = FUSE_ROOT_ID;

	atomic_fetch_add(&n->tree->outside_seq, 1);
	if (!ward_forget_epoch(n->tree))
		send_beneath(n, FUSE_ROOT_ID);
	do {
		send_inode(n, number, pages);
		number = ward_nodes_next(n->tree->nodes, number);
	} while (number);
	if (pages)
		send_retired(n);
}

/* --- what others did --- */

static void forget_attr(void *arg, uint64_t number)
{
	struct ward_forget_thread *n = arg;

	send_attr(n, number);
	remember(n, number, "");
}

static void forget_entry(void *arg, uint64_t dir, const char *name)
{
	struct ward_forget_thread *n = arg;

	send_entry(n, dir, name);
	remember(n, dir, name);
}

/* The kernel ends the file's inode with its name: those who watch it hear of it. */
static void forget_removed(void *arg, uint64_t dir, uint64_t gone, const char *name)
{
	struct ward_forget_thread *n = arg;

	ward_stall_begin(n->stall);
	(void)fuse_lowlevel_notify_delete(n->tree->se, dir, gone, name, strlen(name));
	ward_stall_end(n->stall);
	/* It may have come to another name: the count of links that the kernel has is wrong then.
	 */
	forget_attr(arg, gone);
	remember(n, dir, name);
}

static void forget_beneath(void *arg, uint64_t dir)
{
	struct ward_forget_thread *n = arg;

	send_beneath(n, dir);
	remember(n, dir, "/");
}

static void changed(void *arg, const struct ward_watch_change *c)
{
	struct ward_forget_thread *n = arg;
	const struct ward_forget_calls forget = {.attr = forget_attr,
		.entry = forget_entry,
		.removed = forget_removed,
		.beneath = forget_beneath,
		.arg = n};

	atomic_fetch_add(&n->tree->outside_seq, 1);
	ward_external_change(n->external, c, false);
	ward_outside_change(
		n->tree, &forget, c, c->sure || ward_external_is_host(n->external, c->pid));
	ward_external_change(n->external, c, true);
}

/* --- the thread --- */

static void serve_queue(struct ward_forget_thread *n)
{
	struct ward_forget_queue *q = n->tree->forget;
	struct ward_forget_item item;
	struct ward_forget_rest rest;

	ward_forget_awake(q);
	while (ward_forget_next(q, &item, &rest)) {
		if (item.beneath)
			forget_beneath(n, item.number);
		else
			send_attr(n, item.number);
	}
	if (rest.all) {
		send_all(n, rest.pages);
		n->young_all = true;
	}
	if (rest.pages) {
		n->ticket = rest.ticket;
		n->ticket_ns = ward_clock_mono_ns();
	}
}

static void free_again(struct ward_forget_thread *n, struct again *list)
{
	while (list) {
		struct again *a = list;

		list = a->next;
		free(a);
		n->n_again--;
	}
}

/*
 * What the kernel was told and its client has not taken yet (a listing above all, which brings
 * names along) is forgotten by the second round, this long after the first.
 */
static uint64_t ticket_min(const struct ward_forget_thread *n)
{
	return n->tree->epoch ? AGAIN_MS * UINT64_C(1000000) / 2 : ABSENT_NS;
}

static void serve_again(struct ward_forget_thread *n)
{
	const uint64_t now = ward_clock_mono_ns();

	if (now < n->again_ns)
		return;
	if (n->old_all)
		send_all(n, false);
	if (n->old_all && n->ticket && now - n->ticket_ns > ticket_min(n)) {
		ward_forget_done(n->tree->forget, n->ticket);
		n->ticket = 0;
	}
	n->old_all = n->young_all || n->ticket;
	n->young_all = false;
	for (const struct again *a = n->old; a; a = a->next) {
		if (*a->name == '/')
			send_beneath(n, a->number);
		else if (*a->name)
			send_entry(n, a->number, a->name);
		else
			send_attr(n, a->number);
	}
	free_again(n, n->old);
	n->old = n->young;
	n->young = NULL;
	n->again_ns = now + AGAIN_MS * UINT64_C(1000000);
}

/*
 * The directories that the kernel asked about before there were watches: a program inside may wait
 * for a change in one of them, and ask for nothing more.
 */
static void watch_all(struct ward_fs_tree *tree)
{
	uint64_t number = FUSE_ROOT_ID;

	if (atomic_exchange(&tree->watch_now, true))
		return;
	do {
		struct ward_node *node = ward_nodes_pin(tree->nodes, number);
		struct ward_dirref ref = {0};

		if (node && node->dir && ward_resolve_dir(tree, node, &ref) == 0)
			ward_watch_dir(tree, node, ref.fd);
		ward_dirref_put(tree, &ref);
		if (node)
			ward_node_unpin(tree->nodes, node);
		number = ward_nodes_next(tree->nodes, number);
	} while (number);
}

static bool waits_to_watch(const struct ward_forget_thread *n)
{
	return n->tree->watch && ward_replay_on(n->tree->fs) && !atomic_load(&n->tree->watch_now);
}

/* How long to wait for something to do, in milliseconds; -1: forever. */
static int wait_ms(const struct ward_forget_thread *n, bool due)
{
	if (due)
		return AGAIN_MS / 2;
	return waits_to_watch(n) ? WATCH_MS : -1;
}

static bool again_due(const struct ward_forget_thread *n)
{
	return n->n_again || n->young_all || n->old_all;
}

static void *run(void *arg)
{
	struct ward_forget_thread *n = arg;
	struct ward_watch *w = n->tree->watch;
	struct pollfd p[2] = {{.fd = ward_forget_fd(n->tree->forget), .events = POLLIN},
		{.fd = w ? ward_watch_fd(w) : -1, .events = POLLIN}};
	bool due = false;

	while (!atomic_load(&n->stop)) {
		p[0].revents = p[1].revents = 0;
		if (poll(p, 2, wait_ms(n, due)) < 0 && errno != EINTR)
			break;
		if (waits_to_watch(n) &&
			ward_clock_mono_ns() - n->begun_ns > WATCH_MS * UINT64_C(1000000))
			watch_all(n->tree);
		serve_queue(n);
		if (p[1].revents || (w && ward_watch_left(w))) {
			/* Only a wake-up shortens it. */
			(void)poll(p, 1, SETTLE_MS);
			if (ward_watch_read(n->tree, changed, n) < 0) {
				ward_external_lost(n->external);
				ward_forget_lost(n->tree->forget);
				ward_replay_lost(n->tree);
			}
			serve_queue(n);
		}
		if (again_due(n))
			serve_again(n);
		due = ward_replaced_tidy(n->tree) || again_due(n);
	}
	return NULL;
}

int ward_forget_thread_new(
	struct ward_fs_tree *tree, struct ward_forget_thread **ret, struct ward_err *err)
{
	struct ward_forget_thread *n = calloc(1, sizeof(*n));
	int r;

	if (!n)
		return ward_err_sys(err, -ENOMEM, "notifications");
	n->tree = tree;
	n->begun_ns = ward_clock_mono_ns();
	if (ward_external_new(tree, &n->external) < 0) {
		free(n);
		return ward_err_sys(err, -ENOMEM, "notifications");
	}
	r = ward_stall_new(tree, &n->stall, err);
	if (r < 0) {
		ward_external_free(n->external);
		free(n);
		return r;
	}
	r = -pthread_create(&n->thread, NULL, run, n);
	if (r < 0) {
		ward_stall_free(n->stall);
		ward_external_free(n->external);
		free(n);
		return ward_err_sys(err, r, "notifications");
	}
	*ret = n;
	return 0;
}

static void end_thread(struct ward_forget_thread *n)
{
	if (atomic_exchange(&n->stop, true))
		return;
	ward_forget_wake(n->tree->forget);
	pthread_join(n->thread, NULL);
}

/* The kernel has let go, so there is nothing left to forget. */
static void record_change(void *arg, const struct ward_watch_change *c)
{
	struct ward_forget_thread *n = arg;

	ward_external_change(n->external, c, false);
	ward_external_change(n->external, c, true);
}

void ward_forget_thread_end(struct ward_forget_thread *n)
{
	end_thread(n);
	if (n->tree->watch && ward_watch_read(n->tree, record_change, n) < 0)
		ward_external_lost(n->external);
}

void ward_forget_thread_free(struct ward_forget_thread *n)
{
	if (!n)
		return;
	end_thread(n);
	ward_stall_free(n->stall);
	ward_external_free(n->external);
	free_again(n, n->young);
	free_again(n, n->old);
	free(n);
}
