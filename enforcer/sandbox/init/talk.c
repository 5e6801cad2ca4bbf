/* SPDX-License-Identifier: Apache-2.0 */
/* Files by which a container with a kernel of its own and what is outside of it speak (relay.c). */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/sandbox/init/init.h"

/* Between two looks for a file; the other side works meanwhile. */
#define LOOK_NS 2000000

void ward_init_talk_pause(void)
{
	const struct timespec t = {.tv_nsec = LOOK_NS};
	nanosleep(&t, NULL);
}

int ward_init_talk_put(const char *dir, const char *name, const void *data, size_t len)
{
	char to[64], from[64];
	snprintf(to, sizeof(to), "%s/%s", dir, name);
	snprintf(from, sizeof(from), "%s/%s.new", dir, name);
	ward_cleanup_fd int fd =
		open(from, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	int r = fd < 0 ? -errno : ward_fd_write_all(fd, data, len);
	return r == 0 && rename(from, to) < 0 ? -errno : r;
}

/* 1: read whole, 0: not there yet, or a negative errno. */
int ward_init_talk_get(const char *dir, const char *name, void *ret, size_t len)
{
	char path[64];
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	struct stat st;
	/* The command may write there: nobody waits for a fifo of it. */
	ward_cleanup_fd int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return -EBADMSG;
	return read(fd, ret, len) == (ssize_t)len ? 1 : -EBADMSG;
}
