/* SPDX-License-Identifier: Apache-2.0 */
/* A session whose changes are staged: where they go, and what is said of them at the end. */
#pragma once

#include "enforcer/session/guard/guard.h"
#include "enforcer/session/plan/plan.h"

/*
 * Makes the place for them, if the plan wants that. The guard is open. from: SESSION[@STEP] whose
 * changes the session begins with, or NULL.
 */
int ward_run_stage(const struct ward_run_plan *p, struct ward_guard *g, const char *from,
	struct ward_err *err) ward_must_check;
/*
 * wardfs-fs has ended: the line for people, the caller's, or NULL. What is to be thrown away is.
 */
char *ward_run_staged(const struct ward_run_plan *p, const struct ward_guard *g);
/* The session did not start: what ward_run_stage() made is removed. */
void ward_run_unstage(const struct ward_guard *g);
