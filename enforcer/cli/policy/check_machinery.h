/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs policy check: what the policy asks for and `wardfs run` refuses on this host. */
#pragma once

#include "enforcer/cli/place/policy_place.h"
#include "enforcer/policy/check.h"

/*
 * Calls fn for each key that wardfs does not enforce yet, and for what this host lacks: tried as
 * `wardfs run --dry-run` does, in the project at hand. policy: --policy of such a run, or NULL; p:
 * that policy, loaded.
 */
int ward_check_machinery(const struct ward_policy_place *place, const char *policy,
	const struct ward_policy *p, ward_finding_fn fn, void *user);
