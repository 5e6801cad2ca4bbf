/* SPDX-License-Identifier: Apache-2.0 */
/* The records that the supervisor itself puts into the trail: what was in force, and how it ended.
 */
#pragma once

#include <jansson.h>

#include "enforcer/session/guard/guard.h"
#include "enforcer/session/plan/plan.h"
#include "enforcer/session/tree/executed.h"

struct ward_record_start {
	const char *verb;		 /* "run", "mount" */
	const char *mode;		 /* "restricted"; NULL for mount */
	char *const *argv;		 /* the command or NULL */
	const struct ward_env_args *env; /* names only are recorded */
	bool prepared;			 /* its command comes later: ward_record_taken() */
	bool listens;			 /* programs that are started are recorded */
	const struct ward_strs *labels;	 /* of --label; NULL: none */
	const char *agent;	   /* profile of the known agent that the command is, or NULL */
	const json_t *container;   /* of wardfs-oci (oci/container_plan.h), or NULL */
	const char *sandbox_facts; /* a JSON object of what was applied, or NULL */
};

/* session.start, then the policy's text in as many `policy` records as it needs. */
int ward_record_session_start(struct ward_guard *g, const struct ward_run_plan *p,
	const struct ward_record_start *s, struct ward_err *err) ward_must_check;

/*
 * take: a prepared session gets its command: argv, env and labels of s, the directory inside, and
 * the process that asked. A negative errno.
 */
int ward_record_taken(struct ward_guard *g, const struct ward_run_plan *p,
	const struct ward_record_start *s, const char *cwd, pid_t pid, uid_t uid) ward_must_check;

/*
 * session.end: status (-1: none), signal (0: none), cause (NULL: the command ended). found (NULL:
 * nobody looked): new or changed files that this host may execute, as {"host_executed":[PATH…],
 * "more":N,"whole":BOOL}, and new names that are no files of the project, as "left" and
 * "left_more". details (NULL: none; borrowed): more members, an object.
 */
int ward_record_session_end(struct ward_guard *g, int status, int signal, const char *cause,
	const struct ward_executed *found, json_t *details) ward_must_check;

/*
 * Ends the trail of a session in which nothing was started, if it has one: session.end with the
 * cause. Without that the writer could only say that the supervisor is gone.
 */
void ward_record_not_started(struct ward_guard *g, const char *why);

/* `policy`: the text of a policy, in as many records as it needs. */
int ward_record_policy(struct ward_guard *g, const struct ward_policy *policy) ward_must_check;
/*
 * reload: `now` is in force in place of `before`; or it was not taken (loaded false; now may be
 * NULL). by: who asked; text: why not, or NULL; mono_ns: since when, 0: not loaded.
 */
int ward_record_reload(struct ward_guard *g, const struct ward_policy *before,
	const struct ward_policy *now, bool loaded, uid_t by, const char *text,
	uint64_t mono_ns) ward_must_check;

struct ward_record_limit {
	const char *name;     /* key of [limits] */
	const char *done;     /* near (90 percent are used), refused, killed, ended */
	const char *unit;     /* bytes, processes, ns */
	uint64_t limit, used; /* WARD_UNLIMITED: not told */
	const char *text;
};
/* limit: what came of one. */
int ward_record_limit(struct ward_guard *g, const struct ward_record_limit *l) ward_must_check;
