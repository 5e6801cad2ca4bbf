/* SPDX-License-Identifier: Apache-2.0 */
/* Whether the changes of a run are staged ([tree] changes, --review). */
#pragma once

#include "enforcer/session/plan/plan.h"

/* Are the changes of tree i of the plan staged? */
bool ward_plan_stages(const struct ward_run_plan *p, size_t i);
/* Fills p->changes. -EINVAL: they cannot be staged in this run, and err says why. */
int ward_plan_staged(const struct ward_run_options *o, struct ward_run_plan *p,
	struct ward_err *err) ward_must_check;
/* The same for `wardfs mount`, whose only tree is trees[0]. review: --review. */
int ward_plan_staged_mount(bool review, bool allow_other, struct ward_run_plan *p,
	struct ward_err *err) ward_must_check;
/* The same for what never stages: -EINVAL if the policy wants that. what: "wardfs-oci", say. */
int ward_plan_staged_never(
	struct ward_run_plan *p, const char *what, struct ward_err *err) ward_must_check;
