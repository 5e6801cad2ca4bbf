/* SPDX-License-Identifier: Apache-2.0 */
/* Opens and compares files of the project. */
#include "enforcer/review/host_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"
#include "enforcer/base/fd.h"
#include "enforcer/review/review.h"

#define PIECE (256U << 10)

int ward_host_open(int root_fd, const char *path, int flags)
{
	struct open_how how = {.flags = (uint64_t)(unsigned)(flags | O_CLOEXEC | O_NOFOLLOW),
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV};
	if (!(flags & O_PATH))
		how.flags |= O_NONBLOCK | O_NOCTTY;
	if (flags & O_PATH && *path) {
		/* A link itself may be looked at: the way to it has none. */
		const char *name = NULL;
		ward_cleanup_fd int dir = ward_host_parent(root_fd, path, &name);
		if (dir < 0)
			return dir;
		how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV;
		return ward_fd_openat2(dir, name, &how);
	}
	return ward_fd_openat2(root_fd, *path ? path : ".", &how);
}

int ward_host_parent(int root_fd, const char *path, const char **ret_name)
{
	struct open_how how = {.flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV};
	char dir[PATH_MAX];
	const char *slash = strrchr(path, '/');
	size_t len = slash ? (size_t)(slash - path) : 0;
	if (!*path)
		return -EINVAL;
	if (len >= sizeof(dir))
		return -ENAMETOOLONG;
	memcpy(dir, path, len);
	dir[len] = '\0';
	*ret_name = slash ? slash + 1 : path;
	return ward_fd_openat2(root_fd, len ? dir : ".", &how);
}

static uint64_t ns_of(const struct statx_timestamp *t)
{
	return (uint64_t)t->tv_sec * 1000000000U + t->tv_nsec;
}

int ward_host_stat_at(int dir, const char *name, struct ward_review_base *ret, mode_t *ret_type)
{
	struct statx s;
	if (statx(dir, name, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT,
		    STATX_BASIC_STATS | STATX_BTIME, &s) < 0)
		return -errno;
	*ret = (struct ward_review_base){.dev = makedev(s.stx_dev_major, s.stx_dev_minor),
		.ino = s.stx_ino,
		.btime_ns = s.stx_mask & STATX_BTIME ? ns_of(&s.stx_btime) : 0,
		.size = s.stx_size,
		.mtime_ns = ns_of(&s.stx_mtime),
		.ctime_ns = ns_of(&s.stx_ctime),
		.mode = s.stx_mode & 07777,
		.nlink = s.stx_nlink,
		.uid = s.stx_uid,
		.gid = s.stx_gid};
	*ret_type = s.stx_mode & S_IFMT;
	return 0;
}

int ward_host_stat(int fd, struct ward_review_base *ret, mode_t *ret_type)
{
	return ward_host_stat_at(fd, "", ret, ret_type);
}

bool ward_host_same(const struct ward_review_base *a, const struct ward_review_base *b, bool moved)
{
	return a->dev == b->dev && a->ino == b->ino && a->btime_ns == b->btime_ns &&
	       a->mode == b->mode && a->uid == b->uid && a->gid == b->gid && a->size == b->size &&
	       a->mtime_ns == b->mtime_ns && (moved || a->ctime_ns == b->ctime_ns);
}

static ssize_t read_piece(int fd, char *buf, off_t off)
{
	ssize_t n;
	do
		n = pread(fd, buf, PIECE, off);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

/* Where the next content is, from off on; the end of the file: there is none. */
static off_t next_data(int fd, off_t off, off_t end)
{
	const off_t data = lseek(fd, off, SEEK_DATA);
	if (data >= 0)
		return data;
	return errno == ENXIO ? end : off;
}

int ward_host_same_content(int a, int b, uint64_t until_ns)
{
	ward_cleanup_free char *of_a = malloc(PIECE), *of_b = malloc(PIECE);
	struct stat st_a, st_b;
	if (!of_a || !of_b)
		return -ENOMEM;
	if (fstat(a, &st_a) < 0 || fstat(b, &st_b) < 0)
		return -errno;
	if (st_a.st_size != st_b.st_size)
		return 0;
	/* A file that one read takes has no holes worth a look. */
	const bool small = st_a.st_size < (off_t)PIECE;
	for (off_t off = 0;;) {
		const off_t at_a = small ? off : next_data(a, off, st_a.st_size);
		const off_t at_b = small ? off : next_data(b, off, st_a.st_size);
		off = at_a < at_b ? at_a : at_b;
		if (until_ns && ward_clock_mono_ns() > until_ns)
			return 0;
		ssize_t n = read_piece(a, of_a, off), m = read_piece(b, of_b, off);
		if (n < 0 || m < 0)
			return n < 0 ? (int)n : (int)m;
		if (n != m || memcmp(of_a, of_b, (size_t)n) != 0)
			return 0;
		if (n == 0 || (small && n == (ssize_t)st_a.st_size))
			return 1;
		off += n;
	}
}

int ward_review_host_look(
	int root_fd, const char *path, mode_t *ret_mode, char *ret_to, size_t size)
{
	struct ward_review_base base;
	mode_t type;
	ward_cleanup_fd int fd = ward_host_open(root_fd, path, O_PATH);
	int r = fd < 0 ? fd : ward_host_stat(fd, &base, &type);
	if (r < 0)
		return r;
	const ssize_t n = S_ISLNK(type) ? readlinkat(fd, "", ret_to, size - 1) : 0;
	if (n < 0)
		return -errno;
	ret_to[n] = '\0';
	*ret_mode = type | base.mode;
	return 0;
}
