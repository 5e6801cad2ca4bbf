/* SPDX-License-Identifier: Apache-2.0 */
#include "enforcer/review/swap.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"
#include "enforcer/review/content.h"

#define BESIDE ".wardfs-apply-%llx-%llx-%s"

static int rename_at(int dir, const char *from, int dir2, const char *to, unsigned flags)
{
	return syscall(SYS_renameat2, dir, from, dir2, to, flags) < 0 ? -errno : 0;
}

static int look_at(int fd, struct ward_swap_at *ret)
{
	struct statx s;
	if (statx(fd, "", AT_EMPTY_PATH, STATX_INO | STATX_MNT_ID, &s) < 0)
		return -errno;
	*ret = (struct ward_swap_at){.dev = makedev(s.stx_dev_major, s.stx_dev_minor),
		.ino = s.stx_ino,
		.mnt = s.stx_mnt_id};
	return 0;
}

void ward_swap_place_init(struct ward_swap_place *p, int keep)
{
	p->keep = keep;
	p->known = false;
	p->dir = -1;
}

void ward_swap_place_forget(struct ward_swap_place *p)
{
	if (p->dir >= 0)
		close(p->dir);
	p->dir = -1;
}

int ward_swap_is_elsewhere(struct ward_swap_place *p, int dir)
{
	struct ward_swap_at at;
	int r = p->known ? 0 : look_at(p->keep, &p->kept);
	p->known = r == 0;
	r = r < 0 ? r : look_at(dir, &at);
	return r < 0 ? r : at.dev != p->kept.dev || at.mnt != p->kept.mnt;
}

/*
 * Of a file system that knows no flags (NFS, FUSE): a file gets its second name by link(2), which
 * replaces nothing. A directory is renamed where nothing is; what comes there meanwhile is replaced
 * if it is an empty directory, and nothing else is.
 */
static int rename_plain(int dir, const char *from, int dir2, const char *to)
{
	struct stat st, there;
	if (fstatat(dir, from, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	const bool taken = fstatat(dir2, to, &there, AT_SYMLINK_NOFOLLOW) == 0;
	if (!taken && errno != ENOENT)
		return -errno;
	if (S_ISDIR(st.st_mode))
		return taken ? -EEXIST : rename_at(dir, from, dir2, to, 0);
	/* Whoever was here before may have been ended between both calls. */
	if (taken && (there.st_ino != st.st_ino || there.st_dev != st.st_dev))
		return -EEXIST;
	if (!taken && linkat(dir, from, dir2, to, 0) < 0)
		return -errno;
	return unlinkat(dir, from, 0) < 0 ? -errno : 0;
}

int ward_swap_rename(int dir, const char *from, int dir2, const char *to)
{
	int r = rename_at(dir, from, dir2, to, RENAME_NOREPLACE);
	return r == -EINVAL ? rename_plain(dir, from, dir2, to) : r;
}

int ward_swap_names(int dir, const char *a, int dir2, const char *b)
{
	return rename_at(dir, a, dir2, b, RENAME_EXCHANGE);
}

/* The directory that path lies in is p->dir; *ret: the name. */
static int find_dir(struct ward_swap_place *p, int root_fd, const char *path, const char **ret)
{
	const char *slash = strrchr(path, '/');
	const size_t len = slash ? (size_t)(slash - path) : 0;
	const uint64_t now = ward_clock_mono_ns();
	if (p->dir >= 0 && p->root_fd == root_fd && p->len == len && now < p->until_ns &&
		memcmp(p->path, path, len) == 0) {
		*ret = slash ? slash + 1 : path;
		return *path ? 0 : -EINVAL;
	}
	ward_swap_place_forget(p);
	p->dir = ward_host_parent(root_fd, path, ret);
	int r = p->dir < 0 ? p->dir : p->keep < 0 ? 0 : look_at(p->dir, &p->at);
	if (r < 0) {
		ward_swap_place_forget(p);
		return r;
	}
	p->found++;
	p->root_fd = root_fd;
	p->len = len;
	p->until_ns = now + WARD_SWAP_DIR_NS;
	memcpy(p->path, path, len);
	return 0;
}

int ward_swap_begin(struct ward_swap_place *p, int root_fd, const char *path, uint32_t number,
	struct ward_swapping *ret)
{
	*ret = (struct ward_swapping){.dir = -1, .keep = p->keep};
	snprintf(ret->kept, sizeof(ret->kept), "%u", number);
	int r = find_dir(p, root_fd, path, &ret->name);
	if (r == 0 && p->keep >= 0 && !p->known) {
		r = look_at(p->keep, &p->kept);
		p->known = r == 0;
	}
	if (r < 0)
		return r;
	ret->dir = p->dir;
	if (p->keep < 0)
		return 0;
	ret->elsewhere = p->at.dev != p->kept.dev || p->at.mnt != p->kept.mnt;
	snprintf(ret->beside, sizeof(ret->beside), BESIDE, (unsigned long long)p->kept.ino,
		(unsigned long long)p->at.ino, ret->kept);
	return 0;
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

/* In the project's directory. What is left there, should this process be ended, is one file. */
static int write_beside(struct ward_swapping *s, int from_dir, const char *from, mode_t type,
	const struct ward_review_base *was, struct ward_content_digests *digests)
{
	int r = ward_content_copy_digested(from_dir, from, type, s->dir, s->beside, was, digests);
	if (r == -EEXIST) {
		r = clear_beside(s, was);
		if (r == 0)
			r = ward_content_copy_digested(
				from_dir, from, type, s->dir, s->beside, was, digests);
	}
	if (r == 0 && s->elsewhere && was)
		r = ward_swap_copy(s, type, was);
	else if (r == 0 && !s->elsewhere)
		r = ward_swap_rename(s->dir, s->beside, s->keep, s->kept);
	return r;
}

/*
 * It gets what files of the project's directory get: the group, the label, a default ACL. So it is
 * made there, without a name where the file system can.
 */
int ward_swap_write(struct ward_swapping *s, int from_dir, const char *from, mode_t type,
	const struct ward_review_base *was, struct ward_review_base *ret,
	struct ward_content_digests *digests)
{
	const char *name = NULL;
	mode_t is;
	int r = -EOPNOTSUPP;
	if (S_ISREG(type) && !s->elsewhere)
		r = ward_content_copy_unnamed(
			from_dir, from, s->dir, s->keep, s->kept, was, digests);
	if (r == -EOPNOTSUPP)
		r = write_beside(s, from_dir, from, type, was, digests);
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
	return ward_swap_rename(dir, name, s->dir, s->name);
}

/* What stands at the name goes, or changes places with what is ready. Another file comes back. */
static int displace(struct ward_swapping *s, bool takes, const struct ward_review_base *was)
{
	const char *name = NULL;
	struct ward_review_base now;
	mode_t type;
	int dir = ward_swap_ready(s, &name);
	int r = takes ? ward_swap_rename(s->dir, s->name, dir, name)
		      : ward_swap_names(dir, name, s->dir, s->name);
	if (r < 0)
		return r == -EBUSY && !takes ? -EINVAL : r;
	if (ward_host_stat_at(dir, name, &now, &type) == 0 && ward_host_same(&now, was, true)) {
		if (s->elsewhere)
			(void)unlinkat(dir, name, 0);
		return 0;
	}
	r = takes ? ward_swap_rename(dir, name, s->dir, s->name)
		  : ward_swap_names(dir, name, s->dir, s->name);
	return r < 0 ? -EBUSY : -ESTALE;
}

int ward_swap_exchange(struct ward_swapping *s, const struct ward_review_base *was)
{
	return displace(s, false, was);
}

int ward_swap_take(struct ward_swapping *s, const struct ward_review_base *was)
{
	return displace(s, true, was);
}

int ward_swap_unlink(struct ward_swapping *s, const struct ward_review_base *was)
{
	int r = ward_swap_take(s, was);
	if (r == 0 && !s->elsewhere)
		(void)unlinkat(s->keep, s->kept, 0);
	return r;
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
