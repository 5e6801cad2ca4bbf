/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs run --dry-run: what would be in force, without a session. */
#pragma once

#include <stdbool.h>

#include "enforcer/session/plan/plan.h"

/*
 * Prints it on stdout, as text or as one JSON object. plan: NULL where there is none, and why says
 * what the run would have said. Returns 0 if the command would start, else 125.
 */
int ward_run_dry(const struct ward_run_plan *plan, const struct ward_run_options *o, bool json,
	const struct ward_err *why);
