/* SPDX-License-Identifier: Apache-2.0 */
/* Words around a decision: the actions by name, a rule as text, what would permit a refusal. Pure.
 */
#pragma once

#include "enforcer/policy/policy.h"

/*
 * The request behind an action's name: stat list read exec append create symlink write remove
 * rename link chmod. Sets action, rights and flags (`list` is of a directory); states are the
 * caller's. `connect` does not concern paths: ward_policy_connect(). -EINVAL names them all.
 */
#define WARD_EXPLAIN_ACTIONS                                                                       \
	"stat, list, read, exec, append, create, symlink, write, remove, rename, link, chmod or "  \
	"connect"
int ward_explain_action(
	const char *name, struct ward_request *ret, struct ward_err *err) ward_must_check;

/* The fact behind its name (ward_fact_name()). -EINVAL. */
int ward_fact_find(const char *name, enum ward_fact *ret) ward_must_check;

/* "files", "guard", "lift", "process". */
const char *ward_rule_section(const struct ward_rule *r);
/* "FILE:LINE", or "default" for NULL; "[guard] deny = .env" (nothing for NULL). */
void ward_rule_place(const struct ward_rule *r, struct ward_buf *b);
void ward_rule_text(const struct ward_rule *r, struct ward_buf *b);

/* Is it a guard that is kept for what an earlier start found (git_guards.h)? NULL: no. */
bool ward_rule_remembered(const struct ward_policy *p, const struct ward_rule *r);

/* Is the i-th [system] read that holds a shipped profile's own? */
bool ward_policy_shows_shipped(const struct ward_policy *p, size_t i);

/* As these two, of the i-th [system] read that holds. */
void ward_explain_shown(const struct ward_policy *p, size_t i, struct ward_buf *ret_place,
	struct ward_buf *ret_text);

/*
 * One sentence: which line would permit what decision d refused, and in which file it belongs, or
 * what forbids it. path is the sandbox path, want the rights that were asked for; owner_file names
 * the owner's file for this project (NULL: "the policy").
 */
void ward_explain_permit(const struct ward_decision *d, uint32_t want, const char *path,
	const char *owner_file, struct ward_buf *b);

/*
 * The rights that are left, and the rules that a trace found, a line each; every line begins with
 * two spaces and ends with a newline.
 */
void ward_explain_rules(uint32_t rights, const struct ward_trace *trace, struct ward_buf *b);

/* One line of [test]. Strings live during the call. */
struct ward_expectation {
	const char *file;
	unsigned line;
	const char *text; /* as written */
	const char *action, *path, *path2;
	const char *want; /* name of a verdict */
	const char *got;  /* name of a verdict, or why nothing could be decided */
	bool met;
	bool wrong; /* nothing could be decided: the line fails under every policy */
};

/*
 * Calls fn for each `expect` of all sources, in the order in which they stand. What exists on a
 * disk plays no part: a path that ends in '/' is a directory, and so is one that is only looked at.
 * -ENOMEM.
 */
int ward_policy_expectations(const struct ward_policy *p,
	void (*fn)(void *user, const struct ward_expectation *e), void *user) ward_must_check;

/*
 * May the session connect to HOST:PORT[/udp]? Decided by [network]; *ret_place and *ret_text as for
 * rules. Pure, as ward_policy_decide(): the network broker, explain and the tests call this one.
 * HOST is a name or an address, [ADDRESS] where it has colons.
 */
enum ward_verdict ward_policy_connect(const struct ward_policy *p, const char *host_port,
	struct ward_buf *ret_place, struct ward_buf *ret_text);

/*
 * The same, which also says which grant allowed it (*ret_grant; NULL: none did, or had to). open:
 * it is about a connection that is there; a grant whose uses are spent counts as well then.
 */
struct ward_grant_held;
enum ward_verdict ward_policy_connect_by(const struct ward_policy *p, const char *host_port,
	bool open, struct ward_grant_held **ret_grant, struct ward_buf *ret_place,
	struct ward_buf *ret_text);

/*
 * The same for a program inside: localhost is the session itself there, and a port of it that
 * [network] forward names is that of this host. For people; connections are decided by the above.
 */
enum ward_verdict ward_policy_connect_inside(const struct ward_policy *p, const char *host_port,
	struct ward_buf *ret_place, struct ward_buf *ret_text);

/* Does it name the session's own loopback, as localhost:5432 does? */
bool ward_connect_is_loopback(const char *host_port);

/* Appends that an `allow` covers it, which mode = none makes idle. False, and nothing: none does.
 */
bool ward_explain_no_mode(
	const struct ward_policy *p, const char *host_port, struct ward_buf *ret_permit);

/*
 * What would permit what ward_policy_connect() refused, as one sentence: text is its ret_text.
 * Where a line takes the destination away, it says that no other line lifts that.
 */
void ward_explain_connect(const char *host_port, const char *text, struct ward_buf *b);

/*
 * A name that may be reached has led to HOST:PORT[/udp], an address or another name (CNAME): may it
 * be used? Not if a `deny` covers it. An address that is not public (address.h), or is near (the
 * caller knows that this host or its own networks have it), only if an `allow` of addresses covers
 * it. Where nothing had to be asked *ret_place and *ret_text stay as they are.
 */
enum ward_verdict ward_policy_answer(const struct ward_policy *p, const char *host_port, bool near,
	struct ward_buf *ret_place, struct ward_buf *ret_text);

/* Ports that entries name for one host; more entries than this are a mistake. */
#define WARD_REACH_PORTS_MAX 64
struct ward_reach {
	uint16_t tcp[WARD_REACH_PORTS_MAX];
	uint16_t udp[WARD_REACH_PORTS_MAX];
	size_t n_tcp, n_udp;
	bool more; /* not all fitted */
};
/* All ports on which a host (name or address, without port) may be reached. */
void ward_policy_reach(const struct ward_policy *p, const char *host, struct ward_reach *ret);
/* All ports on which some address that no name stands for may be reached. */
void ward_policy_reach_blocks(const struct ward_policy *p, struct ward_reach *ret);

/*
 * The policy after all sources as one text, which compiles (as a base) to the same digest. -ENOMEM.
 */
int ward_policy_show(const struct ward_policy *p, struct ward_buf *ret_text) ward_must_check;
/* The same without what shares come to on this host: the text whose SHA-256 is the digest. */
int ward_policy_meaning(const struct ward_policy *p, struct ward_buf *ret_text) ward_must_check;

/* The i-th [quota P] at or above an absolute path, the outermost first; NULL: there are no more. */
const struct ward_quota *ward_explain_quota(
	const struct ward_policy *p, const char *path, size_t i);
