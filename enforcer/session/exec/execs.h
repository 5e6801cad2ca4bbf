/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `wardfs exec`: further commands in a running session, each for a client on the control socket
 * of the owner, the user who started the session, or root, and not from inside (control.h).
 *
 *   client     {"verb":"exec","argv":[…],"env":["NAME=VALUE"…],"cwd":PATH?,"pty":N,"pipes":N,
 *              "rows":N,"columns":N}, with the descriptors that become 0, 1, 2; but where bit i of
 *              pty is set, descriptor i is a pty of its own. Bit i of pipes: it is a pipe of the
 *              client's, which the command's user is to own
 *   supervisor {"started":true,"file":N?}, with the pty's controlling side; or
 * {"error":TEXT,"status":N} client     {"signal":N}, as often as it likes supervisor {"exited":N}
 * or {"signaled":N}, with "timeout":true where [limits] command ended it; the end
 *
 * A client that closes its connection hangs up: SIGHUP, SIGKILL two seconds later. Each command is
 * in the trail twice (kind `exec`): as it is asked for, and how it ended.
 */
#pragma once

#include <jansson.h>

#include "enforcer/base/pollset.h"
#include "enforcer/modes/modes.h"
#include "enforcer/session/guard/guard.h"
#include "enforcer/session/plan/plan.h"

#define WARD_EXECS_MAX 16

struct ward_exec; /* one command and its client */

/* The members up to `file_size` are the caller's to set; the rest begins as zero. */
struct ward_execs {
	/* Borrowed, for as long as this lives, which stays where it is. */
	struct ward_confined *confined;
	struct ward_guard *guard;
	const struct ward_run_plan *plan;
	char *const *envp; /* the session's */
	const char *cwd;
	bool terminal;		 /* the policy gives terminals */
	bool no_argv;		 /* [audit] redact = argv */
	unsigned apart;		 /* set of ward_given_apart: what no command gets itself */
	uid_t owner;		 /* the commands' user on the host */
	uint64_t per_command_ns; /* [limits] command, per-command: the less; WARD_UNLIMITED: none */
	uint64_t file_size;	 /* that clients keep to; WARD_UNLIMITED: none */
	struct ward_pollset *set;
	unsigned rank;
	struct ward_exec *v[WARD_EXECS_MAX]; /* NULL: free */
	uint32_t last_id;
};

/* An exec request came on fd, which is taken, as are the descriptors. Answers errors itself. */
void ward_execs_request(
	struct ward_execs *x, int fd, const json_t *request, int *fds, size_t n_fds);
/*
 * Before the first request: the rounds of set (borrowed) hear clients, and end commands whose time
 * is over.
 */
int ward_execs_watch(struct ward_execs *x, struct ward_pollset *set, unsigned rank,
	struct ward_err *err) ward_must_check;
/* An event of kind WARD_SANDBOX_EXEC_…; its fd is taken. */
void ward_execs_event(struct ward_execs *x, const struct ward_sandbox_event *ev);
/* The session ends: tells every client so. */
void ward_execs_close(struct ward_execs *x);
