/* SPDX-License-Identifier: Apache-2.0 */
/* Opens files that a user named (fd.h). */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/base/patient.h"

/* Did the caller name one of its own descriptors? A link on a disk to one does not count. */
static bool is_descriptor(const char *path)
{
	static const char *const dirs[] = {"/dev/fd/", "/proc/self/fd/"};
	for (size_t i = 0; i < sizeof(dirs) / sizeof(*dirs); i++)
		if (strncmp(path, dirs[i], strlen(dirs[i])) == 0)
			return true;
	return strcmp(path, "/dev/stdin") == 0;
}

/* A pipe(2) has no name on any disk; a fifo has the file system of its directory. */
static bool is_pipe(int fd, const struct stat *st)
{
	struct statfs fs;
	return S_ISFIFO(st->st_mode) && fstatfs(fd, &fs) == 0 && fs.f_type == PIPEFS_MAGIC;
}

static int refuse_kind(const char *path, mode_t mode, struct ward_err *err)
{
	if (S_ISDIR(mode))
		return ward_err_sys(err, -EISDIR, "%s", path);
	return ward_err_set(err, -EINVAL, "%s is not a regular file but a %s: name a file", path,
		S_ISFIFO(mode)	 ? "pipe"
		: S_ISSOCK(mode) ? "socket"
				 : "device");
}

int ward_fd_open_named(const char *path, enum ward_fd_named what, int *ret_fd, struct ward_err *err)
{
	char self[64];
	struct stat st;
	int r = ward_patient_reach(path, err);
	if (r < 0)
		return r;
	ward_cleanup_fd int there = open(path, O_PATH | O_CLOEXEC);
	if (there < 0 || fstat(there, &st) < 0)
		return ward_err_sys(err, -errno, "%s", path);
	const bool pipe = what == WARD_NAMED_PIPE && is_descriptor(path) && is_pipe(there, &st);
	if (!S_ISREG(st.st_mode) && !pipe)
		return refuse_kind(path, st.st_mode, err);
	snprintf(self, sizeof(self), "/proc/self/fd/%d", there);
	/* Of a file: does not wait for the holder of a lease. Of a pipe: its reader waits. */
	int fd = open(self, O_RDONLY | O_NOCTTY | O_CLOEXEC | (pipe ? 0 : O_NONBLOCK));
	if (fd < 0)
		return ward_err_sys(err, -errno, "%s", path);
	*ret_fd = fd;
	return 0;
}
