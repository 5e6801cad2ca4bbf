/* SPDX-License-Identifier: Apache-2.0 */
/* What the session sees at a name, and in a directory. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "enforcer/base/fd.h"
#include "enforcer/base/dent.h"
#include "fs/review/review_internal.h"

#define DIR_BUF (32U << 10)

static bool same_mount(const struct statx *a, const struct statx *b)
{
	return a->stx_dev_major == b->stx_dev_major && a->stx_dev_minor == b->stx_dev_minor &&
	       (!(a->stx_mask & b->stx_mask & STATX_MNT_ID) || a->stx_mnt_id == b->stx_mnt_id);
}

/* The kernel asks the host's directory alone, and no directory where a name is in our tables. */
static int may_search(struct ward_review *rv, const struct ward_review_file *dir)
{
	char name[WARD_REVIEW_NAME];

	if (!dir || !dir->staged)
		return 0;
	ward_review_object_name(dir, name);
	return syscall(SYS_faccessat2, rv->objects_fd, name, X_OK,
		       AT_EACCESS | AT_SYMLINK_NOFOLLOW) < 0
		       ? -errno
		       : 0;
}

int ward_review_look(
	struct ward_review *rv, int dirfd, const char *name, struct ward_review_at *ret)
{
	struct ward_review_key key;
	int r = ward_review_statx(dirfd, "", &ret->dir_stx);

	ret->entry = NULL;
	ret->file = NULL;
	ret->there = false;
	if (r < 0)
		return r;
	if (!ward_review_covers(rv, &ret->dir_stx))
		return WARD_REVIEW_LOWER;
	key = ward_review_key_of(&ret->dir_stx);
	ret->dir = ward_review_by_key(rv, &key);
	if (!*name) {
		ret->file = ret->dir;
		ret->lower = ret->dir_stx;
		ret->there = true;
		return 0;
	}
	if (ret->dir && ret->dir->gone)
		return -ENOENT;
	r = may_search(rv, ret->dir);
	if (r < 0)
		return r;
	/* The host is not asked about names in directories that it does not have. */
	if (strlen(name) > rv->name_max)
		return -ENAMETOOLONG;
	ret->entry = ward_review_find(rv, ret->dir, name);
	if (ret->entry) {
		ret->file = ret->entry->file;
		ret->there = ret->file != NULL;
		return 0;
	}
	if (ret->dir && !ret->dir->has_lower)
		return 0;
	r = ward_review_statx(dirfd, name, &ret->lower);
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	if (!same_mount(&ret->dir_stx, &ret->lower))
		return WARD_REVIEW_LOWER;
	key = ward_review_key_of(&ret->lower);
	ret->file = ward_review_by_key(rv, &key);
	ret->there = true;
	return 0;
}

mode_t ward_review_type_at(const struct ward_review_at *at)
{
	return at->file ? at->file->type : at->lower.stx_mode & S_IFMT;
}

int ward_review_open_at(struct ward_review *rv, int dirfd, const char *name,
	const struct ward_review_at *at, int flags, int *ret_fd)
{
	struct open_how how = {.flags = (uint64_t)(unsigned)(flags | O_CLOEXEC | O_NOFOLLOW),
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV};
	const struct ward_review_file *f = at->file;
	int fd;

	if (!(flags & O_PATH))
		how.flags |= O_NOCTTY | O_NONBLOCK;
	/* A directory of the host's is its own: names in it are looked up by its descriptor. */
	if (f && f->staged && !(S_ISDIR(f->type) && f->has_lower))
		return ward_review_open_object(rv, f, flags, ret_fd);
	if (at->entry)
		return ward_review_open_lower(rv, f, (int)how.flags, ret_fd);
	fd = ward_fd_openat2(dirfd, *name ? name : ".", &how);
	if (fd < 0)
		return fd == -EMFILE ? -ENFILE : fd;
	*ret_fd = fd;
	return 0;
}

void ward_review_adjust(struct ward_review *rv, const struct ward_review_file *f, bool is_object,
	struct ward_file *file)
{
	struct stat *st = &file->st;
	char name[WARD_REVIEW_NAME];
	struct statx stx;
	int64_t nlink = f->nlink;

	ward_review_object_name(f, name);
	if (!is_object && f->staged && !f->gone &&
		ward_review_statx(rv->objects_fd, name, &stx) == 0) {
		ward_file_from_statx(&stx, file);
		is_object = true;
	}
	file->id = f->id;
	st->st_ino = f->id.ino;
	/*
	 * Of what is not staged the host's links count as they are now. A name that the session
	 * took and the host then removes, too, is counted twice: a write then goes to the object,
	 * and apply looks at the host's links itself.
	 */
	if (f->has_lower)
		nlink += (int64_t)(is_object || f->staged ? f->lower_nlink : st->st_nlink);
	st->st_nlink = f->gone || nlink < 0 ? 0 : (nlink_t)nlink;
	if (!is_object || !f->has_lower)
		return;
	if (st->st_ctim.tv_sec == f->copied_ctime.tv_sec &&
		st->st_ctim.tv_nsec == f->copied_ctime.tv_nsec)
		st->st_ctim = f->lower_ctime;
	if (f->foreign) {
		st->st_uid = f->uid;
		st->st_gid = f->gid;
	}
}

/* --- listings --- */

struct entries {
	char *v;
	size_t len, room;
	int64_t n;
};

static int add(struct entries *e, const char *name, size_t name_len, uint64_t ino, uint8_t type)
{
	const size_t need = (offsetof(struct ward_dent, name) + name_len + 1 + 7) & ~(size_t)7;
	struct ward_dent *d;

	if (e->room - e->len < need) {
		const size_t room = e->room ? e->room * 2 : DIR_BUF;
		char *v = realloc(e->v, room);

		if (!v)
			return -ENOMEM;
		e->v = v;
		e->room = room;
	}
	d = (struct ward_dent *)(void *)(e->v + e->len);
	memset(d, 0, need);
	d->ino = ino;
	e->n++;
	d->reclen = (uint16_t)need;
	d->type = type;
	memcpy(d->name, name, name_len);
	e->len += need;
	return 0;
}

/*
 * Where an entry is follows from its name alone: what comes and goes beside it, hidden or not,
 * moves nothing. Bit 62 keeps it from the beginning, and from the end.
 */
static int64_t position(const char *name)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);

	for (; *name; name++)
		h = (h ^ (uint8_t)*name) * UINT64_C(0x100000001b3);
	return (int64_t)(((h ^ (h >> 32)) & ((UINT64_C(1) << 62) - 1)) | 1);
}

/* Each entry leads to the one behind it. */
static void place(struct entries *e)
{
	struct ward_dent *last = NULL;

	for (size_t at = 0; at < e->len;) {
		struct ward_dent *d = (struct ward_dent *)(void *)(e->v + at);

		if (last)
			last->off = position(d->name);
		last = d;
		at += d->reclen;
	}
	if (last)
		last->off = INT64_MAX;
}

/* What the descriptor's directory has itself. dir: NULL: nothing of it is known. */
static int add_own(
	struct ward_review *rv, int fd, const struct ward_review_file *dir, struct entries *e)
{
	ward_cleanup_free char *buf = malloc(DIR_BUF);
	int r = 0;

	if (!buf)
		return -ENOMEM;
	if (lseek(fd, 0, SEEK_SET) < 0)
		return -errno;
	while (r == 0) {
		const ssize_t n = syscall(SYS_getdents64, fd, buf, DIR_BUF);

		if (n <= 0)
			return n < 0 ? -errno : 0;
		for (ssize_t at = 0; r == 0 && at < n;) {
			const struct ward_dent *d = (const void *)(buf + at);
			const bool dot = !strcmp(d->name, ".");

			at += d->reclen;
			/* An object is empty but for what is being made in it. */
			if (dir && !dir->has_lower && !dot && strcmp(d->name, "..") != 0)
				continue;
			if (!ward_review_find(rv, dir, d->name))
				r = add(e, d->name, strlen(d->name),
					dot && dir ? dir->id.ino : d->ino, d->type);
		}
	}
	return r;
}

int ward_review_list_locked(struct ward_review *rv, int fd, struct ward_review_entries *ret)
{
	struct entries e = {.v = NULL};
	const struct ward_review_file *dir;
	const struct ward_review_name *n;
	struct ward_review_key key;
	struct statx stx;
	int r = ward_review_statx(fd, "", &stx);

	if (r < 0)
		return r;
	key = ward_review_key_of(&stx);
	dir = ward_review_covers(rv, &stx) ? ward_review_by_key(rv, &key) : NULL;
	r = add_own(rv, fd, dir, &e);
	if (dir) {
		LIST_FOREACH(n, &dir->names, in_dir) {
			if (r == 0 && n->file)
				r = add(&e, n->text, n->len, n->file->id.ino,
					(uint8_t)IFTODT(n->file->type));
		}
	}
	if (r < 0) {
		free(e.v);
		return r;
	}
	place(&e);
	*ret = (struct ward_review_entries){.v = e.v, .len = e.len};
	return 0;
}

int ward_review_next(struct ward_review_entries *e, const char **ret_name, uint8_t *ret_type)
{
	const struct ward_dent *d = (const void *)(e->v + e->at);

	if (e->at >= e->len)
		return 0;
	e->at += d->reclen;
	*ret_name = d->name;
	*ret_type = d->type;
	return 1;
}

int ward_review_list(struct ward_review *rv, int fd, struct ward_review_entries *ret)
{
	int r;

	pthread_rwlock_rdlock(&rv->lock);
	r = ward_review_list_locked(rv, fd, ret);
	pthread_rwlock_unlock(&rv->lock);
	return r;
}
