/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `wardfs exec`: further commands in a running session, each for a client on the control socket
 * that is the owner, whoever started the session, or root, and not from inside (control.h).
 *
 *   client     {"verb":"exec","argv":[…],"env":["NAME=VALUE"…],"cwd":PATH?,"pty":N,"rows":N,
 *              "columns":N}, with the descriptors that become 0, 1, 2; but where bit i of pty is
 *              set, descriptor i is a pty of its own
 *   supervisor {"started":true}, with the pty's controlling side; or {"error":TEXT,"status":N}
 *   client     {"signal":N}, as often as it likes
 *   supervisor {"exited":N} or {"signaled":N}, with "timeout":true where [limits] per-command ended
 *              it; the end
 *
 * A client that closes its connection hangs up: SIGHUP, SIGKILL two seconds later. Each command is
 * in the trail twice (kind `exec`): as it is asked for, and how it ended.
 */
#pragma once

#include <jansson.h>
#include <poll.h>

#include "enforcer/sandbox/sandbox.h"
#include "enforcer/session/guard.h"

#define WARD_EXECS_MAX 16

struct ward_exec; /* one command and its client */

struct ward_execs {
	/* Borrowed, for as long as this lives. */
	struct ward_sandbox *sandbox;
	struct ward_guard *guard;
	char *const *envp; /* the session's */
	const char *cwd;
	bool terminal;			     /* the policy gives terminals */
	uint64_t per_command_ns;	     /* WARD_UNLIMITED: none */
	struct ward_exec *v[WARD_EXECS_MAX]; /* NULL: free */
	uint32_t last_id;
};

/* An exec request came on fd, which is taken, as are the descriptors. Answers errors itself. */
void ward_execs_request(
	struct ward_execs *x, int fd, const json_t *request, int *fds, size_t n_fds);
/* What clients to wait for (<= WARD_EXECS_MAX), and for how many milliseconds at most (-1). */
size_t ward_execs_poll(const struct ward_execs *x, struct pollfd *ret_fds);
int ward_execs_timeout(const struct ward_execs *x);
/* After poll(2): what clients say, whose time is over. */
void ward_execs_work(struct ward_execs *x, const struct pollfd *fds, size_t n);
/* An event of kind WARD_SANDBOX_EXEC_…; its fd is taken. */
void ward_execs_event(struct ward_execs *x, const struct ward_sandbox_event *ev);
/* The session ends: tells every client so. */
void ward_execs_close(struct ward_execs *x);
