/* SPDX-License-Identifier: Apache-2.0 */
/* A run that takes a prepared session ([session] warm) in place of starting one. */
#pragma once

#include "enforcer/session/plan/plan.h"

struct ward_run_take {
	const struct ward_run_plan *plan;
	const struct ward_run_options *options;
	bool agent;		    /* the command is a known agent, or takes the name of one */
	char *const *argv;	    /* of the verb */
	void (*before)(void *user); /* says what there is to say before the command starts */
	void *user;
};

/*
 * The exit status of a run that took one; -ENOENT: there is none for it, start one. Has a
 * replacement prepared in either case, where the policy wants any.
 */
int ward_run_take(const struct ward_run_take *t) ward_must_check;

/* For `run --dry-run`: a sentence about prepared sessions for such a run, the caller's; NULL: none.
 */
char *ward_run_take_text(
	const struct ward_run_plan *p, const struct ward_run_options *o, bool agent);
