/* SPDX-License-Identifier: Apache-2.0 */
/* The staged layer: begun, looked at, opened. */
#include "fs/review/review.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "enforcer/base/fd.h"
#include "fs/review/journal.h"
#include "fs/review/review_internal.h"

/* How often a file is staged that is removed and made anew all the while. */
#define STAGE_TRIES 8

/* What could not be begun; nothing is known of files yet. */
static void drop(struct ward_review *rv)
{
	if (rv->objects_fd >= 0)
		close(rv->objects_fd);
	if (rv->bases_fd >= 0)
		close(rv->bases_fd);
	if (rv->journal_fd >= 0)
		close(rv->journal_fd);
	for (size_t i = 0; i < WARD_SIZE_LOCKS; i++)
		pthread_mutex_destroy(&rv->size.files[i]);
	pthread_mutex_destroy(&rv->size.lock);
	pthread_mutex_destroy(&rv->steps.writers_lock);
	pthread_rwlock_destroy(&rv->lock);
	free(rv);
}

int ward_review_new(int store_fd, struct ward_review **ret, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf line = WARD_BUF_INIT;
	struct ward_review *rv = calloc(1, sizeof(*rv));
	struct statx stx;
	int r = rv ? 0 : -ENOMEM;

	if (r < 0)
		return ward_err_sys(err, r, "staged changes");
	pthread_rwlock_init(&rv->lock, NULL);
	rv->store_fd = store_fd;
	rv->objects_fd = rv->bases_fd = rv->journal_fd = rv->steps.fd = -1;
	pthread_mutex_init(&rv->steps.writers_lock, NULL);
	pthread_mutex_init(&rv->size.lock, NULL);
	for (size_t i = 0; i < WARD_SIZE_LOCKS; i++)
		pthread_mutex_init(&rv->size.files[i], NULL);
	rv->next = 1;
	rv->name_max = NAME_MAX;
	rv->uid_served = geteuid();
	/* With a branch they are there. */
	if (mkdirat(store_fd, WARD_REVIEW_OBJECTS, 0700) < 0 &&
		(errno != EEXIST || faccessat(store_fd, WARD_REVIEW_BRANCH, F_OK, 0) < 0))
		r = -errno;
	if (r == 0 && mkdirat(store_fd, WARD_REVIEW_BASES, 0700) < 0)
		r = -errno;
	if (r == 0) {
		rv->objects_fd = openat(store_fd, WARD_REVIEW_OBJECTS,
			O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		rv->bases_fd = openat(store_fd, WARD_REVIEW_BASES,
			O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		rv->journal_fd = openat(store_fd, WARD_REVIEW_JOURNAL,
			O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600);
		r = rv->objects_fd < 0 || rv->bases_fd < 0 || rv->journal_fd < 0 ? -errno : 0;
	}
	if (r == 0)
		r = ward_review_statx(rv->objects_fd, "", &stx);
	if (r == 0) {
		rv->store_dev = ward_review_key_of(&stx).dev;
		ward_buf_puts(&line, "J 3;");
		r = ward_review_write(rv, &line);
	}
	if (r < 0) {
		drop(rv);
		return ward_err_sys(err, r, "staged changes");
	}
	*ret = rv;
	return 0;
}

int ward_review_add_root(struct ward_review *rv, int root_fd, bool stages, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf line = WARD_BUF_INIT;
	const size_t i = rv->n_roots;
	struct statfs fs;
	struct statx stx;
	int r = ward_review_statx(root_fd, "", &stx);

	if (r == 0 && fstatfs(root_fd, &fs) < 0)
		r = -errno;
	if (r == 0 && fs.f_namelen > 0 && (size_t)fs.f_namelen < rv->name_max)
		rv->name_max = (size_t)fs.f_namelen;
	if (r == 0)
		r = ward_fd_path(root_fd, &rv->roots[i].path);
	if (r < 0)
		return ward_err_sys(err, r, "staged changes: a tree's directory");
	rv->roots[i].fd = root_fd;
	rv->roots[i].dev = ward_review_key_of(&stx).dev;
	rv->roots[i].stages = stages;
	rv->n_roots++;
	/* Every root has its number, so that one number is one in the journal and here. */
	ward_review_put_root(&line, i, rv->roots[i].path);
	r = ward_review_write(rv, &line);
	return r < 0 ? ward_err_sys(err, r, "staged changes") : 0;
}

void ward_review_on_staged(
	struct ward_review *rv, void (*fn)(void *user, const struct ward_file_id *id), void *user)
{
	rv->on_staged = fn;
	rv->user = user;
}

/* --- looked at --- */

/* What is at a known file's name. */
static int stat_known(
	struct ward_review *rv, const struct ward_review_at *at, struct ward_file *ret)
{
	ward_cleanup_fd int fd = -1;
	char name[WARD_REVIEW_NAME];
	struct statx stx = at->lower;
	int r = 0;

	if (at->file->staged) {
		ward_review_object_name(at->file, name);
		r = ward_review_statx(rv->objects_fd, name, &stx);
	} else if (at->entry) {
		r = ward_review_open_lower(rv, at->file, O_PATH, &fd);
		if (r == 0)
			r = ward_review_statx(fd, "", &stx);
	}
	if (r < 0)
		return r;
	ward_file_from_statx(&stx, ret);
	ward_review_adjust(rv, at->file, at->file->staged, ret);
	return 0;
}

/* Does stx, which f is known by, lead to its object? */
static bool is_object(const struct ward_review_file *f, const struct statx *stx)
{
	const struct ward_review_key key = ward_review_key_of(stx);

	return f->hashed && memcmp(&f->object, &key, sizeof(key)) == 0;
}

static void show_object(
	struct ward_review *rv, const struct ward_review_at *at, struct ward_file *ret)
{
	ward_file_from_statx(&at->dir_stx, ret);
	ward_review_adjust(rv, at->file, true, ret);
}

int ward_review_stat(struct ward_review *rv, int dirfd, const char *name, struct ward_file *ret)
{
	struct ward_review_at at;
	bool wanted;
	int r;

	pthread_rwlock_rdlock(&rv->lock);
	r = ward_review_look(rv, dirfd, name, &at);
	wanted = r == 0 && ward_review_is_wanted(&at);
	if (r == 0 && !at.there)
		r = -ENOENT;
	else if (r == 0 && !*name && at.file && is_object(at.file, &at.dir_stx))
		/* On whatever device the store is. */
		show_object(rv, &at, ret);
	else if (r == 0 && (!at.file || !*name))
		r = WARD_REVIEW_LOWER; /* and ward_review_show() has the last word */
	else if (r == 0)
		r = stat_known(rv, &at, ret);
	pthread_rwlock_unlock(&rv->lock);
	if (r >= 0 && wanted) {
		/* Without it, a change of the file would be lost. */
		const int e = ward_review_place_found(rv, dirfd, name);

		r = e < 0 ? e : r;
	}
	return r;
}

void ward_review_show(struct ward_review *rv, const struct statx *stx, struct ward_file *file)
{
	const struct ward_review_key key = ward_review_key_of(stx);
	const struct ward_review_file *f;

	if (!ward_review_covers(rv, stx))
		return;
	pthread_rwlock_rdlock(&rv->lock);
	f = ward_review_by_key(rv, &key);
	if (f)
		ward_review_adjust(rv, f, is_object(f, stx), file);
	pthread_rwlock_unlock(&rv->lock);
}

int ward_review_there(struct ward_review *rv, int dirfd, const char *name)
{
	struct ward_review_at at;
	int r;

	pthread_rwlock_rdlock(&rv->lock);
	r = ward_review_look(rv, dirfd, name, &at);
	if (r == 0 && !at.there)
		r = -ENOENT;
	else if (r == 0 && !at.entry)
		r = WARD_REVIEW_LOWER;
	pthread_rwlock_unlock(&rv->lock);
	return r;
}

/* --- opened --- */

static bool writes(int flags)
{
	return !(flags & O_PATH) && (flags & O_ACCMODE) != O_RDONLY;
}

/* A directory of the host's whose mode the session may have changed. */
static int may_list(struct ward_review *rv, const struct ward_review_file *f)
{
	ward_cleanup_fd int fd = -1;
	int r = ward_review_open_object(rv, f, O_PATH, &fd);

	if (r == 0 && syscall(SYS_faccessat2, fd, "", R_OK, AT_EACCESS | AT_EMPTY_PATH) < 0)
		r = -errno;
	return r;
}

/* An object is opened; to write, only once a step has what it was. */
static int open_own(struct ward_review *rv, struct ward_review_file *f, int flags, int *ret_fd,
	struct ward_review_file **ret_keep)
{
	int r;

	if (writes(flags) && ward_steps_needs(rv, f, false)) {
		*ret_keep = f;
		return WARD_REVIEW_KEEP;
	}
	r = ward_review_open_object(rv, f, flags, ret_fd);
	if (r == 0 && writes(flags))
		ward_steps_opened(rv, f);
	return r;
}

/*
 * A way to open. 0; WARD_REVIEW_LOWER; WARD_REVIEW_KEEP; or *ret_stage is the host's file, to be
 * staged first. Locked for reading.
 */
typedef int way_fn(struct ward_review *rv, int fd, const char *name, int flags, int *ret_fd,
	int *ret_stage, struct ward_review_file **ret_keep);

static int open_there(struct ward_review *rv, int dirfd, const char *name, int flags, int *ret_fd,
	int *ret_stage, struct ward_review_file **ret_keep)
{
	struct ward_review_at at;
	int r = ward_review_look(rv, dirfd, name, &at);

	if (r != 0)
		return r;
	if (!at.there)
		return -ENOENT;
	if (writes(flags) && !S_ISDIR(ward_review_type_at(&at)) && !(at.file && at.file->staged)) {
		/* The owner's right to write is the host's to say. */
		if (S_ISREG(ward_review_type_at(&at)))
			return ward_review_open_at(
				rv, dirfd, name, &at, flags & ~O_APPEND, ret_stage);
		return ward_review_open_at(rv, dirfd, name, &at, flags, ret_fd);
	}
	if (!at.file)
		return WARD_REVIEW_LOWER;
	if (at.file->staged && writes(flags) && !S_ISDIR(at.file->type))
		return open_own(rv, at.file, flags, ret_fd, ret_keep);
	if (S_ISDIR(at.file->type) && at.file->has_lower && at.file->staged && !(flags & O_PATH))
		r = may_list(rv, at.file);
	return r < 0 ? r : ward_review_open_at(rv, dirfd, name, &at, flags, ret_fd);
}

/* What fd leads to. 0, or WARD_REVIEW_LOWER: nothing is staged there. */
static int file_of(struct ward_review *rv, int fd, struct statx *stx, struct ward_review_file **ret,
	bool *ret_object)
{
	struct ward_review_key key;
	int r = ward_review_statx(fd, "", stx);

	if (r < 0)
		return r;
	if (!ward_review_covers(rv, stx))
		return WARD_REVIEW_LOWER;
	key = ward_review_key_of(stx);
	*ret = ward_review_by_key(rv, &key);
	*ret_object = *ret && is_object(*ret, stx);
	/* An object before a step back, and the host's file counts now: that is a step's alone. */
	if (*ret && !*ret_object && !(*ret)->staged && key.dev == rv->store_dev &&
		memcmp(&key, &(*ret)->lower, sizeof(key)) != 0)
		return -ESTALE;
	return 0;
}

/* The same of a descriptor. */
static int reopen_there(struct ward_review *rv, int fd, const char *name, int flags, int *ret_fd,
	int *ret_stage, struct ward_review_file **ret_keep)
{
	struct ward_review_file *f = NULL;
	bool object = false;
	struct statx stx;
	int r = file_of(rv, fd, &stx, &f, &object);

	(void)name;
	if (r != 0)
		return r;
	if (object && writes(flags) && ward_steps_needs(rv, f, false)) {
		*ret_keep = f;
		return WARD_REVIEW_KEEP;
	}
	if (object && writes(flags))
		ward_steps_opened(rv, f);
	if (object || (f && f->gone) || S_ISDIR(stx.stx_mode))
		return WARD_REVIEW_LOWER;
	if (f && f->staged)
		return open_own(rv, f, flags, ret_fd, ret_keep);
	if (!writes(flags) || !S_ISREG(stx.stx_mode))
		return WARD_REVIEW_LOWER;
	return ward_review_open_again(fd, flags & ~O_APPEND, ret_stage);
}

static int open_staged(
	struct ward_review *rv, int fd, const char *name, int flags, way_fn *way, int *ret_fd)
{
	for (int tries = 0; tries < STAGE_TRIES; tries++) {
		struct ward_review_file *keep = NULL;
		ward_cleanup_fd int lower = -1;
		int r;

		pthread_rwlock_rdlock(&rv->lock);
		r = way(rv, fd, name, flags, ret_fd, &lower, &keep);
		pthread_rwlock_unlock(&rv->lock);
		if (r == WARD_REVIEW_KEEP) {
			r = ward_steps_keep(rv, keep, false);
			if (r < 0)
				return r;
			continue;
		}
		if (r != 0 || lower < 0)
			return r;
		r = ward_review_inside(rv, lower);
		if (r == 0)
			r = ward_review_copy_up(rv, lower);
		if (r != 0)
			return r;
	}
	return -ESTALE;
}

int ward_review_open(
	struct ward_review *rv, int dirfd, const char *name, int flags, mode_t mode, int *ret_fd)
{
	if ((flags & O_TMPFILE) == O_TMPFILE || flags & O_CREAT)
		return ward_review_create(rv, dirfd, name, flags, mode, ret_fd);
	return open_staged(rv, dirfd, name, flags, open_there, ret_fd);
}

int ward_review_reopen(struct ward_review *rv, int fd, int flags, int *ret_fd)
{
	return open_staged(rv, fd, NULL, flags, reopen_there, ret_fd);
}

int ward_review_shown(struct ward_review *rv, int fd, int *ret_fd)
{
	struct ward_review_file *f = NULL;
	bool object = false;
	struct statx stx;
	int r;

	pthread_rwlock_rdlock(&rv->lock);
	r = file_of(rv, fd, &stx, &f, &object);
	if (r == 0 && f && !object && f->staged && !f->gone)
		r = ward_review_open_object(rv, f, O_PATH, ret_fd);
	else if (r == 0)
		r = WARD_REVIEW_LOWER;
	pthread_rwlock_unlock(&rv->lock);
	return r;
}

/* May the daemon's identity change the attributes of the file that stx is of, or f? */
static int may_own(struct ward_review *rv, int fd, const struct statx *stx,
	const struct ward_review_file *f, bool object, enum ward_review_need need)
{
	ward_cleanup_fd int own = -1;
	struct ward_file file;

	ward_file_from_statx(stx, &file);
	if (f)
		ward_review_adjust(rv, f, object, &file);
	if (rv->uid_served == 0 || rv->uid_served == file.st.st_uid)
		return 0;
	if (need == WARD_REVIEW_OWNER)
		return -EPERM;
	if (f && f->staged && !object && !f->gone &&
		ward_review_open_object(rv, f, O_PATH, &own) < 0)
		return -EACCES;
	return syscall(SYS_faccessat2, own >= 0 ? own : fd, "", W_OK, AT_EACCESS | AT_EMPTY_PATH) <
			       0
		       ? -errno
		       : 0;
}

int ward_review_own(struct ward_review *rv, int fd, enum ward_review_need need, int *ret_fd)
{
	struct ward_review_file *f = NULL;
	bool object = false;
	struct statx stx;
	int r;

	pthread_rwlock_wrlock(&rv->lock);
	r = file_of(rv, fd, &stx, &f, &object);
	if (r == 0 && !f)
		r = ward_review_inside(rv, fd);
	if (r == 0)
		r = may_own(rv, fd, &stx, f, object, need);
	if (r == 0 && f && f->staged && ward_steps_needs(rv, f, true)) {
		pthread_rwlock_unlock(&rv->lock);
		r = ward_steps_keep(rv, f, true);
		return r < 0 ? r : ward_review_own(rv, fd, need, ret_fd);
	}
	if (r == 0)
		atomic_fetch_add(&rv->steps.all, 1);
	if (r == 0 && (object || (f && f->gone)))
		r = f->gone && !object ? -ESTALE : WARD_REVIEW_LOWER;
	if (r == 0 && S_ISDIR(stx.stx_mode)) {
		r = f ? 0 : ward_review_declare(rv, fd, NULL, &stx, &f);
		if (r == 0)
			r = ward_review_stage_dir(rv, f, fd);
		if (r == 0)
			f->attrs = true;
	}
	pthread_rwlock_unlock(&rv->lock);
	if (r == 0 && !S_ISDIR(stx.stx_mode))
		r = ward_review_copy_up(rv, fd);
	return r == 0 ? ward_review_shown(rv, fd, ret_fd) : r;
}

/* What is to be in place of the file of fd. */
static int fresh_there(struct ward_review *rv, int fd, const char *name, int flags, int *ret_fd,
	int *ret_stage, struct ward_review_file **ret_keep)
{
	struct ward_review_file *f = NULL;
	bool object = false;
	struct statx stx;
	int r = file_of(rv, fd, &stx, &f, &object);

	(void)name;
	if ((r != 0 && r != -ESTALE) || !f || object || f->gone || !S_ISREG(f->type))
		return r;
	if (f->staged)
		return open_own(rv, f, flags, ret_fd, ret_keep);
	if (r == 0)
		return 0;
	/* The object is one of before a step back, and the host's file counts. */
	return ward_review_open_lower(rv, f, (flags & ~O_APPEND) | O_NONBLOCK | O_NOCTTY,
		writes(flags) ? ret_stage : ret_fd);
}

int ward_review_fresh(struct ward_review *rv, int fd)
{
	const int had = fcntl(fd, F_GETFL);
	ward_cleanup_fd int own = -1;
	int r;

	if (had < 0)
		return -errno;
	r = open_staged(rv, fd, NULL, had & (O_ACCMODE | O_APPEND), fresh_there, &own);
	/* The number stays: whoever uses it meanwhile has the one or the other. */
	if (r == 0 && own >= 0 && dup3(own, fd, O_CLOEXEC) < 0)
		r = -errno;
	return r;
}

bool ward_review_unstaged(struct ward_review *rv, int fd)
{
	struct ward_review_file *f = NULL;
	bool object = false;
	struct statx stx;
	int r;

	pthread_rwlock_rdlock(&rv->lock);
	r = file_of(rv, fd, &stx, &f, &object);
	pthread_rwlock_unlock(&rv->lock);
	if (r == 0 && object)
		return f->borrowed || (f->no_object && ward_steps_may_return(rv, f));
	return r == 0 && (f || ward_review_inside(rv, fd) == 0);
}

int ward_review_lock_fd(struct ward_review *rv, int fd)
{
	struct ward_review_file *f = NULL;
	bool object = false;
	struct statx stx;
	int lower = -1;

	pthread_rwlock_rdlock(&rv->lock);
	if (file_of(rv, fd, &stx, &f, &object) == 0 && f && object && f->has_lower &&
		S_ISREG(f->type) && ward_review_open_lower(rv, f, O_RDWR | O_NONBLOCK, &lower) < 0)
		(void)!ward_review_open_lower(rv, f, O_RDONLY | O_NONBLOCK, &lower);
	pthread_rwlock_unlock(&rv->lock);
	return lower;
}
