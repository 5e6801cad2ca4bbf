/* SPDX-License-Identifier: Apache-2.0 */
/* [lift] names files, one each: what lies beneath a directory nobody has named. */
#pragma once

#include "enforcer/session/plan/plan.h"

/* Looks as the owner, in the trees. -EINVAL names the line; or what becoming the owner fails with.
 */
int ward_lifts_check(const struct ward_run_plan *p, struct ward_err *err) ward_must_check;
