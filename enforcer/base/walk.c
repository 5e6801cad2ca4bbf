/* SPDX-License-Identifier: Apache-2.0 */
/* Lists directories within bounds. Between two of them the caller does its own work. */
#include "enforcer/base/walk.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "enforcer/base/dent.h"

/* On a slow disk or in a large tree, the rest is looked up on request. */
#define WALK_MS 2000
#define ENTRIES_MAX 40000U
/* Names of directories that wait at one level; more are left out. */
#define NAMES_BYTES (64U << 10)

static uint64_t now_ms(void)
{
	struct timespec ts;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

void ward_walk_begin(struct ward_walk *w, unsigned delay_ms)
{
	w->from_ms = now_ms() + delay_ms;
	w->over = w->n_trees == 0;
}

int ward_walk_wait(const struct ward_walk *w)
{
	if (w->over)
		return -1;
	uint64_t now = now_ms();
	return now < w->from_ms ? (int)(w->from_ms - now) : 0;
}

static void pop(struct ward_walk *w)
{
	struct ward_walk_level *l = &w->levels[--w->depth];
	close(l->fd);
	free(l->names);
}

/*
 * The command rarely needs names with a leading dot: repositories, caches. The top of a tree may be
 * refused in another one, and a refusal is recorded, whoever asks.
 */
static bool wanted(const struct ward_walk *w, const struct ward_dent *d)
{
	for (size_t i = 0; i < w->n_trees; i++)
		if (w->tops[i] == d->ino)
			return false;
	return d->type == DT_DIR && d->name[0] != '.';
}

static void remember(struct ward_walk_level *l, const char *name)
{
	size_t size = strlen(name) + 1;
	if (!l->names && !(l->names = malloc(NAMES_BYTES)))
		return;
	if (size > NAMES_BYTES - l->len)
		return;
	memcpy(l->names + l->len, name, size);
	l->len += size;
}

/*
 * From the last to the first: a program that walks does it the other way round, and two that ask
 * for the same listing at once do its work twice.
 */
static const char *last(struct ward_walk_level *l)
{
	do
		l->len--;
	while (l->len && l->names[l->len - 1]);
	return l->names + l->len;
}

/* Lists the directory to its end, and goes down into it. fd is taken. */
static void push(struct ward_walk *w, int fd)
{
	char buf[32U << 10] __attribute__((aligned(8)));
	struct ward_walk_level *l = &w->levels[w->depth];
	long n;
	*l = (struct ward_walk_level){.fd = fd};
	while (w->entries < ENTRIES_MAX && (n = syscall(SYS_getdents64, fd, buf, sizeof(buf))) > 0)
		for (long at = 0; at < n;) {
			const struct ward_dent *d = (const void *)(buf + at);
			at += d->reclen;
			w->entries++;
			if (wanted(w, d) && w->depth + 1 < WARD_WALK_DEPTH)
				remember(l, d->name);
		}
	w->depth++;
}

static int open_dir(int at, const char *name)
{
	return openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
}

static bool next_tree(struct ward_walk *w)
{
	while (w->next < w->n_trees) {
		int fd = w->open(w->user, w->next++);
		if (fd >= 0) {
			push(w, fd);
			return true;
		}
	}
	return false;
}

void ward_walk_step(struct ward_walk *w)
{
	struct ward_walk_level *l = w->depth ? &w->levels[w->depth - 1] : NULL;
	if (w->over)
		return;
	if (w->entries >= ENTRIES_MAX || now_ms() - w->from_ms >= WALK_MS) {
		w->over = true;
	} else if (!l) {
		w->over = !next_tree(w);
	} else if (!l->len) {
		pop(w);
	} else {
		int fd = open_dir(l->fd, last(l));
		if (fd >= 0)
			push(w, fd);
	}
	while (w->over && w->depth)
		pop(w);
}
