/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A session of the guard alone: trees that somebody mounts, the helpers, the trail, the control
 * socket, and the loop in which the supervisor waits for the end. `wardfs mount` and `wardfs-oci`
 * have one; neither knows the processes that use the trees as a sandbox of ours does.
 *
 *   ward_served_open()    a place for the trail, the helpers, the control socket
 *   the caller mounts
 *   ward_served_go()      wardfs-fs serves
 *   ward_served_begin()   session.start and what follows it
 *   ward_served_loop()    until `over`
 *   the caller unmounts
 *   ward_served_finish()  session.end
 *   ward_served_close()   always
 */
#pragma once

#include "enforcer/base/pollset.h"
#include "enforcer/session/control/control_verbs.h"
#include "enforcer/session/guard/anchor.h"
#include "enforcer/session/guard/ask_fs.h"
#include "enforcer/session/guard/guard.h"
#include "enforcer/session/plan/plan.h"
#include "enforcer/session/records/session_records.h"
#include "enforcer/session/records/wallclock.h"
#include "enforcer/session/reload/reload.h"

/*
 * Who comes first in a round. An orderly end does not end the round: requests of that round get
 * their answers. A failure does.
 */
enum ward_served_turn {
	/* Behind the end of what uses the trees, the mounts go, and wardfs-fs with them. */
	WARD_SERVED_USER = 1,
	/* The mount went away, and wardfs-fs with it: what the writer says then is not asked any
	 * more, and no failure. */
	WARD_SERVED_FS,
	WARD_SERVED_AUDIT,
	WARD_SERVED_CONTROL,
	/* Behind wardfs-fs, whose answer is the reload's next step. */
	WARD_SERVED_RELOAD,
	WARD_SERVED_CLOCK,
	/* Behind those whose answer may have come in this round. */
	WARD_SERVED_TICKS,
	/* Last: who told us to end is the cause, also if the mount went away meanwhile. */
	WARD_SERVED_SIGNALS,
};

struct ward_served {
	struct ward_err *err;	   /* the caller's; what goes wrong in the loop */
	struct ward_run_plan plan; /* only what a mount has: owner, policy, trees */
	const char *session;	   /* the name wanted; NULL: any */
	const char *from; /* SESSION[@STEP] to begin with, where changes are staged; or NULL */
	struct ward_control_users users;
	const struct ward_control_handlers *handlers;
	void *arg;	   /* of the handlers */
	const char *ended; /* the cause where the mounts go away by themselves; static */

	/* The rest is this module's, for the caller to look at. */
	struct ward_pollset set;
	ward_pollset_id reloads;
	struct ward_guard guard;
	int signals;
	struct ward_wallclock wallclock;
	int control;
	int control_dir;
	struct ward_control_desk desk;
	struct ward_ask_fs ask_fs;
	struct ward_anchors *anchors;
	struct ward_reload reload;
	uint64_t started_ns;
	bool over; /* the loop ends after this round */
	const char *cause;
	char *staged; /* behind ward_served_finish(): a line for people on staged changes; or NULL
		       */
	int failed;   /* why the loop ended out of order; has text in err */
};

/* started_ns is the time now. */
void ward_served_init(struct ward_served *s, struct ward_err *err);
int ward_served_open(struct ward_served *s, struct ward_err *err) ward_must_check;
/* Tree i of the plan is mounted at /dev/fuse fuse[i], which stays the caller's. flags: set of
 * ward_fs_flag. Waits until wardfs-fs serves. */
int ward_served_go(struct ward_served *s, const int *fuse, uint32_t flags,
	struct ward_err *err) ward_must_check;
int ward_served_begin(struct ward_served *s, const struct ward_record_start *start,
	struct ward_err *err) ward_must_check;

/* Returns 0 when it is over in order, else a negative errno with text in s->err. */
int ward_served_loop(struct ward_served *s) ward_must_check;
/* Within the loop: it ends, with this error. */
void ward_served_fail(struct ward_served *s, int r);
/* r, err: what the loop returned. Returns that, or what else goes wrong. details as
 * ward_record_session_end(). */
int ward_served_finish(
	struct ward_served *s, int r, json_t *details, struct ward_err *err) ward_must_check;
void ward_served_close(struct ward_served *s);

/* "session", "pid", "started", "verb", "fs_pid", "audit_pid", "policy": for `wardfs ps`. */
json_t *ward_served_status(const struct ward_served *s, const char *verb);
