/* SPDX-License-Identifier: Apache-2.0 */
/* Existing paths, as examples of the effect of a change of the policy. */
#pragma once

#include "enforcer/cli/policy/policy_effect.h"

/*
 * Gives each group of e a path of the project that exists and changes as the group does, and their
 * number, as far as a bounded look finds some. The path that stands for a group stays if it exists.
 * A failure leaves what was found so far.
 */
void policy_witness_find(const struct ward_policy_place *place, const struct ward_policy *before,
	const struct ward_policy *after, struct policy_effect *e);
