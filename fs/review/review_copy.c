/* SPDX-License-Identifier: Apache-2.0 */
/* Objects: made, copied from the host's files, opened. */
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <linux/xattr.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "enforcer/base/fd.h"
#include "fs/review/review_internal.h"

#define PIECE (1U << 20)
/* How often a file is copied that others write to meanwhile. */
#define COPY_TRIES 4

static void fd_path(int fd, char ret[40])
{
	(void)snprintf(ret, 40, "/proc/self/fd/%d", fd);
}

int ward_review_open_object(
	const struct ward_review *rv, const struct ward_review_file *f, int flags, int *ret_fd)
{
	char name[WARD_REVIEW_NAME];
	struct open_how how = {.flags = (uint64_t)(unsigned)(flags | O_CLOEXEC | O_NOFOLLOW),
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV};
	int fd;

	if (!(flags & O_PATH))
		how.flags |= O_NOCTTY | O_NONBLOCK;
	ward_review_object_name(f, name);
	fd = ward_fd_openat2(rv->objects_fd, name, &how);
	if (fd < 0)
		return fd == -EMFILE ? -ENFILE : fd;
	*ret_fd = fd;
	return 0;
}

static struct timespec time_of(const struct statx_timestamp *t)
{
	return (struct timespec){.tv_sec = t->tv_sec, .tv_nsec = t->tv_nsec};
}

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
	f->copied_ctime = time_of(&stx.stx_ctime);
	if (base) {
		f->lower_ctime = time_of(&base->stx_ctime);
		f->lower_nlink = base->stx_nlink;
		f->foreign = stx.stx_uid != base->stx_uid || stx.stx_gid != base->stx_gid;
	} else {
		f->lower_ctime = f->copied_ctime;
		f->id.btime_ns = f->object.btime_ns;
	}
	if (!f->hashed)
		ward_review_hash_object(rv, f);
	f->hashed = f->staged = true;
	return 0;
}

/* The part of a file that has content, from off on. */
static int copy_part(int from, int to, off_t off, off_t end, char *buf)
{
	while (off < end) {
		off_t in = off, out = off;
		ssize_t n = copy_file_range(from, &in, to, &out, (size_t)(end - off), 0);

		if (n < 0 && (errno == EXDEV || errno == EINVAL || errno == EOPNOTSUPP)) {
			n = pread(from, buf, PIECE, off);
			if (n > 0)
				n = pwrite(to, buf, (size_t)n, off);
		}
		if (n < 0 && errno != EINTR)
			return -errno;
		if (n == 0)
			break;
		off += n > 0 ? n : 0;
	}
	return 0;
}

static int copy_content(int from, int to, off_t size)
{
	ward_cleanup_free char *buf = NULL;
	off_t at = 0;
	int r = 0;

	if (ioctl(to, FICLONE, from) == 0)
		return 0;
	if (ftruncate(to, 0) < 0 || ftruncate(to, size) < 0)
		return -errno;
	buf = malloc(PIECE);
	if (!buf)
		return -ENOMEM;
	while (r == 0 && at < size) {
		const off_t data = lseek(from, at, SEEK_DATA);
		off_t hole;

		if (data < 0)
			return errno == ENXIO ? 0 : -errno;
		hole = lseek(from, data, SEEK_HOLE);
		if (hole < 0)
			return -errno;
		r = copy_part(from, to, data, hole < size ? hole : size, buf);
		at = hole;
	}
	return r;
}

/* Those that a session can see: user.* and the ACLs. */
static bool carries(const char *name)
{
	return !strncmp(name, XATTR_USER_PREFIX, XATTR_USER_PREFIX_LEN) ||
	       !strcmp(name, XATTR_NAME_POSIX_ACL_ACCESS) ||
	       !strcmp(name, XATTR_NAME_POSIX_ACL_DEFAULT);
}

static int copy_xattrs(int from, int to)
{
	ward_cleanup_free char *names = malloc(XATTR_LIST_MAX), *value = malloc(XATTR_SIZE_MAX);
	char from_path[40], to_path[40];
	ssize_t len;

	if (!names || !value)
		return -ENOMEM;
	fd_path(from, from_path);
	fd_path(to, to_path);
	len = listxattr(from_path, names, XATTR_LIST_MAX);
	if (len < 0)
		return errno == EOPNOTSUPP ? 0 : -errno;
	for (const char *n = names; n < names + len; n += strlen(n) + 1) {
		ssize_t size;

		if (!carries(n))
			continue;
		size = getxattr(from_path, n, value, XATTR_SIZE_MAX);
		if (size < 0 && errno == ENODATA)
			continue;
		if (size < 0 || setxattr(to_path, n, value, (size_t)size, 0) < 0)
			return -errno;
	}
	return 0;
}

/* Owner, mode, times; to is O_PATH. A link has no mode. */
static int copy_attributes(int to, const struct statx *st)
{
	const struct timespec times[2] = {time_of(&st->stx_atime), time_of(&st->stx_mtime)};
	char path[40];

	/* Who may not give it away keeps it: what the session sees is what the host has. */
	(void)!fchownat(to, "", st->stx_uid, st->stx_gid, AT_EMPTY_PATH);
	fd_path(to, path);
	if (!S_ISLNK(st->stx_mode) && fchmodat(AT_FDCWD, path, st->stx_mode & 07777, 0) < 0)
		return -errno;
	return syscall(SYS_utimensat, to, "", times, AT_EMPTY_PATH) < 0 ? -errno : 0;
}

static bool same_times(const struct statx *a, const struct statx *b)
{
	return a->stx_size == b->stx_size && a->stx_mtime.tv_sec == b->stx_mtime.tv_sec &&
	       a->stx_mtime.tv_nsec == b->stx_mtime.tv_nsec &&
	       a->stx_ctime.tv_sec == b->stx_ctime.tv_sec &&
	       a->stx_ctime.tv_nsec == b->stx_ctime.tv_nsec;
}

static int copy_regular(struct ward_review *rv, int fd, const char *name, struct statx *st)
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
			r = copy_content(from, to, (off_t)st->stx_size);
		if (r == 0)
			r = ward_review_statx(from, "", &after);
		if (r == 0 && same_times(st, &after))
			break;
		if (r == 0 && tries + 1 == COPY_TRIES)
			r = -EBUSY;
	}
	if (r == 0)
		r = copy_xattrs(from, to);
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

/* The object under a name for the moment; *st: the host's file as it was copied. */
static int make_copy(struct ward_review *rv, int fd, const char *name, struct statx *st)
{
	ward_cleanup_fd int to = -1;
	int r = 0;

	switch (st->stx_mode & S_IFMT) {
	case S_IFREG:
		r = copy_regular(rv, fd, name, st);
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
	return to < 0 ? -errno : copy_attributes(to, st);
}

/* The copy becomes the object, unless somebody was faster. Locked for writing. */
static int place(struct ward_review *rv, int fd, const char *copy, const struct statx *st,
	struct ward_review_file **ret)
{
	char name[WARD_REVIEW_NAME];
	struct ward_review_file *f = NULL;
	int r = ward_review_declare(rv, fd, NULL, st, &f);

	if (r < 0 || f->staged) {
		(void)unlinkat(rv->objects_fd, copy, 0);
		return r;
	}
	ward_review_object_name(f, name);
	if (syscall(SYS_renameat2, rv->objects_fd, copy, rv->objects_fd, name, 0) < 0)
		return -errno;
	r = ward_review_placed(rv, f, st);
	if (r == 0)
		*ret = f;
	return r;
}

int ward_review_copy_up(struct ward_review *rv, int fd)
{
	char copy[WARD_REVIEW_NAME];
	struct ward_review_file *f = NULL;
	struct ward_review_key key;
	struct statx st;
	int r = ward_review_statx(fd, "", &st);

	if (r < 0)
		return r;
	key = ward_review_key_of(&st);
	pthread_rwlock_rdlock(&rv->lock);
	f = ward_review_by_key(rv, &key);
	pthread_rwlock_unlock(&rv->lock);
	if (f && (f->staged || f->gone))
		return f->gone ? -ESTALE : 0;
	f = NULL;
	(void)snprintf(copy, sizeof(copy), "c%u", atomic_fetch_add(&rv->next_copy, 1));
	r = make_copy(rv, fd, copy, &st);
	if (r < 0) {
		(void)unlinkat(rv->objects_fd, copy, 0);
		return r;
	}
	pthread_rwlock_wrlock(&rv->lock);
	r = place(rv, fd, copy, &st, &f);
	pthread_rwlock_unlock(&rv->lock);
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
	r = copy_xattrs(lower_fd, to);
	if (r == 0)
		r = copy_attributes(to, &st);
	return r < 0 ? r : ward_review_placed(rv, dir, &st);
}
