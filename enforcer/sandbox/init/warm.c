/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A walk through the trees beside the command: what was listed once, the kernel looks up by itself.
 * A program that asks for each name on its own, as git does for its index, pays two wake-ups a name
 * otherwise, and a listing brings a directory's names at once.
 *
 * The starter does it: it is confined as the command is and has the same rights, so it sees nothing
 * that the command could not, and ends with the session. Not before the command has run for a
 * moment, and within bounds; a request of pid 1 is served between two directories.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "enforcer/sandbox/init/init.h"

/* A command that ends at once needs none. */
#define DELAY_MS 15
/* On a slow disk or in a large tree, the rest is looked up on request. */
#define WALK_MS 2000
#define ENTRIES_MAX 40000U
/* Names of directories that wait at one level; more are left out. */
#define NAMES_BYTES (64U << 10)

/* As getdents64(2) gives them: the kernel's include/linux/dirent.h. */
struct dent {
	uint64_t ino;
	int64_t off;
	uint16_t reclen;
	uint8_t type;
	char name[];
};

static uint64_t now_ms(void)
{
	struct timespec ts;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

void ward_init_warm_begin(struct ward_init_warm *w, const struct ward_blueprint *blueprint)
{
	*w = (struct ward_init_warm){.blueprint = blueprint, .from_ms = now_ms() + DELAY_MS};
	w->over = !(blueprint->flags & WARD_BLUEPRINT_SERVED);
}

static void find_tops(struct ward_init_warm *w)
{
	for (size_t i = 0; i < w->blueprint->n_entries; i++) {
		const struct ward_blueprint_entry *e = &w->blueprint->entries[i];
		struct stat st;
		if (e->kind == WARD_BLUEPRINT_TREE && w->n_tops < WARD_TREES_MAX &&
			lstat(e->path, &st) == 0)
			w->tops[w->n_tops++] = st.st_ino;
	}
}

int ward_init_warm_wait(const struct ward_init_warm *w)
{
	if (w->over)
		return -1;
	uint64_t now = now_ms();
	return now < w->from_ms ? (int)(w->from_ms - now) : 0;
}

static void pop(struct ward_init_warm *w)
{
	struct ward_init_warm_level *l = &w->levels[--w->depth];
	close(l->fd);
	free(l->names);
}

/*
 * The command rarely needs names with a leading dot: repositories, caches. The top of a tree may be
 * refused in another one, and a refusal is recorded, whoever asks.
 */
static bool wanted(const struct ward_init_warm *w, const struct dent *d)
{
	for (size_t i = 0; i < w->n_tops; i++)
		if (w->tops[i] == d->ino)
			return false;
	return d->type == DT_DIR && d->name[0] != '.';
}

static void remember(struct ward_init_warm_level *l, const char *name)
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
static const char *last(struct ward_init_warm_level *l)
{
	do
		l->len--;
	while (l->len && l->names[l->len - 1]);
	return l->names + l->len;
}

/* Lists the directory to its end, and goes down into it. fd is taken. */
static void push(struct ward_init_warm *w, int fd)
{
	static char buf[32U << 10] __attribute__((aligned(8)));
	struct ward_init_warm_level *l = &w->levels[w->depth];
	long n;
	*l = (struct ward_init_warm_level){.fd = fd};
	while (w->entries < ENTRIES_MAX && (n = syscall(SYS_getdents64, fd, buf, sizeof(buf))) > 0)
		for (long at = 0; at < n;) {
			const struct dent *d = (const void *)(buf + at);
			at += d->reclen;
			w->entries++;
			if (wanted(w, d) && w->depth + 1 < WARD_INIT_WARM_DEPTH)
				remember(l, d->name);
		}
	w->depth++;
}

static int open_dir(int at, const char *name)
{
	return openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
}

/* The next tree's root. */
static bool next_tree(struct ward_init_warm *w)
{
	if (w->entry == 0)
		find_tops(w);
	while (w->entry < w->blueprint->n_entries) {
		const struct ward_blueprint_entry *e = &w->blueprint->entries[w->entry++];
		int fd = e->kind == WARD_BLUEPRINT_TREE ? open_dir(AT_FDCWD, e->path) : -1;
		if (fd >= 0) {
			push(w, fd);
			return true;
		}
	}
	return false;
}

void ward_init_warm_step(struct ward_init_warm *w)
{
	struct ward_init_warm_level *l = w->depth ? &w->levels[w->depth - 1] : NULL;
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
