/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `wardfs attach`, in the supervisor: others at the terminal of the session's first command. All
 * see the same screen, and all type into the same program, as does whoever started the session,
 * unless they left (`--keep`, WARD_RELAY_DETACH twice). At the control socket (control.h):
 *
 *   client     {"verb":"attach","rows":N,"columns":N,"watch":BOOL}
 *   supervisor {"attached":true}, with a stream socket: what the screen showed last and shows from
 * now on, and the other way what is typed (of one that watches it is dropped); or
 *              {"error":TEXT,"status":N}
 *   client     {"rows":N,"columns":N}, when its window changes
 *   supervisor {"exited":N} or {"signaled":N}: the command is over; or {"error":TEXT,"status":N}
 *
 * Who comes and who goes is in the trail (kind `exec`).
 */
#pragma once

#include <jansson.h>
#include <poll.h>

#include "enforcer/sandbox/sandbox.h"
#include "enforcer/session/guard.h"
#include "enforcer/session/relay.h"

#define WARD_ATTACH_MAX 4
#define WARD_ATTACH_POLL_MAX (2 * WARD_ATTACH_MAX)
/* Of what the screen showed before so much is shown to somebody new. */
#define WARD_ATTACH_LAST 8192

struct ward_attached; /* somebody at the terminal */

struct ward_attach {
	/* Borrowed, for as long as this lives. */
	struct ward_sandbox *sandbox;
	struct ward_guard *guard;
	struct ward_relay *relay;
	struct ward_attached *v[WARD_ATTACH_MAX]; /* NULL: free */
	uint32_t last_id;
	char last[WARD_ATTACH_LAST]; /* a ring; `shown` bytes went through it in all */
	uint64_t shown;
	bool over; /* the command is */
};

/* The command runs. *ret must not move from here on. */
void ward_attach_start(struct ward_attach *ret, struct ward_sandbox *sb, struct ward_guard *g,
	struct ward_relay *relay);
/* A request came on fd, which is taken. Answers errors itself. */
void ward_attach_request(struct ward_attach *a, int fd, const json_t *request);
/* What to wait for (<= WARD_ATTACH_POLL_MAX). */
size_t ward_attach_poll(const struct ward_attach *a, struct pollfd *ret_fds);
/* After poll(2) with the same array. */
void ward_attach_work(struct ward_attach *a, const struct pollfd *fds, size_t n);
/* The command is over, and what it left on the screen was moved: tells everybody, and lets go. With
 * status < 0 it was ended by signal. */
void ward_attach_end(struct ward_attach *a, int status, int signal);
