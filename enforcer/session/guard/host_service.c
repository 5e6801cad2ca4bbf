/* SPDX-License-Identifier: Apache-2.0 */
/* Connects to wardfs-hostd. */
#include "enforcer/session/guard/host_service.h"

#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"

/* A program in the session waits so long for a service that hangs, once. */
#define ANSWER_S 5
/* A session waits so long to be taken up, while others connect all the time. */
#define CONNECT_US 200000

int ward_host_service_connect(const char *path)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	const struct timeval limit = {.tv_sec = ANSWER_S}, turn = {.tv_usec = CONNECT_US};
	struct ucred peer;
	socklen_t len = sizeof(peer);
	ward_cleanup_fd int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	snprintf(to.sun_path, sizeof(to.sun_path), "%s", path);
	/* connect(2) waits that long where many are at it. */
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &turn, sizeof(turn)) < 0 ||
		connect(fd, (const struct sockaddr *)&to, sizeof(to)) < 0)
		return -errno;
	/* Of whom listen(2) was called by: root, who made the socket for the service. */
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) < 0)
		return -errno;
	if (peer.uid != 0)
		return -EPERM;
	if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)) < 0 ||
		setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)) < 0)
		return -errno;
	return ward_steal_fd(&fd);
}
