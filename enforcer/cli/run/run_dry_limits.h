/* SPDX-License-Identifier: Apache-2.0 */
/* The limits and quotas of --dry-run, as people write them. */
#pragma once

#include <jansson.h>

#include "enforcer/session/plan/plan.h"

/*
 * Adds to "limits" of o those that no sandbox holds (of single commands), and to each a "text": the
 * value as the policy says it, and what a share comes to here.
 */
void ward_run_dry_limits(const struct ward_run_plan *p, json_t *o);
/* Adds "quotas" to o: of each path what is said, as it is written, and where. */
void ward_run_dry_quotas(const struct ward_run_plan *p, json_t *o);
