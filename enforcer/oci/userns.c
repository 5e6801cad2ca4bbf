/* SPDX-License-Identifier: Apache-2.0 */
/* Has a child make namespaces, and opens them. */
#include "enforcer/oci/userns.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"

static int put(pid_t pid, const char *file, const struct ward_buf *b, struct ward_err *err)
{
	char path[64];
	(void)snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file);
	ward_cleanup_fd int fd = open(path, O_WRONLY | O_CLOEXEC);
	/* The kernel takes all lines in one write. */
	if (fd < 0 || write(fd, b->data, b->len) != (ssize_t)b->len)
		return ward_err_sys(err, -errno, "the kernel refuses the ids for its %s", file);
	return 0;
}

static int open_ns(pid_t pid, const char *name, int *ret, struct ward_err *err)
{
	char path[64];
	(void)snprintf(path, sizeof(path), "/proc/%d/ns/%s", (int)pid, name);
	*ret = open(path, O_RDONLY | O_CLOEXEC);
	return *ret < 0 ? ward_err_sys(err, -errno, "a %s namespace", name) : 0;
}

/* Says 0 or its errno, and stays until the other end of done is closed. */
static void child(int flags, int made, int done)
{
	char byte = unshare(flags) < 0 ? (char)errno : 0;
	(void)!write(made, &byte, 1);
	(void)!read(done, &byte, 1);
	_exit(0);
}

int ward_oci_userns_make(const struct ward_buf *uids, const struct ward_buf *gids, int *ret_user,
	int *ret_net, struct ward_err *err)
{
	char byte = 0;
	int made[2];
	int done[2];
	if (pipe2(made, O_CLOEXEC) < 0)
		return ward_err_sys(err, -errno, "pipe");
	ward_cleanup_fd int made_out = made[0];
	ward_cleanup_fd int made_in = made[1];
	if (pipe2(done, O_CLOEXEC) < 0)
		return ward_err_sys(err, -errno, "pipe");
	ward_cleanup_fd int done_out = done[0];
	ward_cleanup_fd int done_in = done[1];
	ward_cleanup_fd int user = -1;
	ward_cleanup_fd int net = -1;
	const pid_t pid = fork();
	if (pid == 0) {
		close(made_out);
		close(done_in);
		child(CLONE_NEWUSER | (ret_net ? CLONE_NEWNET : 0), made_in, done_out);
	}
	int r = pid < 0 ? ward_err_sys(err, -errno, "fork") : 0;
	close(ward_steal_fd(&made_in));
	close(ward_steal_fd(&done_out));
	if (r == 0 && (read(made_out, &byte, 1) != 1 || byte != 0))
		r = ward_err_sys(err, byte ? -(int)byte : -EIO, "a user namespace");
	if (r == 0)
		r = put(pid, "uid_map", uids, err);
	if (r == 0)
		r = put(pid, "gid_map", gids, err);
	if (r == 0)
		r = open_ns(pid, "user", &user, err);
	if (r == 0 && ret_net)
		r = open_ns(pid, "net", &net, err);
	close(ward_steal_fd(&done_in));
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	if (r < 0)
		return r;
	*ret_user = ward_steal_fd(&user);
	if (ret_net)
		*ret_net = ward_steal_fd(&net);
	return 0;
}
