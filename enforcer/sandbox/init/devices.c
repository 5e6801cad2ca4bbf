/* SPDX-License-Identifier: Apache-2.0 */
/*
 * /dev/null and its like as 0, 1 or 2. Nothing is behind them, but they are files of the host's:
 * a process that has one open for writing may set its times (futimens(2)). The view has the same
 * devices on mounts that are read-only, where that is refused and writing is not. So the command
 * gets these.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/sandbox/init/init.h"

/* drivers/char/mem.c: those that the view has (view.c) and a command may be given (given.c). */
#define MEM_MAJOR 1
static const struct {
	unsigned minor;
	const char *path;
} devices[] = {{3, "/dev/null"}, {5, "/dev/zero"}, {7, "/dev/full"}, {8, "/dev/random"},
	{9, "/dev/urandom"}};

static const char *path_of(const struct stat *st)
{
	for (size_t i = 0; i < sizeof(devices) / sizeof(*devices); i++)
		if (S_ISCHR(st->st_mode) && st->st_rdev == makedev(MEM_MAJOR, devices[i].minor))
			return devices[i].path;
	return NULL;
}

static int replace(int i, const char *path, dev_t device)
{
	struct stat st;
	int flags = fcntl(i, F_GETFL);
	if (flags < 0)
		return -errno;
	ward_cleanup_fd int fd =
		open(path, (flags & (O_ACCMODE | O_APPEND | O_NONBLOCK)) | O_NOCTTY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISCHR(st.st_mode) || st.st_rdev != device)
		return -ENODEV;
	return dup2(fd, i) < 0 ? -errno : 0;
}

int ward_init_own_devices(uint32_t layers, struct ward_err *err)
{
	int r = 0;
	for (int i = 0; i < 3 && r == 0 && layers & WARD_LAYER_VIEW; i++) {
		struct stat st;
		if (fstat(i, &st) < 0)
			return ward_err_sys(err, -errno, "descriptor %d", i);
		const char *path = path_of(&st);
		r = path ? replace(i, path, st.st_rdev) : 0;
		if (r < 0)
			ward_err_sys(err, r, "give descriptor %d: %s", i, path);
	}
	return r;
}
