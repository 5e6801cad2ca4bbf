/* SPDX-License-Identifier: Apache-2.0 */
/* Finds owners of POSIX locks that would wait for each other forever. */
#include "fs/ops/lock_circle.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"

/* Times that one search asks the kernel what an owner holds; past it the search gives up. */
#define LOOKS_MAX 512U
/*
 * CPU time of one search. The kernel tells all that an owner holds of a file, so a look takes as
 * long as somebody has locks: a millisecond at 8000. A user who makes a search longer than this
 * gets none for ten times as long.
 */
#define SEARCH_NS UINT64_C(5000000)
#define REST_TIMES 10U

/* proc(5): what a descriptor has locked, one a line. */
#define LINE "lock: %*s OFDLCK %*s %15s %*s %*s %" SCNd64 " %31s"

static bool conflicts(const char *line, const struct flock *asked)
{
	char type[16], end[32];
	int64_t from, to = INT64_MAX;
	const int64_t until = asked->l_len ? asked->l_start + asked->l_len - 1 : INT64_MAX;

	if (sscanf(line, LINE, type, &from, end) != 3)
		return false;
	if (strcmp(end, "EOF") != 0 && sscanf(end, "%" SCNd64, &to) != 1)
		return false;
	if (strcmp(type, "WRITE") != 0 && asked->l_type != F_WRLCK)
		return false;
	return from <= until && asked->l_start <= to;
}

/* Has the owner locked a part of what w asks for? */
static bool holds(struct ward_fs_tree *tree, uint64_t owner, const struct ward_lock_wait *w,
	ward_lock_descriptor *descriptor)
{
	char text[256];
	bool found = false;
	FILE *f;
	ward_cleanup_fd int fd = descriptor(tree, w->node, owner);

	if (fd < 0)
		return false;
	snprintf(text, sizeof(text), "/proc/self/fdinfo/%d", fd);
	f = fopen(text, "re");
	while (f && !found && fgets(text, sizeof(text), f))
		found = conflicts(text, w->lock);
	if (f)
		fclose(f);
	return found;
}

static uint64_t cpu_ns(void)
{
	struct timespec t = {0, 0};

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * WARD_NS_PER_SEC + (uint64_t)t.tv_nsec;
}

/* tree->lock_waits_lock held: may one more look be made? */
static bool go_on(struct ward_fs_tree *tree, unsigned looks, uint64_t began_ns)
{
	const uint64_t took_ns = cpu_ns() - began_ns;

	if (took_ns >= SEARCH_NS)
		tree->lock_rest_until_ns = ward_clock_mono_ns() + REST_TIMES * took_ns;
	return looks <= LOOKS_MAX && took_ns < SEARCH_NS;
}

/* tree->lock_waits_lock held: does the owner of w, by way of others, wait for itself? */
static bool circle(
	struct ward_fs_tree *tree, struct ward_lock_wait *w, ward_lock_descriptor *descriptor)
{
	struct ward_lock_wait *at, *by, *same;
	const uint64_t began_ns = cpu_ns();
	unsigned looks = 0;
	bool again = true;

	LIST_FOREACH(at, &tree->lock_waits, next)
		at->reached = at->asked = false;
	w->reached = true;
	while (again) {
		again = false;
		LIST_FOREACH(at, &tree->lock_waits, next) {
			if (!at->reached || at->asked)
				continue;
			at->asked = again = true;
			LIST_FOREACH(by, &tree->lock_waits, next) {
				if (by->owner == at->owner || (by->reached && by != w))
					continue;
				if (!go_on(tree, ++looks, began_ns))
					return false;
				if (!holds(tree, by->owner, at, descriptor))
					continue;
				if (by == w)
					return true;
				LIST_FOREACH(same, &tree->lock_waits, next)
					same->reached = same->reached || same->owner == by->owner;
			}
		}
	}
	return false;
}

int ward_lock_wait_begin(
	struct ward_fs_tree *tree, struct ward_lock_wait *w, ward_lock_descriptor *descriptor)
{
	int r = 0;

	pthread_mutex_lock(&tree->lock_waits_lock);
	LIST_INSERT_HEAD(&tree->lock_waits, w, next);
	if (LIST_NEXT(w, next) && ward_clock_mono_ns() >= tree->lock_rest_until_ns &&
		circle(tree, w, descriptor)) {
		LIST_REMOVE(w, next);
		r = -EDEADLK;
	}
	pthread_mutex_unlock(&tree->lock_waits_lock);
	return r;
}

void ward_lock_wait_end(struct ward_fs_tree *tree, struct ward_lock_wait *w)
{
	pthread_mutex_lock(&tree->lock_waits_lock);
	LIST_REMOVE(w, next);
	pthread_mutex_unlock(&tree->lock_waits_lock);
}
