/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What helpers spend for a session counts as the session's: those of wardfs-fs, wardfs-audit and
 * wardfs-net that serve it go into its control groups (docs/adr/0029-helpers-in-the-groups.md).
 */
#pragma once

#include <sys/types.h>

#include "enforcer/session/limits/limits.h"

#define WARD_LIMITS_HELPERS_MAX 4

/*
 * Begins to move these helpers into the groups, and returns meanwhile; those of an earlier call are
 * not moved again. The first move takes the kernel a grace period of RCU, so the earlier the
 * better. Does nothing if no limit needs a control group. A pid of 0 is skipped. They must not end
 * before ward_limits_helpers_in().
 */
int ward_limits_helpers(
	struct ward_limits *l, const pid_t *pids, size_t n, struct ward_err *err) ward_must_check;
/*
 * Those processes, and what they have started by now, are in the groups; waits for that. What they
 * start later is born there.
 */
int ward_limits_helpers_in(struct ward_limits *l, struct ward_err *err) ward_must_check;
/* True: the groups cannot go before the helpers have ended. */
bool ward_limits_hold_helpers(const struct ward_limits *l);
