/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The grants of a running session (policy/grants.h): the supervisor keeps the table, writes the
 * records `grant` and `revoke`, and hands each grant to the helper that decides: paths to wardfs-fs
 * (WARD_MSG_FS_GRANT), hosts to wardfs-net (WARD_MSG_NET_GRANT). The helpers count uses, end grants
 * by themselves when their time is over, and write `use` and `expire`.
 *
 * A grant is in the trail before it is in force. Nothing here waits.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "enforcer/policy/grants.h"
#include "enforcer/session/control/control_verbs.h"
#include "enforcer/session/guard/ask_fs.h"
#include "enforcer/session/guard/guard.h"
#include "enforcer/session/owner/identity.h"

struct ward_granting;

/* What it needs of its session, borrowed. */
struct ward_granting_host {
	struct ward_guard *guard;
	struct ward_ask_fs *ask;
	/* The policy that is in force. */
	const struct ward_policy *(*policy)(void *session);
	void *session;
	const struct ward_identity
		*owner;	     /* with whose rights files are read that a policy names */
	const char *project; /* its path on the host; NULL: there is none */
	int net_control;     /* of wardfs-net, -1: there is none */
	bool owned; /* the agent is one of the owner's own processes: it could grant itself */
};

int ward_granting_new(
	const struct ward_granting_host *host, struct ward_granting **ret) ward_must_check;
void ward_granting_free(struct ward_granting *g);

/* Called when a break-glass grant comes into force: those of the session say so. */
void ward_granting_watch(struct ward_granting *g,
	void (*fn)(void *arg, const struct ward_grant_held *held), void *arg);
/*
 * Milliseconds until a break-glass grant ends that was not said to have ended; -1: there is none.
 * tick calls fn of ward_granting_watch() for each that has (ward_held_holds() is false then).
 */
int ward_granting_timeout(struct ward_granting *g);
void ward_granting_tick(struct ward_granting *g);

/* Who gives or takes one, for the record. */
struct ward_grantor {
	uid_t uid;
	pid_t pid;	     /* 0: not known */
	const char *how;     /* "wardfs grant", "answer", "token" */
	const char *request; /* the question that it answers; NULL: none */
	const char *token;   /* ids of the token that it comes from; NULL: none */
	const char *key;     /* who issued that */
	/* Of a break-glass token: what its issuer signed, as the trail keeps it; NULL: none. */
	const char *payload, *signature;
};

/*
 * Called once: error NULL: the grant is in force at the helper. Else the session goes on without.
 * given: the supervisor's entry, which lives as long as the session; NULL with an error.
 */
typedef void ward_granting_fn(void *arg, const struct ward_grant_held *given, const char *error);

/*
 * Gives a grant (copied; id "" makes one, session is filled in). Refused at once, with the words
 * for the person: -EINVAL (not complete), -EPERM (a guard, the floor, a `hide` of a guard stands
 * against all of it: err names the rule by file and line; or the mode), -ENOSPC, -EIO (no record).
 * On 0 fn is called later, or before the return.
 */
int ward_granting_add(struct ward_granting *g, const struct ward_grant *grant,
	const struct ward_grantor *by, ward_granting_fn *fn, void *arg,
	struct ward_err *err) ward_must_check;
/*
 * May it be given? What ward_granting_add() would refuse with, but for what is there already.
 */
int ward_granting_may(struct ward_granting *g, const struct ward_grant *grant,
	struct ward_err *err) ward_must_check;
/* Does `[approvals] approvers` take more signatures than so many? -EPERM. */
int ward_granting_unsigned(
	struct ward_granting *g, uint64_t signatures, struct ward_err *err) ward_must_check;
/* What it was made with. */
const struct ward_granting_host *ward_granting_host(const struct ward_granting *g);
/*
 * The same from a token (grant_token.h), for as many uses as `uses` says (0: all that it has left
 * on this host). Refused at once, too: -EBADMSG, -EKEYREJECTED (not a whole token), -EPERM (no
 * policy names its issuer; another session; its time; revoked; it would widen), -EDQUOT (no use is
 * left).
 */
int ward_granting_present(struct ward_granting *g, const char *token, size_t len, uint32_t uses,
	const struct ward_grantor *by, ward_granting_fn *fn, void *arg,
	struct ward_err *err) ward_must_check;
/* Ends it now. -ENOENT: no such grant, or its end came before. fn as above. */
int ward_granting_revoke(struct ward_granting *g, const char *id, const struct ward_grantor *by,
	const char *reason, ward_granting_fn *fn, void *arg, struct ward_err *err) ward_must_check;

/* The supervisor's table; ward_grant_held.used of grants of paths lags: the helper counts. */
struct ward_grants *ward_granting_set(struct ward_granting *g);

/* Rows of the table of requests. */
enum ward_granting_what {
	WARD_GRANTING_LIST = 0,
	WARD_GRANTING_GIVE,
	WARD_GRANTING_REVOKE,
	WARD_GRANTING_PRESENT
};
/*
 * Requests at the control socket:
 *   {"verb":"grant","right":"read"|"append"|"write"|"connect","what":PATTERN|HOST,"for":SECONDS,
 *   "uses":N,"reason":TEXT} → {"ok":true,"grant":{"id":…,…}}
 *   {"verb":"grant-token","token":TEXT,"uses":N} → the same
 *   {"verb":"revoke","id":ID,"reason":TEXT} → the same
 *   {"verb":"grants"} → {"ok":true,"grants":[{"id":…}…],"more":N}: those that hold
 * or {"ok":false,"status":exit status,"error":TEXT}.
 */
void ward_granting_request(struct ward_granting *g, struct ward_control_request *q);

/* How often each was used, as WARD_FS_QUERY_GRANTS answers. */
void ward_granting_ask_used(struct ward_granting *g, ward_ask_fs_fn *fn, void *arg);
/* Adds how many hold, as "grants". */
void ward_granting_status(struct ward_granting *g, json_t *o);

/* WARD_MSG_NET_USED came. */
void ward_granting_used(struct ward_granting *g, const char *id, uint32_t used);
