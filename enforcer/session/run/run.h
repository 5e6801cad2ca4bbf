/* SPDX-License-Identifier: Apache-2.0 */
/* The supervisor: one run from the plan to the exit status. */
#pragma once

#include "enforcer/session/owner/exit_status.h"
#include "enforcer/session/plan/plan.h"

/* A line each for stderr, owned; NULL: nothing to say. */
struct ward_run_notes {
	char *limits;	     /* which limits were met */
	char *refused;	     /* what the policy refused */
	char *executed;	     /* what is new that this host may execute */
	char *left;	     /* what is new and no file of the project */
	const char *offline; /* it failed, and had no network to find what it looked for */
	char *anchor;	     /* which anchor lacks the last checkpoint */
	bool unprepared;     /* the sandbox could not be made: the host may lack something */
};
void ward_run_notes_clear(struct ward_run_notes *n);

/*
 * Runs the plan's command. Returns the exit status for our caller; err has text where that is one
 * of ours and there is something to say.
 */
int ward_run(struct ward_run_plan *p, const struct ward_run_options *o,
	struct ward_run_notes *ret_notes, struct ward_err *err);
