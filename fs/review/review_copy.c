/* SPDX-License-Identifier: Apache-2.0 */
/* Objects: made, copied from the host's files, opened. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "enforcer/base/fd.h"
#include "fs/review/review_internal.h"

/* How often a file is copied that others write to meanwhile. */
#define COPY_TRIES 4

int ward_review_placed(struct ward_review *rv, struct ward_review_file *f, const struct statx *base)
{
	char name[WARD_REVIEW_NAME];
	struct statx stx;
	int r;

	ward_review_object_name(f, name);
	r = ward_review_statx(rv->objects_fd, name, &stx);
	if (r == 0)
		r = ward_review_log_staged(rv, f, base);
	if (r < 0)
		return r;
	f->object = ward_review_key_of(&stx);
	f->copied_ctime = ward_review_time(&stx.stx_ctime);
	if (base) {
		f->lower_ctime = ward_review_time(&base->stx_ctime);
		f->lower_nlink = base->stx_nlink;
		f->foreign = stx.stx_uid != base->stx_uid || stx.stx_gid != base->stx_gid;
	} else {
		f->lower_ctime = f->copied_ctime;
		f->id.btime_ns = f->object.btime_ns;
	}
	if (base)
		ward_steps_staged(rv, f);
	if (!f->hashed)
		ward_review_hash_object(rv, f);
	f->hashed = f->staged = true;
	f->no_object = false;
	ward_steps_trim(rv);
	return 0;
}

/* base: gets the name of a copy of the content, or "". */
static int copy_regular(struct ward_review *rv, int fd, const char *name, struct statx *st,
	char base[WARD_REVIEW_NAME])
{
	ward_cleanup_fd int from = -1, to = -1;
	struct statx after;
	int r = ward_review_open_again(fd, O_RDONLY, &from);

	if (r < 0)
		return r;
	to = openat(rv->objects_fd, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (to < 0)
		return -errno;
	for (int tries = 0; r == 0 && tries < COPY_TRIES; tries++) {
		r = ward_review_statx(from, "", st);
		if (r == 0)
			r = ward_review_copy_content(from, to, (off_t)st->stx_size);
		r = r > 0 ? 0 : r;
		if (r == 0)
			r = ward_review_statx(from, "", &after);
		if (r == 0 && ward_review_same_times(st, &after))
			break;
		if (r == 0 && tries + 1 == COPY_TRIES)
			r = -EBUSY;
	}
	if (r == 0)
		r = ward_review_copy_xattrs(from, to);
	if (r < 0 || !ward_review_base_begin(rv, to, (off_t)st->stx_size, base))
		base[0] = '\0';
	return r;
}

static int copy_link(struct ward_review *rv, int fd, const char *name)
{
	char target[PATH_MAX + 1];
	const ssize_t n = readlinkat(fd, "", target, PATH_MAX);

	if (n < 0)
		return -errno;
	target[n] = '\0';
	return symlinkat(target, rv->objects_fd, name) < 0 ? -errno : 0;
}

/* The object under a name for the moment; *st: the host's file as it was copied. base: as above. */
static int make_copy(struct ward_review *rv, int fd, const char *name, struct statx *st,
	char base[WARD_REVIEW_NAME])
{
	ward_cleanup_fd int to = -1;
	int r = 0;

	switch (st->stx_mode & S_IFMT) {
	case S_IFREG:
		r = copy_regular(rv, fd, name, st, base);
		break;
	case S_IFLNK:
		r = copy_link(rv, fd, name);
		break;
	case S_IFIFO:
	case S_IFSOCK:
		if (mknodat(rv->objects_fd, name, (st->stx_mode & S_IFMT) | 0600, 0) < 0)
			r = -errno;
		break;
	default:
		r = -EPERM;
		break;
	}
	if (r < 0)
		return r;
	to = openat(rv->objects_fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	return to < 0 ? -errno : ward_review_copy_attributes(to, st);
}

/* The copy becomes the object, unless somebody was faster. *io_taken: what that takes has been
 * taken; the rest of it stays. Locked for writing. */
static int place(struct ward_review *rv, int fd, const char *copy, const char *base,
	const struct statx *st, struct ward_review_file **ret, uint64_t *io_taken)
{
	char name[WARD_REVIEW_NAME];
	struct ward_review_file *f = NULL;
	int r = ward_review_declare(rv, fd, NULL, st, &f);

	if (r < 0 || f->staged) {
		(void)unlinkat(rv->objects_fd, copy, 0);
		if (*base)
			ward_review_base_drop(rv, base);
		return r;
	}
	if (*base && ward_review_base_keep(rv, f, base) && *io_taken) {
		f->base_bytes = st->stx_size;
		*io_taken -= st->stx_size;
	}
	ward_review_object_name(f, name);
	if (syscall(SYS_renameat2, rv->objects_fd, copy, rv->objects_fd, name, 0) < 0)
		return -errno;
	if (*io_taken) {
		ward_size_object(rv, f, st->stx_size);
		*io_taken -= st->stx_size;
	}
	r = ward_review_placed(rv, f, st);
	if (r == 0)
		*ret = f;
	return r;
}

/* What a copy of the file takes, with what small files had in them. */
static uint64_t needs(const struct statx *st)
{
	if (!S_ISREG(st->stx_mode))
		return 0;
	return st->stx_size <= WARD_REVIEW_BASE_MAX ? 2 * st->stx_size : st->stx_size;
}

/* Copies, once there is room for that. *io_taken: what was taken; the caller gives it back. */
static int make_counted(struct ward_review *rv, int fd, const char *copy, struct statx *st,
	char base[WARD_REVIEW_NAME], uint64_t *io_taken)
{
	const uint64_t before = needs(st);
	int r = ward_size_take(rv, before);

	if (r < 0)
		return r;
	*io_taken = rv->size.counts ? before : 0;
	r = make_copy(rv, fd, copy, st, base);
	/* It grew meanwhile. */
	if (r == 0 && rv->size.counts && needs(st) > before) {
		r = ward_size_take(rv, needs(st) - before);
		*io_taken = r == 0 ? needs(st) : before;
	}
	return r;
}

static int copy_up(struct ward_review *rv, int fd, struct statx *st, struct ward_review_file **ret)
{
	char copy[WARD_REVIEW_NAME], base[WARD_REVIEW_NAME] = "";
	const struct ward_review_key key = ward_review_key_of(st);
	const struct ward_review_file *f;
	uint64_t taken = 0;
	int r;

	pthread_rwlock_rdlock(&rv->lock);
	f = ward_review_by_key(rv, &key);
	pthread_rwlock_unlock(&rv->lock);
	if (f && (f->staged || f->gone))
		return f->gone ? -ESTALE : 0;
	(void)snprintf(copy, sizeof(copy), "c%u", atomic_fetch_add(&rv->next_copy, 1));
	r = make_counted(rv, fd, copy, st, base, &taken);
	if (r < 0) {
		(void)unlinkat(rv->objects_fd, copy, 0);
		if (*base)
			ward_review_base_drop(rv, base);
	} else {
		pthread_rwlock_wrlock(&rv->lock);
		r = place(rv, fd, copy, base, st, ret, &taken);
		pthread_rwlock_unlock(&rv->lock);
	}
	ward_size_give(rv, taken);
	return r;
}

int ward_review_copy_up(struct ward_review *rv, int fd)
{
	struct ward_review_file *f = NULL;
	pthread_mutex_t *one = NULL;
	struct statx st;
	int r = ward_review_statx(fd, "", &st);

	if (r < 0)
		return r;
	/* Two copies of one file at a time would be refused where there is room for one. */
	if (rv->size.counts)
		pthread_mutex_lock(one = &rv->size.files[st.stx_ino % WARD_SIZE_LOCKS]);
	r = copy_up(rv, fd, &st, &f);
	if (one)
		pthread_mutex_unlock(one);
	r = ward_size_refuse_fd(rv, fd, r);
	if (r == 0 && f && rv->on_staged)
		rv->on_staged(rv->user, &f->id);
	return r;
}

int ward_review_stage_dir(struct ward_review *rv, struct ward_review_file *dir, int lower_fd)
{
	ward_cleanup_fd int to = -1, from = -1;
	char name[WARD_REVIEW_NAME];
	struct statx st;
	int r;

	if (dir->staged)
		return 0;
	if (dir->gone)
		return -ENOENT;
	r = ward_review_statx(lower_fd, "", &st);
	if (r < 0)
		return r;
	ward_review_object_name(dir, name);
	if (mkdirat(rv->objects_fd, name, 0700) < 0 && errno != EEXIST)
		return -errno;
	to = openat(rv->objects_fd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (to < 0)
		return -errno;
	r = ward_review_copy_xattrs(lower_fd, to);
	if (r == 0)
		r = ward_review_copy_attributes(to, &st);
	return r < 0 ? r : ward_review_placed(rv, dir, &st);
}
