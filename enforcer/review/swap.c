/* SPDX-License-Identifier: Apache-2.0 */
#include "enforcer/review/swap.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/review/content.h"

#define BESIDE ".wardfs-apply-%llx-%llx-%s"

static int rename_at(int dir, const char *from, int dir2, const char *to, unsigned flags)
{
	return syscall(SYS_renameat2, dir, from, dir2, to, flags) < 0 ? -errno : 0;
}

static int stat_dir(int fd, struct statx *ret)
{
	return statx(fd, "", AT_EMPTY_PATH, STATX_INO | STATX_MNT_ID, ret) < 0 ? -errno : 0;
}

int ward_swap_begin(
	int root_fd, const char *path, int keep, uint32_t number, struct ward_swapping *ret)
{
	struct statx here, there;
	*ret = (struct ward_swapping){.keep = keep};
	snprintf(ret->kept, sizeof(ret->kept), "%u", number);
	ret->dir = ward_host_parent(root_fd, path, &ret->name);
	if (ret->dir < 0)
		return ret->dir;
	if (keep < 0)
		return 0;
	int r = stat_dir(ret->dir, &here);
	if (r == 0)
		r = stat_dir(keep, &there);
	if (r < 0)
		return r;
	ret->elsewhere = here.stx_dev_major != there.stx_dev_major ||
			 here.stx_dev_minor != there.stx_dev_minor ||
			 here.stx_mnt_id != there.stx_mnt_id;
	snprintf(ret->beside, sizeof(ret->beside), BESIDE, (unsigned long long)there.stx_ino,
		(unsigned long long)here.stx_ino, ret->kept);
	return 0;
}

void ward_swap_end(struct ward_swapping *s)
{
	if (s->dir >= 0)
		close(s->dir);
	s->dir = -1;
}

/* What an apply that was ended left there: half a copy, or what it displaced and kept a copy of. */
static int clear_beside(const struct ward_swapping *s, const struct ward_review_base *was)
{
	struct ward_review_base now;
	mode_t type;
	int r = ward_host_stat_at(s->dir, s->beside, &now, &type);
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	/* A file of the host's that has changed since it was displaced is somebody's. */
	if (was && now.ino == was->ino && !ward_host_same(&now, was, true))
		return -EEXIST;
	return unlinkat(s->dir, s->beside, 0) < 0 ? -errno : 0;
}

int ward_swap_copy(const struct ward_swapping *s, mode_t type, const struct ward_review_base *was)
{
	if (!s->elsewhere)
		return 0;
	(void)unlinkat(s->keep, s->kept, 0);
	return ward_content_copy(s->dir, s->name, type, s->keep, s->kept, was);
}

int ward_swap_ready(const struct ward_swapping *s, const char **ret_name)
{
	*ret_name = s->elsewhere ? s->beside : s->kept;
	return s->elsewhere ? s->dir : s->keep;
}

/*
 * Written in the project's directory, so that it gets what files there get: the group, the label, a
 * default ACL. What is left there, should this process be ended, is one file at most.
 */
int ward_swap_write(struct ward_swapping *s, int from_dir, const char *from, mode_t type,
	const struct ward_review_base *was, struct ward_review_base *ret)
{
	const char *name = NULL;
	mode_t is;
	int r = clear_beside(s, was);
	if (r == 0)
		r = ward_content_copy(from_dir, from, type, s->dir, s->beside, was);
	if (r == 0 && s->elsewhere && was)
		r = ward_swap_copy(s, type, was);
	else if (r == 0 && !s->elsewhere)
		r = rename_at(s->dir, s->beside, s->keep, s->kept, RENAME_NOREPLACE);
	int dir = ward_swap_ready(s, &name);
	if (r == 0)
		r = ward_host_stat_at(dir, name, ret, &is);
	if (r < 0 && r != -EEXIST)
		(void)unlinkat(s->dir, s->beside, 0);
	return r;
}

int ward_swap_add(struct ward_swapping *s)
{
	const char *name = NULL;
	int dir = ward_swap_ready(s, &name);
	return rename_at(dir, name, s->dir, s->name, RENAME_NOREPLACE);
}

int ward_swap_exchange(struct ward_swapping *s, const struct ward_review_base *was)
{
	const char *name = NULL;
	struct ward_review_base now;
	mode_t type;
	int dir = ward_swap_ready(s, &name);
	int r = rename_at(dir, name, s->dir, s->name, RENAME_EXCHANGE);
	if (r < 0)
		return r;
	if (ward_host_stat_at(dir, name, &now, &type) == 0 && ward_host_same(&now, was, true)) {
		if (s->elsewhere)
			(void)unlinkat(dir, name, 0);
		return 0;
	}
	return rename_at(dir, name, s->dir, s->name, RENAME_EXCHANGE) < 0 ? -EBUSY : -ESTALE;
}

int ward_swap_take(struct ward_swapping *s, const struct ward_review_base *was)
{
	const char *name = NULL;
	struct ward_review_base now;
	mode_t type;
	int dir = ward_swap_ready(s, &name);
	int r = rename_at(s->dir, s->name, dir, name, RENAME_NOREPLACE);
	if (r < 0)
		return r;
	if (ward_host_stat_at(dir, name, &now, &type) == 0 && ward_host_same(&now, was, true)) {
		if (s->elsewhere)
			(void)unlinkat(dir, name, 0);
		return 0;
	}
	return rename_at(dir, name, s->dir, s->name, RENAME_NOREPLACE) < 0 ? -EBUSY : -ESTALE;
}

int ward_swap_back(struct ward_swapping *s, mode_t type, const struct ward_review_base *was,
	const struct ward_review_base *came)
{
	if (!was)
		return ward_swap_take(s, came);
	int r = s->elsewhere ? ward_content_copy(s->keep, s->kept, type, s->dir, s->beside, was)
			     : 0;
	return r < 0 ? r : ward_swap_exchange(s, came);
}

void ward_swap_drop(struct ward_swapping *s)
{
	(void)unlinkat(s->keep, s->kept, 0);
	(void)unlinkat(s->dir, s->beside, 0);
}
