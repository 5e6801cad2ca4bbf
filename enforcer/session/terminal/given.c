/* SPDX-License-Identifier: Apache-2.0 */
/* Tells what of a caller's 0, 1, 2 a command may hold itself. */
#include "enforcer/session/terminal/given.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "enforcer/modes/table/mode.h"

/* linux/major.h, drivers/char/mem.c: null, zero, full, random, urandom. Nothing is behind them. */
#define MEM_MAJOR 1
static const unsigned mem_minors[] = {3, 5, 7, 8, 9};

static bool is_plain(int fd, const struct stat *st)
{
	struct statfs fs;
	/* A pipe with a name is an inode of the host's, with a mode and an owner. */
	if (S_ISFIFO(st->st_mode))
		return fstatfs(fd, &fs) == 0 && fs.f_type == PIPEFS_MAGIC;
	if (!S_ISCHR(st->st_mode) || major(st->st_rdev) != MEM_MAJOR)
		return false;
	for (size_t i = 0; i < sizeof(mem_minors) / sizeof(*mem_minors); i++)
		if (minor(st->st_rdev) == mem_minors[i])
			return true;
	return false;
}

static bool listens(int fd)
{
	int is = 0;
	socklen_t len = sizeof(is);
	return getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &is, &len) == 0 && is;
}

int ward_given_look(int fd, const char *name, enum ward_given *ret, struct ward_err *err)
{
	struct stat st;
	int flags = fcntl(fd, F_GETFL);
	if (flags < 0 || fstat(fd, &st) < 0)
		return ward_err_sys(err, -errno, "%s", name);
	const char *what = S_ISDIR(st.st_mode)			 ? "directory"
			   : S_ISBLK(st.st_mode)		 ? "disk"
			   : flags & O_PATH			 ? "path"
			   : S_ISSOCK(st.st_mode) && listens(fd) ? "socket that listens"
								 : NULL;
	if (what)
		return ward_err_set(err, -EINVAL,
			"%s is a %s, through which the command could leave the sandbox", name,
			what);
	*ret = isatty(fd)	      ? WARD_GIVEN_TERMINAL
	       : S_ISSOCK(st.st_mode) ? WARD_GIVEN_SOCKET
	       : is_plain(fd, &st)    ? WARD_GIVEN_PLAIN
				      : WARD_GIVEN_FILE;
	return 0;
}

unsigned ward_given_apart(uint32_t guarantees, bool own_network)
{
	if (guarantees & WARD_GUARANTEE_BIT(WARD_GUARANTEE_FILES))
		return WARD_APART_ALL;
	return own_network && guarantees & WARD_GUARANTEE_BIT(WARD_GUARANTEE_NETWORK)
		       ? WARD_APART_SOCKETS
		       : 0;
}

bool ward_given_is_apart(enum ward_given g, unsigned apart)
{
	return (g == WARD_GIVEN_FILE && apart & WARD_APART_FILES) ||
	       (g == WARD_GIVEN_SOCKET && apart & WARD_APART_SOCKETS);
}

int ward_given_own_pipe(int fd, int *ret)
{
	char self[32];
	struct stat st;
	struct statfs fs;
	int flags = fcntl(fd, F_GETFL);
	*ret = -1;
	if (flags < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISFIFO(st.st_mode) || fstatfs(fd, &fs) < 0 || fs.f_type != PIPEFS_MAGIC)
		return 0;
	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	*ret = open(self, (flags & (O_ACCMODE | O_NONBLOCK | O_DIRECT)) | O_CLOEXEC);
	return *ret < 0 ? -errno : 0;
}
