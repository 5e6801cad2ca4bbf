/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Another policy for a running session (`wardfs policy reload`).
 *
 *   1. a child of ours loads the base that the client sent, and puts floor, project file and
 * command line on top, as at the start; looks whether the running session can have it
 *   2. its text goes into the trail (`policy` records) and beside the old one (store.h)
 *   3. wardfs-fs exchanges the policies (WARD_MSG_FS_POLICY), or keeps the old one
 *   4. `reload` goes into the trail; what was open in passthrough is taken back (revoke.h), by the
 *      same child
 *   5. the client gets its answer: {"ok":true,"digest":…,"before":…,"checked":N,"directories":N,
 *      "passthrough":N,"left":N,"forgotten":BOOL,"notes":[TEXT…]}, or {"ok":false,"error":TEXT,
 *      "status":exit status}: then the old policy is in force as before.
 *
 * Nothing here waits: the supervisor's loop calls for each event. One reload at a time.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "enforcer/session/guard/ask_fs.h"
#include "enforcer/session/guard/guard.h"
#include "enforcer/session/plan/plan.h"

/* After this long a reload fails for its client. */
#define WARD_RELOAD_MS 20000
/* A client's own patience. */
#define WARD_RELOAD_ANSWER_MS 30000

enum ward_reload_step {
	WARD_RELOAD_IDLE = 0,
	WARD_RELOAD_LOADING,
	WARD_RELOAD_SWAPPING,
	WARD_RELOAD_REVOKING,
};

/* The members up to `plan` are the caller's to set, borrowed; the rest begins as zero but fds. */
struct ward_reload {
	struct ward_guard *guard;
	struct ward_ask_fs *ask;
	struct ward_run_plan *plan;
	int net_control;	     /* of wardfs-net, -1: there is none */
	char *trees[WARD_TREES_MAX]; /* where this process sees the mounts, owned; NULL: nowhere */

	enum ward_reload_step step;
	int client; /* -1: none, or told already */
	uid_t by;
	int child; /* socket, -1 */
	pid_t pid;
	pid_t ended; /* killed, not reaped yet */
	uint64_t until_ns;
	struct ward_policy *next;    /* being loaded */
	struct ward_policy *current; /* NULL: the plan's */
	unsigned n;		     /* texts kept beside the first one */
	char *answer;		     /* of wardfs-fs, owned */
	char *notes;		     /* lines, owned */
	char *why_left;		     /* owned: why passthrough could not be taken back */
	uint64_t left;
};

#define WARD_RELOAD_INIT ((struct ward_reload){.client = -1, .child = -1, .net_control = -1})

/* Takes *client (leaves -1). base: as ward_base_encode() gives it, the caller's. */
void ward_reload_begin(struct ward_reload *r, int *client, int base);

/* For poll(2): a descriptor, -1: none; and milliseconds, -1: no bound. */
int ward_reload_fd(const struct ward_reload *r);
int ward_reload_timeout(const struct ward_reload *r);
/* The descriptor has something; the time may be over. */
void ward_reload_event(struct ward_reload *r);
void ward_reload_tick(struct ward_reload *r);

/* The session ends. */
void ward_reload_clear(struct ward_reload *r);
