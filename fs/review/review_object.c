/* SPDX-License-Identifier: Apache-2.0 */
/* Objects and what steps keep of them, as files: opened, copied, overwritten. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <linux/xattr.h>
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

struct timespec ward_review_time(const struct statx_timestamp *t)
{
	return (struct timespec){.tv_sec = t->tv_sec, .tv_nsec = t->tv_nsec};
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

/* 1: to shares the blocks of from. */
int ward_review_copy_content(int from, int to, off_t size)
{
	ward_cleanup_free char *buf = NULL;
	off_t at = 0;
	int r = 0;

	if (ioctl(to, FICLONE, from) == 0)
		return 1;
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

int ward_review_copy_xattrs(int from, int to)
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
int ward_review_copy_attributes(int to, const struct statx *st)
{
	const struct timespec times[2] = {
		ward_review_time(&st->stx_atime), ward_review_time(&st->stx_mtime)};
	char path[40];

	/* Who may not give it away keeps it: what the session sees is what the host has. */
	(void)!fchownat(to, "", st->stx_uid, st->stx_gid, AT_EMPTY_PATH);
	fd_path(to, path);
	if (!S_ISLNK(st->stx_mode) && fchmodat(AT_FDCWD, path, st->stx_mode & 07777, 0) < 0)
		return -errno;
	return syscall(SYS_utimensat, to, "", times, AT_EMPTY_PATH) < 0 ? -errno : 0;
}

/* --- what steps keep --- */

static int clone_regular(int fd, int to, const char *to_name, const struct statx *st, int *ret_fd,
	uint64_t *ret_bytes)
{
	ward_cleanup_fd int from = -1, copy = -1;
	char path[40];
	int r = ward_review_open_again(fd, O_RDONLY, &from);

	/* The session took the right to read from its own file. */
	if (r == -EACCES) {
		fd_path(fd, path);
		if (fchmodat(AT_FDCWD, path, (st->stx_mode & 07777) | 0400, 0) == 0) {
			r = ward_review_open_again(fd, O_RDONLY, &from);
			(void)!fchmodat(AT_FDCWD, path, st->stx_mode & 07777, 0);
		}
	}
	if (r < 0)
		return r;
	copy = openat(to, to_name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (copy < 0)
		return -errno;
	r = ward_review_copy_content(from, copy, (off_t)st->stx_size);
	*ret_bytes = r == 0 ? (uint64_t)st->stx_blocks * 512 : 0;
	if (r >= 0)
		r = ward_review_copy_xattrs(from, copy);
	if (r == 0)
		*ret_fd = ward_steal_fd(&copy);
	return r;
}

static int clone_other(int fd, int to, const char *to_name, const struct statx *st)
{
	char target[PATH_MAX + 1];
	ssize_t n;

	if (S_ISDIR(st->stx_mode))
		return mkdirat(to, to_name, 0700) < 0 ? -errno : 0;
	if (!S_ISLNK(st->stx_mode))
		return mknodat(to, to_name, (st->stx_mode & S_IFMT) | 0600, 0) < 0 ? -errno : 0;
	n = readlinkat(fd, "", target, PATH_MAX);
	if (n < 0)
		return -errno;
	target[n] = '\0';
	return symlinkat(target, to, to_name) < 0 ? -errno : 0;
}

int ward_review_clone(
	int from, const char *from_name, int to, const char *to_name, uint64_t *ret_bytes)
{
	ward_cleanup_fd int fd = openat(from, from_name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	ward_cleanup_fd int copy = -1, held = -1;
	uint64_t bytes = 0;
	struct statx st;
	int r = fd < 0 ? -errno : ward_review_statx(fd, "", &st);

	if (r == 0)
		r = S_ISREG(st.stx_mode) ? clone_regular(fd, to, to_name, &st, &held, &bytes)
					 : clone_other(fd, to, to_name, &st);
	if (r == 0 && (copy = openat(to, to_name, O_PATH | O_NOFOLLOW | O_CLOEXEC)) < 0)
		r = -errno;
	if (r == 0 && S_ISDIR(st.stx_mode))
		r = ward_review_copy_xattrs(fd, copy);
	if (r == 0)
		r = ward_review_copy_attributes(copy, &st);
	if (r == 0)
		*ret_bytes = bytes;
	else if (r != -EEXIST)
		(void)unlinkat(to, to_name, r == 0 || !S_ISDIR(st.stx_mode) ? 0 : AT_REMOVEDIR);
	return r;
}

/* Those that ward_review_copy_xattrs() is about to set, and others. */
static int drop_xattrs(int fd)
{
	ward_cleanup_free char *names = malloc(XATTR_LIST_MAX);
	char path[40];
	ssize_t len;

	if (!names)
		return -ENOMEM;
	fd_path(fd, path);
	len = listxattr(path, names, XATTR_LIST_MAX);
	if (len < 0)
		return errno == EOPNOTSUPP ? 0 : -errno;
	for (const char *n = names; n < names + len; n += strlen(n) + 1)
		if (carries(n) && removexattr(path, n) < 0 && errno != ENODATA)
			return -errno;
	return 0;
}

static int overwrite_content(int from, int to, const struct statx *st)
{
	ward_cleanup_fd int in = -1, out = -1;
	char path[40];
	int r = ward_review_open_again(from, O_RDONLY, &in);

	fd_path(to, path);
	if (r == 0 && fchmodat(AT_FDCWD, path, 0600, 0) < 0)
		r = -errno;
	if (r == 0)
		r = ward_review_open_again(to, O_RDWR, &out);
	/* Blocks are shared with a file that is no shorter. */
	if (r == 0 && ftruncate(out, 0) < 0)
		r = -errno;
	if (r == 0)
		r = ward_review_copy_content(in, out, (off_t)st->stx_size);
	return r < 0 ? r : 0;
}

int ward_review_overwrite(int from, int at, const char *name)
{
	ward_cleanup_fd int to = openat(at, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct statx st;
	int r = to < 0 ? -errno : ward_review_statx(from, "", &st);

	if (r == 0 && S_ISREG(st.stx_mode))
		r = overwrite_content(from, to, &st);
	if (r == 0)
		r = drop_xattrs(to);
	if (r == 0)
		r = ward_review_copy_xattrs(from, to);
	if (r == 0 && S_ISDIR(st.stx_mode)) {
		st.stx_mtime.tv_sec = 0;
		st.stx_mtime.tv_nsec = UTIME_NOW;
	}
	return r < 0 ? r : ward_review_copy_attributes(to, &st);
}
