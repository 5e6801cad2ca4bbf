/* SPDX-License-Identifier: Apache-2.0 */
/* A run whose changes are staged: where they go, and what is said of them at the end. */
#pragma once

#include "enforcer/session/run/running.h"

/* Makes the place for them, if the plan wants that. The guard is open. */
int ward_run_stage(struct ward_running *r, struct ward_err *err) ward_must_check;
/* Are the changes of tree i staged? */
bool ward_run_stages(const struct ward_run_plan *p, size_t i);
/*
 * wardfs-fs has ended: the line for people, the caller's, or NULL. What is to be thrown away is.
 */
char *ward_run_staged(struct ward_running *r);
