/* SPDX-License-Identifier: Apache-2.0 */
/* Finds owners of POSIX locks that would wait for each other forever. */
#include "fs/ops/lock_circle.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"

/* Times that one search asks the kernel what an owner holds; past it nobody is told. */
#define LOOKS_MAX 512U

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

/* tree->lock_waits_lock held: does the owner of w, by way of others, wait for itself? */
static bool circle(
	struct ward_fs_tree *tree, struct ward_lock_wait *w, ward_lock_descriptor *descriptor)
{
	struct ward_lock_wait *at, *by, *same;
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
				if (++looks > LOOKS_MAX)
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
	if (LIST_NEXT(w, next) && circle(tree, w, descriptor)) {
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
