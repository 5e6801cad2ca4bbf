/* SPDX-License-Identifier: Apache-2.0 */
/* `policy add --lift-guard`: lifts a shipped profile's guard for one file. */
#pragma once

#include "enforcer/base/err.h"
#include "enforcer/cli/place/policy_place.h"

/*
 * May `verb` (read, write) be lifted for the file at `path`, as the user names it, and is there
 * anything to lift? *ret: its sandbox path, owned. -EINVAL, -EISDIR, -EPERM: no, with the reason.
 */
int policy_lift_check(const struct ward_policy_place *place, const char *verb, const char *path,
	char **ret, struct ward_err *err) ward_must_check;
