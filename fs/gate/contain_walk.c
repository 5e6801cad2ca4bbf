/* SPDX-License-Identifier: Apache-2.0 */
/* Walks what lies beneath a directory that is renamed, for the policy to look at. */
#include "fs/gate/contain_walk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/policy/policy.h"
#include "fs/kernel/backing.h"
#include "fs/kernel/folding.h"
#include "fs/review/review.h"

struct look {
	const struct ward_fs_tree *tree;
	uint64_t until_ns;
};

static uint64_t coarse_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &ts);
	return (uint64_t)ts.tv_sec * 1000000000U + (uint64_t)ts.tv_nsec;
}

/* A directory that is open: of the backing, or where names are staged all that it lists. */
struct walked {
	DIR *dir;
	int fd;
	struct ward_review_entries e;
};

static void close_dir(void *user, void *dir)
{
	struct walked *w = dir;

	(void)user;
	if (w->dir)
		(void)closedir(w->dir);
	else
		close(w->fd);
	free(w->e.v);
	free(w);
}

static int open_at(const struct look *l, int dirfd, const char *name, void **ret)
{
	ward_cleanup_fd int fd = -1;
	struct walked *w;
	int r = ward_backing_open(dirfd, name, O_RDONLY | O_DIRECTORY, 0, &fd);

	/* Two spellings of a name would have two states. */
	if (r == 0)
		r = ward_folding_check(l->tree, fd);
	if (r < 0)
		return r;
	w = calloc(1, sizeof(*w));
	if (!w)
		return -ENOMEM;
	if (ward_backing_staged())
		r = ward_review_list(ward_backing_staged(), fd, &w->e);
	else if (!(w->dir = fdopendir(fd)))
		r = -errno;
	if (r < 0) {
		free(w);
		return r;
	}
	w->fd = ward_steal_fd(&fd);
	*ret = w;
	return 0;
}

static int open_dir(void *user, void *dir, const char *name, void **ret)
{
	return open_at(user, ((struct walked *)dir)->fd, name, ret);
}

static bool is_dot(const char *name)
{
	return !strcmp(name, ".") || !strcmp(name, "..");
}

/* 1, 0 at the end, or a negative errno. */
static int read_entry(struct walked *w, const char **ret_name, uint8_t *ret_type)
{
	const struct dirent *e = NULL;

	if (!w->dir)
		return ward_review_next(&w->e, ret_name, ret_type);
	errno = 0;
	e = readdir(w->dir);
	if (!e)
		return -errno;
	*ret_name = e->d_name;
	*ret_type = e->d_type;
	return 1;
}

static int next_entry(void *user, void *dir, char name[WARD_LOOK_NAME_SIZE], bool *ret_is_dir)
{
	const struct look *l = user;
	struct walked *w = dir;
	struct ward_file file;
	const char *found = "";
	uint8_t type = DT_UNKNOWN;
	size_t size;
	int r;

	if (coarse_ns() > l->until_ns)
		return -EXDEV;
	do
		r = read_entry(w, &found, &type);
	while (r > 0 && is_dot(found));
	if (r <= 0)
		return r;
	size = strlen(found) + 1;
	if (size > WARD_LOOK_NAME_SIZE)
		return -EXDEV;
	*ret_is_dir = type == DT_DIR;
	if (type == DT_UNKNOWN) {
		r = ward_backing_stat(l->tree, w->fd, found, &file);
		if (r < 0)
			return r;
		*ret_is_dir = S_ISDIR(file.st.st_mode);
	}
	memcpy(name, found, size);
	return 1;
}

int ward_contain_walk(const struct ward_fs_tree *tree, const struct ward_state *src,
	const struct ward_state *dst, int dirfd, const char *name)
{
	static const struct ward_look_ops ops = {
		.open = open_dir, .next = next_entry, .close = close_dir};
	struct look l = {.tree = tree, .until_ns = coarse_ns() + WARD_CONTAIN_TIME_NS};
	void *dir = NULL;
	int r = open_at(&l, dirfd, name, &dir);

	if (r < 0 || !dir)
		return -EXDEV;
	r = ward_policy_look(tree->fs->policy, src, dst, &ops, &l, dir);
	close_dir(&l, dir);
	return r == 0 ? 0 : -EXDEV;
}
