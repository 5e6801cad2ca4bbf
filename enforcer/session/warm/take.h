/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `wardfs run` and a prepared session. At the control socket (control.h), for the user alone as
 * whom the session was prepared:
 *
 *   client     {"verb":"take","key":KEY}
 *   supervisor {"ready":true}: it is this client's, if the client goes on; or {"error":TEXT}
 *   client     {"go":true}, with a memory file (taken.h) and the descriptors 0, 1, 2
 *   client     {"signal":N}, as often as it likes, as if that signal had reached the supervisor
 *   supervisor {"ended":N}: the exit status; everything was said on descriptor 2
 *
 * Until "go" the supervisor starts nothing, and a client that hangs up has taken nothing: so a
 * client whose supervisor is silent may start normally, and its command runs once. A client that
 * hangs up after it hangs up on the session: as SIGHUP to `wardfs run`.
 */
#pragma once

#include "audit/format.h"
#include "enforcer/session/warm/key.h"
#include "enforcer/session/warm/taken.h"

/* So long a session may take to say "ready". One that is stopped costs a run this much. */
#define WARD_WARM_READY_MS 100

struct ward_warm_claim {
	int sock; /* -1: none */
	char session[WARD_SESSION_NAME_MAX + 1];
};
#define WARD_WARM_CLAIM_INIT ((struct ward_warm_claim){.sock = -1})

/* Is this one of the signals that a client passes on? */
bool ward_warm_passes(long sig);

/* Is anything listed there, for whatever run? */
bool ward_warm_any(const char *runtime);
/*
 * Claims one with this key. -ENOENT: none waits. err says of what did not answer. Those of the same
 * group with another key are ended: what they were prepared for is not so any more.
 */
int ward_warm_claim(const char *runtime, const struct ward_warm_key *key,
	struct ward_warm_claim *ret, struct ward_err *err) ward_must_check;
/* Lets go of it, untaken. */
void ward_warm_claim_clear(struct ward_warm_claim *c);

/*
 * Hands our 0, 1, 2 and t over, begun is called (or NULL), and waits for the end. The exit status;
 * err has text where the session was lost. -errno: nothing was handed over.
 */
int ward_warm_go(const char *runtime, struct ward_warm_claim *c, const struct ward_warm_taken *t,
	void (*begun)(void *user), void *user, struct ward_err *err) ward_must_check;
