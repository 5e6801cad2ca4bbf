/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the child process that connects to unix sockets of the host. */
#include "enforcer/net/entry/reach.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/net/setup/child.h"
#include "enforcer/net/setup/filters.h"

/* It waits for nobody but the file system. */
#define REACH_MS 5000

struct paths {
	char *const *v;
	size_t n;
};

static int connect_to(const char *path, int *ret_fd)
{
	struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_NO_SYMLINKS};
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	struct stat st;
	ward_cleanup_fd int at = (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how));
	if (at < 0)
		return -errno;
	if (fstat(at, &st) < 0)
		return -errno;
	if (!S_ISSOCK(st.st_mode))
		return -ECONNREFUSED;
	ward_cleanup_fd int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	/* The file that we looked at, even if another one has its name now. */
	snprintf(sa.sun_path, sizeof(sa.sun_path), "/proc/self/fd/%d", at);
	if (connect(fd, (struct sockaddr *)&sa, sizeof(sa)) < 0)
		return -errno;
	*ret_fd = ward_steal_fd(&fd);
	return 0;
}

static int reach(void *user, struct ward_msg_reader *q, struct ward_child_answer *ret)
{
	const struct paths *paths = user;
	uint32_t number = ward_msg_get_u32(q);
	if (ward_msg_done(q) < 0 || number >= paths->n)
		return -EINVAL;
	return connect_to(paths->v[number], &ret->fd);
}

static void life(int channel, void *user)
{
	if (ward_child_keep_only(&channel, 1) == 0 &&
		ward_child_confine(0, &ward_filter_reach, NULL) == 0)
		ward_child_serve(channel, reach, user);
}

int ward_reach_make(char *const *paths, size_t n, int *ret_channel, struct ward_err *err)
{
	struct paths all = {paths, n};
	*ret_channel = -1;
	return n ? ward_child_fork(life, &all, ret_channel, err) : 0;
}

int ward_reach_connect(int channel, size_t number, int *ret_fd)
{
	ward_cleanup(ward_msg_clear) struct ward_msg q;
	struct ward_child_answer a;
	ward_msg_init(&q, WARD_CHILD_QUESTION);
	ward_msg_put_u32(&q, (uint32_t)number);
	int r = ward_child_ask(channel, &q, REACH_MS, &a);
	if (r == 0 && a.fd < 0)
		r = -EPIPE;
	if (r == 0)
		*ret_fd = a.fd;
	return r;
}
