/* SPDX-License-Identifier: Apache-2.0 */
/* Finds, names, opens and compresses the files of a trail. */
#include "audit/log/segments.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/format.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/dir_owner.h"
#include "enforcer/base/fd.h"

#define WRITING (O_RDWR | O_APPEND | O_NOFOLLOW | O_CLOEXEC)

void ward_segment_name(char ret[WARD_SEGMENT_NAME_MAX], unsigned number, bool packed)
{
	const char *end = packed ? ".zst" : "";
	if (number == 1)
		snprintf(ret, WARD_SEGMENT_NAME_MAX, "trail.jsonl%s", end);
	else
		snprintf(ret, WARD_SEGMENT_NAME_MAX, "trail.%u.jsonl%s", number, end);
}

/* The one spelling of a name only. */
static bool take_name(const char *name, unsigned *ret_number, bool *ret_packed)
{
	char again[WARD_SEGMENT_NAME_MAX];
	unsigned number = 0;
	int n = 0;
	size_t len = strlen(name);
	if (strncmp(name, "trail.jsonl", 11) == 0)
		number = 1;
	else if (sscanf(name, "trail.%6u.jsonl%n", &number, &n) != 1 || n == 0 || number < 2)
		return false;
	*ret_packed = len > 4 && strcmp(name + len - 4, ".zst") == 0;
	*ret_number = number;
	ward_segment_name(again, number, *ret_packed);
	return strcmp(name, again) == 0;
}

static int by_number(const void *a, const void *b)
{
	const struct ward_segment *x = a;
	const struct ward_segment *y = b;
	return x->number < y->number ? -1 : x->number > y->number;
}

/* One entry a number. */
static size_t merge(struct ward_segment *v, size_t n)
{
	size_t kept = 0;
	for (size_t i = 0; i < n; i++) {
		if (kept > 0 && v[kept - 1].number == v[i].number) {
			v[kept - 1].plain |= v[i].plain;
			v[kept - 1].packed |= v[i].packed;
		} else {
			v[kept++] = v[i];
		}
	}
	return kept;
}

int ward_segments_list(int dir_fd, struct ward_segment **ret_v, size_t *ret_n)
{
	int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ward_cleanup_dir DIR *d = fd < 0 ? NULL : fdopendir(fd);
	ward_cleanup_free struct ward_segment *v = NULL;
	size_t n = 0;
	if (!d) {
		int r = -errno;
		if (fd >= 0)
			close(fd);
		return r;
	}
	/* A segment that is not seen would be one that is missing, or not the last. */
	for (struct dirent *e = NULL; errno = 0, (e = readdir(d));) {
		struct ward_segment s = {0};
		if (!take_name(e->d_name, &s.number, &s.packed))
			continue;
		s.plain = !s.packed;
		if ((n & (n - 1)) == 0) {
			struct ward_segment *more = reallocarray(v, n ? 2 * n : 1, sizeof(*v));
			if (!more)
				return -ENOMEM;
			v = more;
		}
		v[n++] = s;
	}
	if (errno != 0)
		return -errno;
	if (n > 0)
		qsort(v, n, sizeof(*v), by_number);
	*ret_n = n > 0 ? merge(v, n) : 0;
	*ret_v = v;
	v = NULL;
	return 0;
}

int ward_segment_open(int dir_fd, unsigned number, bool packed, int *ret_fd)
{
	char name[WARD_SEGMENT_NAME_MAX];
	ward_segment_name(name, number, packed);
	int fd = ward_fd_open_regular(dir_fd, name, O_RDONLY);
	if (fd < 0)
		return fd;
	*ret_fd = fd;
	return 0;
}

int ward_segment_mode(int dir_fd, mode_t *ret)
{
	struct stat st;
	if (fstat(dir_fd, &st) < 0)
		return -errno;
	*ret = 0600 | (st.st_mode & 040);
	return 0;
}

int ward_segment_create(int dir_fd, unsigned number, int *ret_fd)
{
	mode_t mode = 0;
	char name[WARD_SEGMENT_NAME_MAX];
	if (number < 2 || number > WARD_SEGMENTS_MAX)
		return -EINVAL;
	int e = ward_segment_mode(dir_fd, &mode);
	if (e < 0)
		return e;
	ward_segment_name(name, number, false);
	ward_cleanup_fd int fd = openat(dir_fd, name, WRITING | O_CREAT | O_EXCL, mode);
	if (fd < 0)
		return -errno;
	if (flock(fd, LOCK_EX | LOCK_NB) < 0 || fsync(dir_fd) < 0) {
		int r = -errno;
		(void)unlinkat(dir_fd, name, 0);
		return r;
	}
	*ret_fd = ward_steal_fd(&fd);
	return 0;
}

/* 1: a whole line is in it. */
static int has_line(int fd)
{
	ward_cleanup_free char *buf = malloc(WARD_LINE_MAX);
	ssize_t n = buf ? pread(fd, buf, WARD_LINE_MAX, 0) : -1;
	if (n < 0)
		return buf ? -errno : -ENOMEM;
	return n > 0 && memchr(buf, '\n', (size_t)n) != NULL;
}

int ward_segment_last(int dir_fd, int *ret_fd, unsigned *ret_number)
{
	ward_cleanup_free struct ward_segment *v = NULL;
	char name[WARD_SEGMENT_NAME_MAX];
	size_t n = 0;
	int r = ward_segments_list(dir_fd, &v, &n);
	if (r < 0)
		return r;
	for (size_t i = n; i-- > 0;) {
		/* A writer's segment is compressed when it has the next one. */
		if (!v[i].plain)
			return -EBADMSG;
		ward_segment_name(name, v[i].number, false);
		ward_cleanup_fd int fd = openat(dir_fd, name, WRITING);
		if (fd < 0)
			return -errno;
		r = v[i].number == 1 ? 1 : has_line(fd);
		if (r < 0)
			return r;
		if (r == 1) {
			*ret_fd = ward_steal_fd(&fd);
			*ret_number = v[i].number;
			return 0;
		}
		if (unlinkat(dir_fd, name, 0) < 0)
			return -errno;
	}
	return -ENOENT;
}

void ward_segment_unused(int dir_fd, unsigned number)
{
	char name[WARD_SEGMENT_NAME_MAX];
	struct stat st;
	ward_segment_name(name, number, false);
	if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_size == 0)
		(void)unlinkat(dir_fd, name, 0);
}

/* --- compressing --- */

static void fresh_name(char ret[WARD_SEGMENT_NAME_MAX], unsigned number)
{
	ward_segment_name(ret, number, true);
	size_t n = strlen(ret);
	snprintf(ret + n, WARD_SEGMENT_NAME_MAX - n, ".new");
}

/*
 * What has the name already may be what a crash left, or, in a directory of another user, a second
 * name of any file: such a one goes before anything is written to it.
 */
static int open_fresh(int dir_fd, const char *name, mode_t mode, int *ret)
{
	ward_cleanup(ward_dir_owner_end) struct ward_dir_owner as = {0};
	struct stat st;
	int r = ward_dir_owner_begin(dir_fd, &as);
	if (r < 0)
		return r;
	if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		(!S_ISREG(st.st_mode) || st.st_nlink != 1) && unlinkat(dir_fd, name, 0) < 0)
		return -errno;
	ward_cleanup_fd int fd = ward_fd_make_regular(dir_fd, name, WRITING, mode);
	if (fd < 0)
		return fd;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (st.st_nlink > 1)
		return -EMLINK;
	*ret = ward_steal_fd(&fd);
	return 0;
}

int ward_segment_pack_begin(int dir_fd, unsigned number, int *ret_from, int *ret_to)
{
	char name[WARD_SEGMENT_NAME_MAX];
	struct stat here;
	struct stat named;
	mode_t mode = 0;
	ward_cleanup_fd int from = -1;
	int r = ward_segment_open(dir_fd, number, false, &from);
	if (r == 0)
		r = ward_segment_mode(dir_fd, &mode);
	if (r < 0)
		return r;
	fresh_name(name, number);
	ward_cleanup_fd int to = -1;
	r = open_fresh(dir_fd, name, mode, &to);
	if (r < 0)
		return r;
	/* The remains of a crash belong to no writer. */
	if (flock(to, LOCK_EX | LOCK_NB) < 0)
		return errno == EWOULDBLOCK ? -EBUSY : -errno;
	if (fstat(to, &here) < 0 || fstatat(dir_fd, name, &named, AT_SYMLINK_NOFOLLOW) < 0 ||
		here.st_ino != named.st_ino)
		return -EBUSY; /* who had it is done with it */
	if (ftruncate(to, 0) < 0)
		return -errno;
	*ret_from = ward_steal_fd(&from);
	*ret_to = ward_steal_fd(&to);
	return 0;
}

int ward_segment_pack_end(int dir_fd, unsigned number)
{
	char fresh[WARD_SEGMENT_NAME_MAX];
	char name[WARD_SEGMENT_NAME_MAX];
	fresh_name(fresh, number);
	ward_segment_name(name, number, true);
	if (renameat(dir_fd, fresh, dir_fd, name) < 0 || fsync(dir_fd) < 0)
		return -errno;
	ward_segment_name(name, number, false);
	/* Not there: somebody else compressed it just before, which comes to the same. */
	return unlinkat(dir_fd, name, 0) < 0 && errno != ENOENT ? -errno : 0;
}

void ward_segment_pack_drop(int dir_fd, unsigned number)
{
	char fresh[WARD_SEGMENT_NAME_MAX];
	fresh_name(fresh, number);
	(void)unlinkat(dir_fd, fresh, 0);
}
