/* SPDX-License-Identifier: Apache-2.0 */
/* What a running session tells about itself over its control socket, where run and mount agree. */
#pragma once

#include <jansson.h>

#include "enforcer/session/plan/plan.h"

/*
 * Adds "trees": [{"path": sandbox path, "source": host path, "rules": digest}, …] to the
 * object; trees in memory have no source. The digest is that of the rules that are in force now
 * (ward_policy_rules_digest()). Both are escaped (base/escape.h): JSON holds no other bytes than
 * UTF-8.
 */
void ward_status_add_trees(json_t *o, const struct ward_run_plan *p, const struct ward_policy *now);

/*
 * Where the session has no --policy: adds "follows", the owner's file for the project, which was
 * its base or would have been, escaped; and "stand_in", the shipped profile that it has in place
 * of `medium`, if any. `wardfs policy add --now` finds the sessions by it.
 */
void ward_status_add_follows(json_t *o, const struct ward_run_plan *p);
