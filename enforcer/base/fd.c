/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and writes descriptors whole, and settles which ones a child inherits. */
#include "enforcer/base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <limits.h>
#include <linux/close_range.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/file.h>
#include <time.h>
#include <stdint.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"

/* More than any helper inherits; bounds the stack array below. */
#define INHERIT_MAX 64

int ward_fd_write_all(int fd, const void *data, size_t len)
{
	const char *p = data;
	while (len > 0) {
		ssize_t n = write(fd, p, len);
		if (n < 0) {
			if (errno == EINTR)
				continue;
			return -errno;
		}
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

static int read_all(int fd, bool from_start, size_t max, struct ward_buf *b)
{
	char chunk[16384];
	size_t total = 0;
	for (;;) {
		ssize_t n = from_start ? pread(fd, chunk, sizeof(chunk), (off_t)total)
				       : read(fd, chunk, sizeof(chunk));
		if (n < 0) {
			if (errno == EINTR)
				continue;
			return -errno;
		}
		if (n == 0)
			return ward_buf_error(b);
		total += (size_t)n;
		if (total > max)
			return -EFBIG;
		ward_buf_add(b, chunk, (size_t)n);
		if (ward_buf_error(b))
			return ward_buf_error(b);
	}
}

int ward_fd_read_all(int fd, size_t max, struct ward_buf *b)
{
	return read_all(fd, false, max, b);
}

int ward_fd_pread_all(int fd, size_t max, struct ward_buf *b)
{
	return read_all(fd, true, max, b);
}

int ward_fd_sealed(
	const char *name, const void *data, size_t len, int *ret_fd, struct ward_err *err)
{
	int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0)
		return ward_err_sys(err, -errno, "memfd_create");
	int r = ward_fd_write_all(fd, data, len);
	if (r == 0 && lseek(fd, 0, SEEK_SET) < 0)
		r = -errno;
	if (r == 0 && fcntl(fd, F_ADD_SEALS,
			      F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) < 0)
		r = -errno;
	if (r < 0) {
		close(fd);
		return ward_err_sys(err, r, "memfd %s", name);
	}
	*ret_fd = fd;
	return 0;
}

int ward_fd_path(int fd, char **ret_path)
{
	char link[64];
	char path[PATH_MAX];
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	/* wardfs-fs may not call readlink(2). */
	ssize_t n = readlinkat(AT_FDCWD, link, path, sizeof(path));
	if (n < 0)
		return -errno;
	if (n == 0 || path[0] != '/')
		return -ENOENT;
	if ((size_t)n == sizeof(path))
		return -ENAMETOOLONG;
	path[n] = '\0';
	char *copy = strdup(path);
	if (!copy)
		return -ENOMEM;
	*ret_path = copy;
	return 0;
}

int ward_fd_openat2(int at, const char *path, const struct open_how *how)
{
	for (int tries = 0; tries < 64; tries++) {
		int fd = (int)syscall(SYS_openat2, at, path, how, sizeof(*how));
		if (fd >= 0)
			return fd;
		if (errno != EAGAIN && errno != EINTR)
			return -errno;
	}
	return -EAGAIN;
}

void ward_fd_room(int n)
{
	ward_cleanup_fd int any = memfd_create("room", MFD_CLOEXEC);
	int far = any < 0 ? -1 : fcntl(any, F_DUPFD_CLOEXEC, n - 1);
	if (far >= 0)
		close(far);
}

/* Between two tries to lock. */
#define LOCK_PAUSE_NS (2L * 1000 * 1000)

#define REGULAR (O_NOFOLLOW | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)

static int if_regular(int opened)
{
	struct stat st;
	ward_cleanup_fd int fd = opened;
	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	return S_ISREG(st.st_mode) ? ward_steal_fd(&fd) : -EINVAL;
}

int ward_fd_lock(int fd, int op, unsigned seconds)
{
	const struct timespec pause = {.tv_nsec = LOCK_PAUSE_NS};
	const uint64_t end = ward_clock_mono_ns() + (uint64_t)seconds * 1000000000U;
	while (flock(fd, op | LOCK_NB) < 0) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return -errno;
		if (ward_clock_mono_ns() >= end)
			return -EBUSY;
		(void)nanosleep(&pause, NULL);
	}
	return 0;
}

int ward_fd_open_regular(int at, const char *name, int flags)
{
	return if_regular(openat(at, name, flags | REGULAR));
}

int ward_fd_make_regular(int at, const char *name, int flags, mode_t mode)
{
	return if_regular(openat(at, name, flags | REGULAR | O_CREAT, mode));
}

int ward_fd_open_beneath(int at, const char *path)
{
	const struct open_how how = {.flags = O_PATH | O_CLOEXEC,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS};
	char self[64];
	struct stat st;
	ward_cleanup_fd int there = ward_fd_openat2(at, *path ? path : ".", &how);
	if (there < 0)
		return there;
	if (fstat(there, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	snprintf(self, sizeof(self), "/proc/self/fd/%d", there);
	int fd = open(self, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int ward_fd_inherit(const int *from, const int *to, size_t n)
{
	int tmp[INHERIT_MAX];
	if (n > INHERIT_MAX)
		return -E2BIG;
	int top = 3;
	for (size_t i = 0; i < n; i++)
		if (to[i] >= top)
			top = to[i] + 1;
	/* First all sources out of the way of all targets, then down onto their numbers. */
	for (size_t i = 0; i < n; i++) {
		tmp[i] = -1;
		if (from[i] < 0)
			continue;
		tmp[i] = fcntl(from[i], F_DUPFD_CLOEXEC, top);
		if (tmp[i] < 0)
			return -errno;
	}
	if (close_range(3, ~0U, CLOSE_RANGE_CLOEXEC) < 0)
		return -errno;
	for (size_t i = 0; i < n; i++) {
		if (tmp[i] < 0)
			close(to[i]);
		else if (dup3(tmp[i], to[i], 0) < 0)
			return -errno;
	}
	return 0;
}
