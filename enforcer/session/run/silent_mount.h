/* SPDX-License-Identifier: Apache-2.0 */
/* A mount beneath a tree of the session whose server does not answer. */
#pragma once

#include "enforcer/session/plan/plan.h"

/*
 * Where it is mounted, the caller's; NULL: all that are looked at answer. Takes seconds where one
 * does not.
 */
char *ward_silent_mount(const struct ward_run_plan *p);
