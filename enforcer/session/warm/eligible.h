/* SPDX-License-Identifier: Apache-2.0 */
/* Which runs may take a prepared session, or have one prepared. */
#pragma once

#include "enforcer/session/plan/plan.h"

/*
 * NULL: this one may. Else why not, static, behind "this run does not take a prepared session: ".
 * agent: the command is a known agent, with a profile of its own.
 */
const char *ward_warm_why_not(
	const struct ward_run_plan *p, const struct ward_run_options *o, bool agent);
