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
