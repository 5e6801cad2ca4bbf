/* SPDX-License-Identifier: Apache-2.0 */
/* Walks what lies beneath a directory that is renamed, for the policy to look at. */
#include "fs/gate/contain_walk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/policy/policy.h"
#include "fs/kernel/backing.h"
#include "fs/kernel/folding.h"

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

static int open_at(const struct look *l, int dirfd, const char *name, void **ret)
{
	ward_cleanup_fd int fd = -1;
	DIR *d;
	int r = ward_backing_open(dirfd, name, O_RDONLY | O_DIRECTORY, 0, &fd);

	/* Two spellings of a name would have two states. */
	if (r == 0)
		r = ward_folding_check(l->tree, fd);
	if (r < 0)
		return r;
	d = fdopendir(fd);
	if (!d)
		return -errno;
	(void)ward_steal_fd(&fd);
	*ret = d;
	return 0;
}

static int open_dir(void *user, void *dir, const char *name, void **ret)
{
	return open_at(user, dirfd(dir), name, ret);
}

static int next_entry(void *user, void *dir, char name[WARD_LOOK_NAME_SIZE], bool *ret_is_dir)
{
	const struct look *l = user;
	const struct dirent *e;
	struct ward_file file;
	size_t size;

	if (coarse_ns() > l->until_ns)
		return -EXDEV;
	do {
		errno = 0;
		e = readdir(dir);
		if (!e)
			return -errno;
	} while (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."));
	size = strlen(e->d_name) + 1;
	if (size > WARD_LOOK_NAME_SIZE)
		return -EXDEV;
	*ret_is_dir = e->d_type == DT_DIR;
	if (e->d_type == DT_UNKNOWN) {
		int r = ward_backing_stat(l->tree, dirfd(dir), e->d_name, &file);

		if (r < 0)
			return r;
		*ret_is_dir = S_ISDIR(file.st.st_mode);
	}
	memcpy(name, e->d_name, size);
	return 1;
}

static void close_dir(void *user, void *dir)
{
	(void)user;
	(void)closedir(dir);
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
