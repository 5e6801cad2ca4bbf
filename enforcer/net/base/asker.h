/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who asks: from a connection to the socket at its other end, by sock_diag(7) in the agent's
 * network namespace, and from there to the process (looker.h). For the trail; nothing is decided by
 * it. It is not known where the socket is closed already (of a program that has ended, or did not
 * wait; of a connection that the kernel refused at once, where refusals cannot wait: setup/held.h),
 * or where several processes share it: then one of them.
 */
#pragma once

#include "enforcer/net/base/net.h"
#include "enforcer/net/setup/looker.h"

struct ward_asker {
	uint64_t pid;		   /* WARD_EVENT_UNKNOWN */
	char comm[WARD_COMM_SIZE]; /* "": not known */
	const char *why; /* the pid is not known, for people; NULL: it is, or nobody looked */
};
#define WARD_ASKER_UNKNOWN ((struct ward_asker){.pid = WARD_EVENT_UNKNOWN})

/* from: the program's end; to: where it sends to, as it sees it. */
void ward_asker_find(struct ward_broker *net, const union ward_sockaddr *from,
	const union ward_sockaddr *to, bool udp, struct ward_asker *ret);
/* Of an accepted connection, of TCP or of a unix socket. */
void ward_asker_of(struct ward_broker *net, int fd, struct ward_asker *ret);
