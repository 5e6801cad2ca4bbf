/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Grants: rights that a person gives to a running session for a while.
 *
 * A grant gives rights on the paths that a pattern covers, or lets the session connect to a host.
 * It is one more source of the decision: it adds to what the base gives, and never to what guards,
 * the floor, the project file, `noexec`, `secret` or the list of programs leave.
 *
 * Who decides asks the rules first. Only where they refuse does it look which live grants cover the
 * name (ward_grants_match()) and put the answer into the request; ward_policy_decide() weighs both.
 * So a decision that the rules allow costs the same with a thousand grants and with none. One that
 * they refuse costs some nanoseconds more, as long as no grant is near its path.
 *
 * A grant ends at `until` by CLOCK_BOOTTIME, which nobody sets and which goes on while the host is
 * suspended; when its uses are spent; or when it is revoked. A grant whose uses are spent gives
 * nothing new, but what was opened under it stays open until the other two ends.
 *
 * A set is thread-safe. A grant lives as long as its set, also after its end: its numbers and texts
 * may be read without a lock.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "enforcer/base/err.h"
#include "enforcer/ipc/msg.h"
#include "enforcer/policy/policy.h"

/* "g" and 12 hexadecimal digits, which say nothing. */
#define WARD_GRANT_ID_SIZE 14
/* Live grants of a session, and grants that it ever had: each is kept to its end. */
#define WARD_GRANTS_LIVE_MAX 4096U
#define WARD_GRANTS_EVER_MAX 65536U
/* Bytes of a pattern or host, of who gave it, and of the reason. */
#define WARD_GRANT_PATTERN_MAX 4096U
#define WARD_GRANT_ISSUER_MAX 128U
#define WARD_GRANT_REASON_MAX 512U
#define WARD_GRANT_LIFTS_MAX 1024U

enum ward_grant_end {
	WARD_GRANT_LIVE = 0,
	WARD_GRANT_EXPIRED, /* its time is over */
	WARD_GRANT_SPENT,   /* its uses are; what is open under it stays open */
	WARD_GRANT_REVOKED,
};

/* What a person gives. Zero rights and no host: nothing. */
struct ward_grant {
	char id[WARD_GRANT_ID_SIZE]; /* "": ward_grants_add() makes one */
	uint32_t rights;	     /* set of ward_right on pattern; 0 where there is a host */
	char *pattern;		     /* owned; begins with '/'; NULL: of a host */
	char *host;		     /* owned; HOST[:PORT,…][/udp] as `[network] allow`; NULL */
	uint64_t from_ns, until_ns;  /* CLOCK_BOOTTIME; until 0: the end of the session */
	uint32_t uses;		     /* 0: any number */
	char *issuer;		     /* owned: who gave it, for people and the trail */
	char *reason;		     /* owned, or NULL */
	char *session;		     /* owned: the session that it is for */
	/*
	 * owned; NULL: none. A break-glass grant: lines of [guard] that do not count for what it
	 * gives, "VERB = PATTERN" as the policy has them, one a line. It has an end and a reason.
	 */
	char *lifts;
	uint64_t
		pid; /* not 0: for this process (thread group) alone, of the host's pid namespace */
};
void ward_grant_clear(struct ward_grant *g);
/* *ret is filled afresh. -ENOMEM. */
int ward_grant_copy(const struct ward_grant *g, struct ward_grant *ret) ward_must_check;
/* -EINVAL: not complete, a pattern that does not parse or is not anchored, too long. */
int ward_grant_check(const struct ward_grant *g, struct ward_err *err) ward_must_check;
/* A fresh id. -EAGAIN: no randomness yet. */
int ward_grant_make_id(char ret[WARD_GRANT_ID_SIZE]) ward_must_check;

/* In a message: all members in order. *ret is filled afresh; bad: -EBADMSG. */
void ward_grant_put(struct ward_msg *m, const struct ward_grant *g);
int ward_grant_get(struct ward_msg_reader *r, struct ward_grant *ret) ward_must_check;

/* --- a set --- */

struct ward_grants;

/* One that was added. All but the atomic members are constant. */
struct ward_grant_held {
	struct ward_grant grant;
	struct ward_rule rule; /* for decisions: of source WARD_SOURCE_GRANT, file "grant ID" */
	_Atomic uint32_t used;
	_Atomic int end; /* enum ward_grant_end, when somebody saw it */
};

int ward_grants_new(struct ward_grants **ret) ward_must_check;
void ward_grants_free(struct ward_grants *s);

/* Are there any that have not ended? One load: the threads that serve requests ask this first. */
bool ward_grants_any(const struct ward_grants *s);
/*
 * Can ward_grants_match() find anything at this path? No lock, no clock, some nanoseconds. "Yes"
 * may be said where it then finds nothing, never the other way.
 */
bool ward_grants_near(const struct ward_grants *s, const char *path, size_t len);

/*
 * Takes a copy; it is in force from here on. -EINVAL (see ward_grant_check()), -EEXIST (its id is
 * there), -ENOSPC, -ENOMEM. *ret: borrowed; may be NULL.
 */
int ward_grants_add(struct ward_grants *s, const struct ward_grant *g,
	const struct ward_grant_held **ret, struct ward_err *err) ward_must_check;
/* Ends it now. -ENOENT: there is none, or its end came before. */
int ward_grants_revoke(struct ward_grants *s, const char *id) ward_must_check;
/* Somebody else counts its uses: there have been so many. */
void ward_grants_set_used(struct ward_grants *s, const char *id, uint32_t used);
const struct ward_grant_held *ward_grants_find(struct ward_grants *s, const char *id);
/* Calls fn for each, in the order of ward_grants_add(), ended ones included. */
void ward_grants_each(
	struct ward_grants *s, void (*fn)(void *user, const struct ward_grant_held *g), void *user);

/* What has become of it at that time (CLOCK_BOOTTIME). */
enum ward_grant_end ward_held_end(const struct ward_grant_held *g, uint64_t now_ns);
/* May what was opened under it still be used? A spent one's may. */
bool ward_held_holds(const struct ward_grant_held *g, uint64_t now_ns);
/* Does it lift this rule? A rule of the floor is lifted by nothing. Pure. */
bool ward_lifts_rule(const char *lifts, const struct ward_rule *r);
/* Uses that are left; UINT32_MAX: any number. */
uint32_t ward_held_left(const struct ward_grant_held *g);

/* When (CLOCK_BOOTTIME) the next one's time is over; UINT64_MAX: never. */
uint64_t ward_grants_next_end(struct ward_grants *s);
/*
 * Calls fn once for each whose use is over since (expired, spent or revoked), and drops it from the
 * look-up, but a spent one that still holds. One thread at a time.
 */
void ward_grants_ended(struct ward_grants *s, uint64_t now_ns,
	void (*fn)(void *user, struct ward_grant_held *g, enum ward_grant_end end), void *user);

/* --- asking --- */

/*
 * What live grants give at a path; filled afresh. pid: the process that asks, 0: not known.
 * -ENOMEM: nothing is given.
 */
int ward_grants_match(struct ward_grants *s, const char *path, size_t len, uint64_t pid,
	uint64_t now_ns, struct ward_granted *ret) ward_must_check;
/* The same of those grants alone for which some() is true. */
typedef bool ward_grants_some_fn(void *user, const struct ward_grant_held *g);
int ward_grants_match_some(struct ward_grants *s, const char *path, size_t len, uint64_t pid,
	uint64_t now_ns, ward_grants_some_fn *some, void *user,
	struct ward_granted *ret) ward_must_check;
/*
 * Counts one use of each grant that gives one of `rights` in m. -EDQUOT: one of them was spent or
 * ended meanwhile, and none is counted. STAT and LIST alone are no use.
 */
int ward_grants_use(const struct ward_granted *m, uint32_t rights, uint64_t now_ns) ward_must_check;

/*
 * Calls fn for each live grant of a host; spent: also for those whose uses are. Who decides about
 * hosts is ward_policy_connect(), of a policy that was given the set.
 */
void ward_grants_hosts(struct ward_grants *s, uint64_t now_ns, bool spent,
	void (*fn)(void *user, struct ward_grant_held *g), void *user);
/*
 * ward_policy_connect() and the other questions about hosts ask this set as well, from now on; it
 * must live as long as p. They read the clock then.
 */
void ward_policy_use_grants(struct ward_policy *p, struct ward_grants *s);
/* Does one of its live grants lead to HOST:PORT? Whether the policy leaves that to a grant, others
 * say. */
bool ward_grants_reach(struct ward_grants *s, const char *host_port, uint64_t now_ns);
/* Would a grant of this host lead to HOST:PORT? False also where one of them is no destination. */
bool ward_grant_host_covers(const char *host, const char *host_port);
/* Counts one use. -EDQUOT: spent, or ended. */
int ward_held_use(struct ward_grant_held *g, uint64_t now_ns) ward_must_check;

/*
 * Before one is given: which rule takes a right that it is about from all that the pattern's
 * literal beginning covers, whatever anybody grants? lifts: as in struct ward_grant. *ret: NULL:
 * none does; what lies deeper can have such rules. -EINVAL (pattern), -ENOMEM.
 */
int ward_policy_grant_against(const struct ward_policy *p, const char *pattern, uint32_t rights,
	const char *lifts, const struct ward_rule **ret, struct ward_err *err) ward_must_check;
/*
 * Are all lines of `lifts` lines of [guard] of this policy, and none of them the floor's? -EPERM.
 */
int ward_policy_may_lift(
	const struct ward_policy *p, const char *lifts, struct ward_err *err) ward_must_check;
/*
 * The same for a host. False: a `deny`, the floor's own list or the mode of [network] stands
 * against it, and *ret_place and *ret_text name that.
 */
bool ward_policy_host_grantable(const struct ward_policy *p, const char *host,
	struct ward_buf *ret_place, struct ward_buf *ret_text);

const char *ward_grant_end_name(enum ward_grant_end end); /* "live", "expired", … */
