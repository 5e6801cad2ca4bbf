/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A symbolic link gets another target where two names cannot be exchanged. Nothing writes to a
 * link: the old one waits beside its place until the new one is there.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/review/in_place.h"

static int read_target(int dir, const char *name, char ret[PATH_MAX])
{
	const ssize_t n = readlinkat(dir, name, ret, PATH_MAX);
	if (n < 0 || n == PATH_MAX)
		return n < 0 ? -errno : -ENAMETOOLONG;
	ret[n] = '\0';
	return 0;
}

/* Where nothing is. */
static int make(const struct ward_swapping *s, const char *target, uid_t uid, gid_t gid)
{
	if (symlinkat(target, s->dir, s->name) < 0)
		return -errno;
	if (fchownat(s->dir, s->name, uid, gid, AT_SYMLINK_NOFOLLOW) == 0)
		return 0;
	const int r = -errno;
	(void)unlinkat(s->dir, s->name, 0);
	return r;
}

static int names_to_disk(const struct ward_swapping *s)
{
	ward_cleanup_fd int fd = openat(s->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 || fsync(fd) < 0 ? -errno : 0;
}

int ward_in_place_link(
	const struct ward_swapping *s, const struct ward_review_base *was, const char *gets)
{
	struct ward_review_base now;
	char target[PATH_MAX];
	mode_t type;
	int r = read_target(s->keep, gets, target);
	if (r == 0)
		r = ward_swap_rename(s->dir, s->name, s->dir, s->beside);
	if (r < 0)
		return r;
	r = ward_host_stat_at(s->dir, s->beside, &now, &type);
	if (r == 0 && !ward_host_same(&now, was, true))
		r = -ESTALE;
	if (r == 0)
		r = make(s, target, was->uid, was->gid);
	if (r < 0) {
		const int again = ward_swap_rename(s->dir, s->beside, s->dir, s->name);
		return again < 0 ? -EBUSY : r;
	}
	r = names_to_disk(s);
	if (r == 0)
		(void)unlinkat(s->dir, s->beside, 0);
	return r;
}

/* What waited beside its place, of which a copy is kept. */
static void drop_beside(const struct ward_swapping *s, const char *had, const char *gets)
{
	char at[PATH_MAX];
	if (read_target(s->dir, s->beside, at) == 0 &&
		(strcmp(at, had) == 0 || strcmp(at, gets) == 0))
		(void)unlinkat(s->dir, s->beside, 0);
}

int ward_in_place_restore(const struct ward_swapping *s, const char *new)
{
	struct ward_review_base now;
	char had[PATH_MAX], gets[PATH_MAX], at[PATH_MAX];
	struct stat st;
	mode_t type;
	int r = read_target(s->keep, s->kept, had);
	if (r == 0)
		r = read_target(s->keep, new, gets);
	if (r == 0 && fstatat(s->keep, s->kept, &st, AT_SYMLINK_NOFOLLOW) < 0)
		r = -errno;
	if (r < 0)
		return r;
	r = read_target(s->dir, s->name, at);
	if (r == -ENOENT) {
		r = read_target(s->dir, s->beside, at);
		r = r == 0 && strcmp(at, had) == 0
			    ? ward_swap_rename(s->dir, s->beside, s->dir, s->name)
			    : make(s, had, st.st_uid, st.st_gid);
	} else if (r == 0 && strcmp(at, gets) == 0 && strcmp(at, had) != 0) {
		drop_beside(s, had, gets);
		r = ward_host_stat_at(s->dir, s->name, &now, &type);
		r = r < 0 ? r : ward_in_place_link(s, &now, s->kept);
	} else if (r == -EINVAL || (r == 0 && strcmp(at, had) != 0)) {
		return 0;
	}
	if (r < 0)
		return r;
	drop_beside(s, had, gets);
	r = names_to_disk(s);
	return r < 0 ? r : 1;
}
