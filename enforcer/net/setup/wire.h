/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The wire between the agent's network namespace and one of the broker's own, and sockets in both.
 *
 *   agent's namespace                   broker's namespace           the host's
 *   lo                                  lo  every address is local
 *   eth0  198.18.0.2, 2001:2::2  ====   net0 198.18.0.1, 2001:2::1   (no route between the two)
 *   default routes to net0              listeners of wardfs-net      wardfs-net connects here
 *
 * Every packet of the agent that is not for itself ends in the broker's namespace, where every
 * address is a local one (AnyIP: `local` routes for 0.0.0.0/0 and ::/0): where wardfs-net listens,
 * it accepts, and getsockname() is the destination that the program asked for; everywhere else the
 * kernel answers with RST or "port unreachable", so that a refusal is ECONNREFUSED at once. All
 * ports stay free inside. A packet socket shows what was refused so. An RST waits until wardfs-net
 * has found out whose connection it ends (held.h).
 *
 * Nobody enters these namespaces later. Two small processes stay there, forked before anything was
 * read, with no right but that of making sockets (maker.h); wardfs-net asks them for sockets.
 */
#pragma once

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

#include "enforcer/base/err.h"

/*
 * 198.18.0.0/15 is set aside for test networks (RFC 2544), 2001:2::/48 for the same (RFC 5180): no
 * server has an address of them.
 */
#define WARD_WIRE_AGENT4 "198.18.0.2"
#define WARD_WIRE_BROKER4 "198.18.0.1"
#define WARD_WIRE_AGENT6 "2001:2::2"
#define WARD_WIRE_BROKER6 "2001:2::1"
/* At the broker's end, the proxy inside: the variables of the command (http_proxy, …) name it. */
#define WARD_FRONT_PORT 3128
#define WARD_WIRE_BITS4 30
#define WARD_WIRE_BITS6 126

struct ward_wire {
	int outer;  /* SOCK_SEQPACKET to the maker in the broker's namespace */
	int inner;  /* to the one in the agent's namespace */
	int packet; /* packet socket on net0: what the agent sends; -1: this kernel has none */
	int held;   /* packet socket with the kernel's RST on their way; -1: they do not wait */
	int diag;   /* NETLINK_SOCK_DIAG of the agent's namespace; -1: this kernel has none */
	bool ipv6;
};

#define WARD_WIRE_INIT                                                                             \
	((struct ward_wire){.outer = -1, .inner = -1, .packet = -1, .held = -1, .diag = -1})

/*
 * Forks the two makers, which wait. To be called as the owner, while the process has one thread and
 * has read nothing of the project's.
 */
int ward_wire_fork(struct ward_wire *ret, struct ward_err *err) ward_must_check;
/*
 * The makers join the session's user namespace user_fd (the caller must own it), make the broker's
 * network namespace and set both up; net_fd is the agent's. Both descriptors stay the caller's.
 * Waits until sockets can be made.
 */
int ward_wire_join(
	struct ward_wire *w, int user_fd, int net_fd, struct ward_err *err) ward_must_check;
void ward_wire_close(struct ward_wire *w);

enum ward_wire_side { WARD_WIRE_OUTER = 0, WARD_WIRE_INNER };

/*
 * A socket of the given type (SOCK_STREAM, SOCK_DGRAM), close-on-exec and non-blocking, on one
 * side: bound to addr and, if it is a stream, listening, unless addr is NULL. *ret_fd is the
 * caller's. -EADDRINUSE and the like as bind(2); -EPIPE: the maker is dead.
 */
int ward_wire_socket(const struct ward_wire *w, enum ward_wire_side side, int family, int type,
	const struct sockaddr *addr, int *ret_fd) ward_must_check;

/* Lets a packet of IP go to the agent, which came from `held`. Nobody waits for room. */
int ward_wire_release(
	const struct ward_wire *w, const void *data, size_t len, bool ipv6) ward_must_check;
