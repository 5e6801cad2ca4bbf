/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and writes which directory a kept home belongs to. */
#include "enforcer/session/home/home_bound.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"

#define NAME "bound"
#define FRESH "bound.new"

int ward_home_bound_text(int project_fd, char ret[WARD_HOME_BOUND_MAX])
{
	struct statx st;
	if (statx(project_fd, "", AT_EMPTY_PATH, STATX_INO | STATX_UID | STATX_BTIME, &st) < 0)
		return -errno;
	const bool born = st.stx_mask & STATX_BTIME;
	int n = snprintf(ret, WARD_HOME_BOUND_MAX,
		"uid %u inode %" PRIu64 " born %" PRId64 ".%09u\n", (unsigned)st.stx_uid,
		(uint64_t)st.stx_ino, born ? (int64_t)st.stx_btime.tv_sec : INT64_C(0),
		born ? (unsigned)st.stx_btime.tv_nsec : 0U);
	return n > 0 && n < WARD_HOME_BOUND_MAX ? 0 : -EOVERFLOW;
}

bool ward_home_bound_is(int dir, const char *text)
{
	char now[WARD_HOME_BOUND_MAX];
	ward_cleanup_fd int fd = ward_fd_open_regular(dir, NAME, O_RDONLY);
	ssize_t n = fd < 0 ? -1 : read(fd, now, sizeof(now));
	return n >= 0 && (size_t)n == strlen(text) && memcmp(now, text, (size_t)n) == 0;
}

bool ward_home_bound_other(int dir, const char *text)
{
	struct stat st;
	if (dir < 0 || (fstatat(dir, NAME, &st, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT))
		return false;
	return !ward_home_bound_is(dir, text);
}

int ward_home_bound_write(int dir, const char *text, bool again)
{
	struct stat st;
	if (!again && fstatat(dir, NAME, &st, AT_SYMLINK_NOFOLLOW) == 0)
		return 0;
	/* A half of a line would be another directory's. */
	(void)unlinkat(dir, FRESH, 0);
	ward_cleanup_fd int fd = ward_fd_make_regular(dir, FRESH, O_WRONLY | O_EXCL, 0600);
	int r = fd < 0 ? fd : ward_fd_write_all(fd, text, strlen(text));
	if (r == 0 && renameat(dir, FRESH, dir, NAME) < 0)
		r = -errno;
	return r;
}
