/* SPDX-License-Identifier: Apache-2.0 */
/* Says on the terminal of the run that a guard is lifted, and when it is in force again. */
#pragma once

#include "enforcer/session/run/running.h"

/* For ward_granting_watch(); arg: struct ward_running. */
void ward_run_glass_changed(void *arg, const struct ward_grant_held *held);
int ward_run_glass_timeout(const struct ward_running *r);
/* Says what has ended, and what there was no room for before. */
void ward_run_glass_tick(struct ward_running *r);
/* What is still to be said, without the name of the program; NULL: nothing. The caller's. */
char *ward_run_glass_rest(struct ward_running *r);
