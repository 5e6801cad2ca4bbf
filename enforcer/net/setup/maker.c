/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the child process that makes sockets in a network namespace. */
#include "enforcer/net/setup/maker.h"

#include <errno.h>
#include <linux/capability.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/net/setup/child.h"
#include "enforcer/net/setup/filters.h"

/* net.core.somaxconn is 4096 since Linux 5.4 and cuts what is larger. */
#define BACKLOG 4096

int ward_maker_confine(const struct ward_maker_of *of, struct ward_err *err)
{
	return ward_child_confine((of->bind_low ? UINT64_C(1) << CAP_NET_BIND_SERVICE : 0) |
					  (of->mark ? UINT64_C(1) << CAP_NET_RAW : 0),
		&ward_filter_maker, err);
}

static int bind_to(int fd, int family, int type, const uint8_t *a, bool shared)
{
	const int on = 1;
	struct sockaddr_in v4 = {.sin_family = AF_INET};
	struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};
	const struct sockaddr *sa = (const struct sockaddr *)&v4;
	socklen_t len = sizeof(v4);
	if (family == AF_INET) {
		memcpy(&v4.sin_addr, a, 4);
		memcpy(&v4.sin_port, a + 4, 2);
	} else {
		memcpy(&v6.sin6_addr, a, 16);
		memcpy(&v6.sin6_port, a + 16, 2);
		sa = (const struct sockaddr *)&v6;
		len = sizeof(v6);
		/* Of IPv6, bind(2) knows interfaces' addresses alone and no AnyIP route. */
		if (setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on)) < 0 ||
			setsockopt(fd, IPPROTO_IPV6, IPV6_FREEBIND, &on, sizeof(on)) < 0)
			return -errno;
	}
	if (type == SOCK_STREAM && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0)
		return -errno;
	if (shared && setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on)) < 0)
		return -errno;
	/* The destination of a datagram, if the socket is not bound to one address. */
	if (type == SOCK_DGRAM &&
		setsockopt(fd, family == AF_INET ? IPPROTO_IP : IPPROTO_IPV6,
			family == AF_INET ? IP_PKTINFO : IPV6_RECVPKTINFO, &on, sizeof(on)) < 0)
		return -errno;
	if (bind(fd, sa, len) < 0 || (type == SOCK_STREAM && listen(fd, BACKLOG) < 0))
		return -errno;
	return 0;
}

static int make(void *user, struct ward_msg_reader *q, struct ward_child_answer *ret)
{
	const struct ward_maker_of *of = user;
	int family = (int)ward_msg_get_u32(q);
	int type = (int)ward_msg_get_u32(q);
	size_t len = 0;
	const uint8_t *a = ward_msg_get_bytes(q, &len);
	if (ward_msg_done(q) < 0 || (family != AF_INET && family != AF_INET6) ||
		(type != SOCK_STREAM && type != SOCK_DGRAM) ||
		(len != 0 && len != (family == AF_INET ? 6U : 18U)))
		return -EINVAL;
	ward_cleanup_fd int fd = socket(family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	int code = 0;
	if (of->mark && setsockopt(fd, SOL_SOCKET, SO_MARK, &of->mark, sizeof(of->mark)) < 0)
		code = -errno;
	if (code == 0 && len)
		code = bind_to(fd, family, type, a, of->shared);
	if (code == 0)
		ret->fd = ward_steal_fd(&fd);
	return code;
}

void ward_maker_serve(int channel, const struct ward_maker_of *of)
{
	ward_child_serve(channel, make, (void *)(uintptr_t)of);
}
