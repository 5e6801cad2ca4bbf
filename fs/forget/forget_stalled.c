/* SPDX-License-Identifier: Apache-2.0 */
/* Watches the calls that make the kernel forget, and acts when one is held up. */
#include "fs/forget/forget_stalled.h"

#include <fuse3/fuse_lowlevel.h>

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "fs/kernel/forget_queue.h"
#include "fs/node/node.h"

/* A call that lasts for one to two of these is held up. */
#define LOOK_MS 400
/* Everything is forgotten so many times in a row: answers may have been under way. */
#define TIMES 4

struct ward_stall {
	struct ward_fs_tree *tree;
	pthread_t thread;
	int wake_fd;
	atomic_uint_fast64_t calls; /* begun and ended: odd while one is under way */
	atomic_bool awake;
	atomic_bool stop;
};

static void wake(struct ward_stall *s)
{
	const uint64_t one = 1;

	/* An eventfd takes a one unless it holds 2^64-2 of them: then it is awake. */
	(void)!write(s->wake_fd, &one, sizeof(one));
}

/*
 * Without any directory's lock: all entries (where there are epochs), all attributes and access
 * lists. Listings stand in pages, which may be locked too: the kernel drops them when it sees
 * another time of the directory, and opens meanwhile do without.
 */
static void forget(struct ward_stall *s)
{
	uint64_t number = FUSE_ROOT_ID;

	atomic_fetch_add(&s->tree->outside_seq, 1);
	(void)ward_forget_epoch(s->tree);
	do {
		(void)fuse_lowlevel_notify_inval_inode(s->tree->se, number, -1, 0);
		number = ward_nodes_next(s->tree->nodes, number);
	} while (number && !atomic_load(&s->stop));
}

/* Looks on while calls are made; returns when none is. */
static void look_on(struct ward_stall *s)
{
	uint_fast64_t before, now;
	struct pollfd p = {.fd = s->wake_fd, .events = POLLIN};
	unsigned times = 0;
	uint64_t count;

	(void)!read(s->wake_fd, &count, sizeof(count));
	before = atomic_load(&s->calls);
	while (!atomic_load(&s->stop)) {
		(void)poll(&p, 1, LOOK_MS);
		(void)!read(s->wake_fd, &count, sizeof(count));
		now = atomic_load(&s->calls);
		if (now != before || now % 2 == 0) {
			times = 0;
			atomic_store(&s->tree->stalled, false);
		} else if (times < TIMES) {
			times++;
			atomic_store(&s->tree->stalled, true);
			forget(s);
		}
		if (now == before && now % 2 == 0) {
			/* A call that begins now sees that it has to wake us, or we see it. */
			atomic_store(&s->awake, false);
			if (atomic_load(&s->calls) == now)
				return;
			atomic_store(&s->awake, true);
		}
		before = now;
	}
}

static void *run(void *arg)
{
	struct ward_stall *s = arg;
	struct pollfd p = {.fd = s->wake_fd, .events = POLLIN};

	while (!atomic_load(&s->stop)) {
		if (poll(&p, 1, -1) < 0 && errno != EINTR)
			break;
		if (p.revents)
			look_on(s);
	}
	return NULL;
}

int ward_stall_new(struct ward_fs_tree *tree, struct ward_stall **ret, struct ward_err *err)
{
	struct ward_stall *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return ward_err_sys(err, -ENOMEM, "notifications");
	s->tree = tree;
	s->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	r = s->wake_fd < 0 ? errno : pthread_create(&s->thread, NULL, run, s);
	if (r) {
		if (s->wake_fd >= 0)
			close(s->wake_fd);
		free(s);
		return ward_err_sys(err, -r, "notifications");
	}
	*ret = s;
	return 0;
}

void ward_stall_free(struct ward_stall *s)
{
	if (!s)
		return;
	atomic_store(&s->stop, true);
	wake(s);
	pthread_join(s->thread, NULL);
	close(s->wake_fd);
	free(s);
}

void ward_stall_begin(struct ward_stall *s)
{
	atomic_fetch_add(&s->calls, 1);
	if (!atomic_exchange(&s->awake, true))
		wake(s);
}

void ward_stall_end(struct ward_stall *s)
{
	atomic_fetch_add(&s->calls, 1);
}
