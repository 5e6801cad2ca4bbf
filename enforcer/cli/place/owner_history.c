/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps what the owner's policy file said before. */
#include "enforcer/cli/place/owner_history.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/base/quantity.h"
#include "enforcer/policy/read.h"

/* A number below 10^9 and NUL. */
#define NUMBER_SIZE 16

struct history {
	int dir;
	uint64_t first, last; /* 0: nothing is kept */
	unsigned n;
};

/* The directory `name` in `at`; make: also where it is missing. */
static int open_dir(int at, const char *name, bool make)
{
	if (make && mkdirat(at, name, 0700) < 0 && errno != EEXIST)
		return -errno;
	int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* 0 for a name that is no number of ours. */
static uint64_t number_of(const char *name)
{
	uint64_t n = 0;
	return strlen(name) < 10 && *name != '0' && ward_quantity_digits(&name, &n) && !*name ? n
											      : 0;
}

static int look(struct history *h)
{
	ward_cleanup_fd int copy = openat(h->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ward_cleanup_dir DIR *d = copy < 0 ? NULL : fdopendir(copy);
	if (!d)
		return -errno;
	(void)ward_steal_fd(&copy);
	errno = 0;
	for (const struct dirent *e; (e = readdir(d));) {
		uint64_t n = number_of(e->d_name);
		if (!n)
			continue;
		h->n++;
		h->last = n > h->last ? n : h->last;
		h->first = !h->first || n < h->first ? n : h->first;
	}
	return -errno;
}

/* CONFIG/wardfs/projects/NAME.policy: opens CONFIG/wardfs/history/NAME. */
static int open_history(const char *file, bool make, struct history *h)
{
	const char *slash = strrchr(file, '/');
	ward_cleanup_free char *projects = slash ? strndup(file, (size_t)(slash - file)) : NULL;
	ward_cleanup_free char *name = slash ? strdup(slash + 1) : NULL;
	char *above = projects ? strrchr(projects, '/') : NULL;
	char *dot = name ? strrchr(name, '.') : NULL;
	if (!above || !dot)
		return projects && name ? -EINVAL : -ENOMEM;
	*above = *dot = 0;
	ward_cleanup_fd int config = open(projects, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (config < 0)
		return -errno;
	ward_cleanup_fd int all = open_dir(config, "history", make);
	if (all < 0)
		return all;
	h->dir = open_dir(all, name, make);
	return h->dir < 0 ? h->dir : look(h);
}

static void history_clear(struct history *h)
{
	if (h->dir >= 0)
		close(h->dir);
}

static int push(struct history *h, const struct ward_buf *text)
{
	char name[NUMBER_SIZE];
	snprintf(name, sizeof(name), "%u", (unsigned)(h->last + 1));
	ward_cleanup_fd int fd =
		openat(h->dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	int r = fd < 0 ? -errno : ward_fd_write_all(fd, text->data, text->len);
	if (r == 0 && fsync(fd) < 0)
		r = -errno;
	if (r < 0 && fd >= 0)
		(void)unlinkat(h->dir, name, 0);
	for (uint64_t i = h->first; r == 0 && i && h->n >= WARD_OWNER_HISTORY_MAX && i <= h->last;
		i++) {
		snprintf(name, sizeof(name), "%u", (unsigned)i);
		if (unlinkat(h->dir, name, 0) == 0)
			h->n--;
	}
	return r;
}

int ward_owner_history_push(const char *file, const struct ward_buf *text, struct ward_err *err)
{
	ward_cleanup(history_clear) struct history h = {.dir = -1};
	int r = open_history(file, true, &h);
	/* Names of ours end before the next one would have ten digits: nobody comes there. */
	if (r == 0 && h.last >= 999999998)
		r = -EOVERFLOW;
	if (r == 0)
		r = push(&h, text);
	return r < 0 ? ward_err_sys(err, r, "keeping what %s says now", file) : 0;
}

int ward_owner_history_last(const char *file, struct ward_buf *ret, struct ward_err *err)
{
	ward_cleanup(history_clear) struct history h = {.dir = -1};
	char name[NUMBER_SIZE];
	int r = open_history(file, false, &h);
	if (r == -ENOENT || (r == 0 && !h.last))
		return 0;
	snprintf(name, sizeof(name), "%u", (unsigned)h.last);
	ward_cleanup_fd int fd = r < 0 ? r : ward_fd_open_beneath(h.dir, name);
	if (r == 0)
		r = fd < 0 ? fd : ward_fd_read_all(fd, WARD_POLICY_TEXT_MAX, ret);
	return r < 0 ? ward_err_sys(err, r, "reading what %s said before", file) : 1;
}

int ward_owner_history_pop(const char *file, struct ward_err *err)
{
	ward_cleanup(history_clear) struct history h = {.dir = -1};
	char name[NUMBER_SIZE];
	int r = open_history(file, false, &h);
	snprintf(name, sizeof(name), "%u", (unsigned)h.last);
	if (r == 0 && h.last && unlinkat(h.dir, name, 0) < 0)
		r = -errno;
	return r < 0 ? ward_err_sys(err, r, "taking the last step of %s away", file) : 0;
}
