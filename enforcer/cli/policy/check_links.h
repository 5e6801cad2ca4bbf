/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs policy check: symbolic links of today that lead past rules. */
#pragma once

#include "enforcer/cli/place/policy_place.h"
#include "enforcer/policy/check.h"

/*
 * Looks through the project for symbolic links that no session could make today, since a rule is on
 * a name beneath them, and calls fn for each. p: the policy that is checked. Follows no link, opens
 * directories alone, and stops after WARD_CHECK_LINKS_MAX names, with a note. -ENOMEM.
 */
#define WARD_CHECK_LINKS_MAX 20000U
int ward_check_links(const struct ward_policy_place *place, const struct ward_policy *p,
	ward_finding_fn fn, void *user) ward_must_check;
