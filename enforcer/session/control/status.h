/* SPDX-License-Identifier: Apache-2.0 */
/* What a running session tells about itself over its control socket, where run and mount agree. */
#pragma once

#include <jansson.h>

#include "enforcer/session/plan/plan.h"

/*
 * Adds "trees": [{"path": sandbox path, "source": host path}, …] to the object; trees in memory
 * have no source. Both are escaped (base/escape.h): JSON holds no other bytes than UTF-8.
 */
void ward_status_add_trees(json_t *o, const struct ward_run_plan *p);

/*
 * Where the session has no --policy: adds "follows", the owner's file for the project, which was
 * its base or would have been, escaped; and "stand_in", the shipped profile that it has in place
 * of `medium`, if any. `wardfs policy add --now` finds the sessions by it.
 */
void ward_status_add_follows(json_t *o, const struct ward_run_plan *p);

/* Adds "policy" and "rules", the digests of what is in force now (policy.h). */
void ward_status_add_policy(json_t *o, const struct ward_policy *now);
