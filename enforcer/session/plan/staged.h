/* SPDX-License-Identifier: Apache-2.0 */
/* Whether the changes of a run are staged ([tree] changes, --review). */
#pragma once

#include "enforcer/session/plan/plan.h"

/* Fills p->changes. -EINVAL: they cannot be staged in this run, and err says why. */
int ward_plan_staged(const struct ward_run_options *o, struct ward_run_plan *p,
	struct ward_err *err) ward_must_check;
