/* SPDX-License-Identifier: Apache-2.0 */
/* The supervisor: one run from the plan to the exit status. */
#pragma once

#include "enforcer/session/owner/exit_status.h"
#include "enforcer/session/plan/plan.h"

/* A line each for stderr, owned; NULL: nothing to say. */
struct ward_run_notes {
	char *limits;	     /* which limits were met */
	char *commands;	     /* how many of an agent's commands were ended */
	char *refused;	     /* what the policy refused */
	char *glass;	     /* what a terminal of the command could not show of break glass */
	char *asked;	     /* which questions ended without a grant */
	char *hidden;	     /* it failed, and had looked for a secret that is hidden */
	char *unreached;     /* it failed, and a host that it may reach was not reached */
	char *listened;	     /* it listened where nothing of this host leads */
	char *executed;	     /* what is new that this host may execute */
	char *silent;	     /* a mount in the project does not answer */
	char *staged;	     /* what was staged */
	char *left;	     /* what is new and no file of the project */
	const char *hint;    /* it failed, and had started what cannot work inside */
	const char *offline; /* it failed, and had no network to find what it looked for */
	char *anchor;	     /* which anchor lacks the last checkpoint */
	bool failed;	     /* the command ended by itself, with another status than 0 */
	char *session;	     /* its name, where its trail lies in the plan's state directory */
	bool unprepared;     /* the sandbox could not be made: the host may lack something */
};
void ward_run_notes_clear(struct ward_run_notes *n);

/*
 * Runs the plan's command. Returns the exit status for the caller of wardfs. err has text if the
 * status is one of wardfs' own and there is something to say.
 */
int ward_run(struct ward_run_plan *p, const struct ward_run_options *o,
	struct ward_run_notes *ret_notes, struct ward_err *err);
