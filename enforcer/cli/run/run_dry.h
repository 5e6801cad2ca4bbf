/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs run --dry-run: what would be in force, without a session. */
#pragma once

#include <stdbool.h>

#include "enforcer/session/plan/plan.h"

/*
 * Prints it on stdout, as text or as one JSON object. plan: NULL where there is none, and why says
 * what the run would have said. verbose: the text has each rule, guarantee and variable. Returns 0
 * if the command would start, else 125.
 */
int ward_run_dry(const struct ward_run_plan *plan, const struct ward_run_options *o, bool json,
	bool verbose, const struct ward_err *why);

/*
 * Would a run of `true` with this --policy (NULL: what holds here) start? 0, or why not, in
 * silence; -EINVAL and -ENOENT: what the user can fix in the policy, not for want of something on
 * the host.
 */
int ward_run_dry_try(const char *policy, struct ward_err *err) ward_must_check;
