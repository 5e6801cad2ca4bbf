/* SPDX-License-Identifier: Apache-2.0 */
/* What wardfs policy explain prints of a decision about a path. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "enforcer/base/buf.h"
#include "enforcer/policy/explain.h"
#include "enforcer/policy/policy.h"
#include "enforcer/sandbox/sandbox.h"
#include "enforcer/session/plan/shown.h"

struct explain_answer {
	const char *action;
	char *path, *path2; /* sandbox paths, owned; path2 NULL where there is none */
	struct ward_decision d;
	uint32_t want;
	struct ward_trace trace;
	struct ward_buf permit;
	const struct ward_policy *policy;
	const char *outside;	    /* the path that is in no tree, borrowed; NULL: none */
	struct ward_shown_by shown; /* what [system] read shows there decided */
	enum ward_sandbox_own own;  /* of a path that nothing of the policy decides */
	bool remembered;	    /* the guard is kept for what an earlier start found */
	const char *repository;	    /* which that was, on the host, borrowed; NULL: not known */
	enum ward_fact fact;	    /* under a rule of `secret`, of the path that it covers */
	const char *fact_why;	    /* NULL: none covers it */
	json_t *sessions; /* owned: names of those that run here and may answer otherwise */
	json_t *running;  /* owned: what their grants and questions add (explain_running.h) */
	bool staged;	  /* `ask` covers the change, which is staged */
	bool program;	  /* decided by [process] exec alone, whose list rule begins */
};

/* For people. */
void explain_answer_print(const struct explain_answer *a);
/* One JSON object. */
void explain_answer_print_json(const struct explain_answer *a);
