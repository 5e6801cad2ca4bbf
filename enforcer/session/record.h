/* SPDX-License-Identifier: Apache-2.0 */
/* The records that the supervisor itself puts into the trail: what was in force, and how it ended.
 */
#pragma once

#include "enforcer/session/executed.h"
#include "enforcer/session/guard.h"
#include "enforcer/session/plan.h"

struct ward_record_start {
	const char *verb;		 /* "run", "mount" */
	const char *mode;		 /* "restricted"; NULL for mount */
	char *const *argv;		 /* the command or NULL */
	const struct ward_env_args *env; /* names only are recorded */
	const char *sandbox_facts;	 /* a JSON object of what was applied, or NULL */
};

/* session.start, then the policy's text in as many `policy` records as it needs. */
int ward_record_session_start(struct ward_guard *g, const struct ward_run_plan *p,
	const struct ward_record_start *s, struct ward_err *err) ward_must_check;

/*
 * session.end: status (-1: none), signal (0: none), cause (NULL: the command ended). found (NULL:
 * it was not looked for): what is new that this host may execute, as {"host_executed":[PATH…],
 * "more":N,"whole":BOOL}.
 */
int ward_record_session_end(struct ward_guard *g, int status, int signal, const char *cause,
	const struct ward_executed *found) ward_must_check;

/*
 * Ends the trail of a session in which nothing was started, if it has one: session.end with the
 * cause. Without that the writer could only say that the supervisor is gone.
 */
void ward_record_not_started(struct ward_guard *g, const char *why);

/* limit: a clock ended the run. */
int ward_record_limit(struct ward_guard *g, const char *text) ward_must_check;
