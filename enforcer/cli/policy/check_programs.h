/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs policy check: what [process] exec leaves open. */
#pragma once

#include "enforcer/policy/check.h"

/*
 * Looks on this host which programs the list means, and calls fn for each thing that makes it less
 * than it seems. -ENOMEM, -E2BIG.
 */
int ward_check_programs(const struct ward_policy *p, ward_finding_fn fn, void *user,
	struct ward_err *err) ward_must_check;
