/* SPDX-License-Identifier: Apache-2.0 */
/* What another policy can change in a session that runs, and what ends with it. Pure. */
#pragma once

#include "enforcer/policy/policy.h"

/*
 * Appends a line for each key that `now` sets otherwise than `old`, and that cannot change while
 * the session runs: everything but the rules and the keys that are live (keys.h); of those whose
 * value is live, what both set may differ. "FILE:LINE: [limits] wall = 2h (in force: 1h)". *ret_n:
 * how many. -ENOMEM.
 */
int ward_policy_fixed(const struct ward_policy *old, const struct ward_policy *now,
	struct ward_buf *ret, size_t *ret_n) ward_must_check;
