/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An engine that passes on no descriptors (WARD_BLUEPRINT_CALLS): pid 1 listens at an abstract
 * address of the sandbox's network namespace, and the container's pid 1 connects to it. Before the
 * command runs nobody else is in that namespace. Only the first caller is answered. Its connection
 * then lasts as long as the container.
 */
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/ipc/msg.h"
#include "enforcer/sandbox/init/init.h"

#define NAME "wardfs-engine"

static socklen_t address(struct sockaddr_un *ret)
{
	*ret = (struct sockaddr_un){.sun_family = AF_UNIX};
	memcpy(ret->sun_path + 1, NAME, sizeof(NAME) - 1);
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + sizeof(NAME));
}

int ward_init_call_listen(void)
{
	struct sockaddr_un a;
	const socklen_t len = address(&a);
	ward_cleanup_fd int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0 || bind(fd, (const struct sockaddr *)&a, len) < 0 || listen(fd, 1) < 0)
		return -errno;
	return ward_steal_fd(&fd);
}

int ward_init_call_answer(int listener, const int *fds, size_t n)
{
	ward_cleanup(ward_msg_clear) struct ward_msg m;
	ward_msg_init(&m, WARD_INIT_BLUEPRINT);
	ward_cleanup_fd int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	if (fd < 0)
		return -errno;
	int r = ward_msg_send(fd, &m, fds, n);
	return r < 0 ? r : ward_steal_fd(&fd);
}

int ward_init_call(struct ward_err *err)
{
	struct sockaddr_un a;
	const socklen_t len = address(&a);
	static char data[WARD_MSG_MAX];
	struct ward_msg_reader r;
	int from[WARD_INIT_FDS_MAX], to[WARD_INIT_FDS_MAX];
	size_t n = WARD_INIT_FDS_MAX - 1;
	ward_cleanup_fd int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, (const struct sockaddr *)&a, len) < 0)
		return ward_err_sys(err, -errno,
			"ask for descriptors (the container is not in the session's network)");
	const ssize_t got = ward_msg_recv(fd, data, sizeof(data), from, &n);
	ward_msg_reader_init(&r, data, got > 0 ? (size_t)got : 0);
	if (got <= 0 || r.type != WARD_INIT_BLUEPRINT || ward_msg_done(&r) < 0)
		return ward_err_sys(err, got < 0 ? (int)got : -EBADMSG, "hear of descriptors");
	/* The connection stays open behind them: its end is the container's. Its own number is one
	 * of theirs then. */
	from[n++] = ward_steal_fd(&fd);
	for (size_t i = 0; i < n; i++)
		to[i] = (int)i;
	const int code = ward_fd_inherit(from, to, n);
	return code < 0 ? ward_err_sys(err, code, "take the descriptors") : 0;
}
