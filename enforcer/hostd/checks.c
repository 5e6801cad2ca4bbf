/* SPDX-License-Identifier: Apache-2.0 */
/* Looks at what a client wants to have registered. */
#include "enforcer/hostd/checks.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/hostd/kernel_flags.h"
#include "enforcer/hostd/rights.h"

/* Documentation/admin-guide/devices.txt: 10 char, 229 = /dev/fuse */
#define FUSE_MAJOR 10
#define FUSE_MINOR 229
/* What an O_RDWR of ours may have beside: none of these changes what may be done with it. */
#define HARMLESS                                                                                   \
	(ward_kernel_largefile | O_CLOEXEC | O_NONBLOCK | O_NOATIME | O_SYNC | O_DIRECT |          \
		O_NOFOLLOW)

int ward_host_fusectl(void)
{
	ward_cleanup_fd int fs = (int)syscall(SYS_fsopen, "fusectl", FSOPEN_CLOEXEC);

	if (fs < 0 || syscall(SYS_fsconfig, fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
		return -errno;
	const int fd = (int)syscall(SYS_fsmount, fs, FSMOUNT_CLOEXEC,
		MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
	return fd < 0 ? -errno : fd;
}

/*
 * proc_pid_fdinfo(5) of fd. Unlike stat(2) it never asks a file system that is somebody's program.
 * text holds a whole one but of files with a long list behind what is looked for.
 */
static int read_info(int fd, char *text, size_t size)
{
	char path[48];
	size_t n = 0;
	ssize_t got = 1;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	ward_cleanup_fd int info = open(path, O_RDONLY | O_CLOEXEC);
	if (info < 0)
		return -errno;
	while (n < size - 1 && (got = read(info, text + n, size - 1 - n)) > 0)
		n += (size_t)got;
	if (got < 0)
		return -errno;
	text[n] = '\0';
	return 0;
}

/* The number behind "NAME:\t" at the begin of a line. */
static bool info_number(const char *text, const char *name, int base, unsigned long *ret)
{
	const size_t n = strlen(name);

	for (const char *line = text; line && *line; line = strchr(line, '\n')) {
		char *end;

		line += *line == '\n';
		if (strncmp(line, name, n) != 0 || line[n] != ':' || line[n + 1] != '\t')
			continue;
		*ret = strtoul(line + n + 2, &end, base);
		return end > line + n + 2 && *end == '\n';
	}
	return false;
}

int ward_check_fuse(int fd, int fusectl, uid_t uid, struct ward_host_fuse *ret)
{
	char text[1024], name[16];
	unsigned long number;
	struct stat st;
	int r = read_info(fd, text, sizeof(text));

	if (r < 0)
		return r;
	if (!info_number(text, "fuse_connection", 10, &number) || number > UINT32_MAX)
		return -EBADF;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISCHR(st.st_mode) || st.st_rdev != makedev(FUSE_MAJOR, FUSE_MINOR))
		return -EBADF;
	snprintf(name, sizeof(name), "%lu", number);
	if (fstatat(fusectl, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISDIR(st.st_mode) ||
		st.st_uid != uid)
		return -EPERM;
	*ret = (struct ward_host_fuse){.number = (uint32_t)number, .ino = (uint32_t)st.st_ino};
	return 0;
}

/* How it was opened, and that it is a regular file where such are taken. */
static int check_file(struct ward_mount_table *mounts, int file, int access, struct stat *ret)
{
	char text[1024];
	unsigned long flags, mount;
	int r = read_info(file, text, sizeof(text));

	if (r < 0)
		return r;
	if (!info_number(text, "flags", 8, &flags) || !info_number(text, "mnt_id", 10, &mount) ||
		(flags & ~HARMLESS) != (unsigned long)access)
		return -EBADF;
	if (mount > UINT32_MAX || !ward_mount_table_has(mounts, (uint32_t)mount))
		return -EXDEV;
	if (fstat(file, ret) < 0)
		return -errno;
	return S_ISREG(ret->st_mode) ? 0 : -EBADF;
}

/* fd, which the user could open, is the file that st is of: *ret is it again, O_PATH. */
static int same_file(int fd, const struct stat *st, int *ret)
{
	char path[48];
	struct stat now;

	if (fstat(fd, &now) < 0)
		return -errno;
	if (now.st_dev != st->st_dev || now.st_ino != st->st_ino || !S_ISREG(now.st_mode))
		return -ESTALE;
	/* The kernel keeps what is registered: open for writing, the file could not be executed. */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	const int held = open(path, O_PATH | O_CLOEXEC);
	if (held < 0)
		return -errno;
	*ret = held;
	return 0;
}

int ward_check_writable(struct ward_mount_table *mounts, int file, int *ret)
{
	char path[48];
	struct stat st;
	int r = check_file(mounts, file, O_RDWR, &st);

	if (r < 0)
		return r;
	/* O_NONBLOCK: not even for a lease (fcntl(2)) does it wait. */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	ward_cleanup_fd int again = open(path, O_RDWR | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (again < 0)
		return -errno;
	return same_file(again, &st, ret);
}

/* A mount of dir that nobody else has and nobody can write through. */
static int read_only(int dir, int *ret)
{
	struct mount_attr attr = {.attr_set = MOUNT_ATTR_RDONLY};
	int r = ward_rights_raise(true);

	if (r < 0)
		return r;
	ward_cleanup_fd int fd = (int)syscall(
		SYS_open_tree, dir, "", AT_EMPTY_PATH | OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
	if (fd < 0 || syscall(SYS_mount_setattr, fd, "", AT_EMPTY_PATH, &attr, sizeof(attr)) < 0)
		r = -errno;
	if (ward_rights_raise(false) < 0)
		return -EPERM;
	if (r == 0)
		*ret = ward_steal_fd(&fd);
	return r;
}

/* The path of file beneath dir, in *path; only a hint: what is found there is compared. */
static const char *path_beneath(char *path, const char *dir)
{
	const size_t n = strcmp(dir, "/") == 0 ? 0 : strlen(dir);

	return strncmp(path, dir, n) == 0 && path[n] == '/' ? path + n + 1 : NULL;
}

int ward_check_readable(struct ward_mount_table *mounts, int file, int dir, int *ret)
{
	const struct open_how how = {.flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS |
			   RESOLVE_NO_XDEV};
	ward_cleanup_free char *path = NULL, *above = NULL;
	ward_cleanup_fd int mount = -1, again = -1;
	char text[1024];
	unsigned long id;
	struct stat st;
	const char *rest;
	int r = check_file(mounts, file, O_RDONLY, &st);

	if (r == 0)
		r = read_info(dir, text, sizeof(text));
	if (r < 0)
		return r;
	if (!info_number(text, "mnt_id", 10, &id) || id > UINT32_MAX ||
		!ward_mount_table_has(mounts, (uint32_t)id))
		return -EXDEV;
	r = ward_fd_path(file, &path);
	if (r == 0)
		r = ward_fd_path(dir, &above);
	if (r < 0)
		return r;
	rest = path_beneath(path, above);
	if (!rest)
		return -ENOENT;
	r = read_only(dir, &mount);
	if (r < 0)
		return r;
	again = ward_fd_openat2(mount, rest, &how);
	if (again < 0) {
		r = again;
		again = -1;
		return r;
	}
	return same_file(again, &st, ret);
}
