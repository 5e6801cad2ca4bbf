/* SPDX-License-Identifier: Apache-2.0 */
/*
 * [network] socket: unix sockets of the host that are reachable inside at the same path. What is
 * mounted there is a socket of the broker's, never the server's own: the broker connects outside
 * and moves bytes. So no descriptor crosses (SCM_RIGHTS), the server sees the broker and not the
 * agent (SO_PEERCRED), and every connection is recorded.
 */
#pragma once

#include "enforcer/sandbox/sandbox.h"
#include "enforcer/session/plan/plan.h"

/* A socket of wardfs for each path. It is made in the session's runtime directory, and removed from
 * there once mounted. */
struct ward_sockets {
	int dir; /* borrowed */
	int fds[WARD_NET_SOCKETS_MAX];
	char *paths[WARD_NET_SOCKETS_MAX]; /* of ours, on the host */
	size_t n;
};
#define WARD_SOCKETS_INIT ((struct ward_sockets){.dir = -1})

/*
 * Begins to listen. dir, runtime/session: the session's runtime directory. -EINVAL names a path
 * that is no socket, or leads over a symbolic link; what does not exist yet may come.
 */
int ward_sockets_open(const struct ward_run_plan *p, int dir, const char *session,
	struct ward_sockets *ret, struct ward_err *err) ward_must_check;
/* Listens at a name in dir, which the command alone may connect to. A negative errno. */
int ward_socket_listen(
	const struct ward_run_plan *p, int dir, const char *name, int *ret_fd) ward_must_check;
/* What the sandbox is to show: n entries. */
void ward_sockets_describe(
	const struct ward_sockets *s, const struct ward_run_plan *p, struct ward_sandbox_bind *ret);
void ward_sockets_close(struct ward_sockets *s);
