/* SPDX-License-Identifier: Apache-2.0 */
/* The project before and after the command. */
#pragma once

#include "enforcer/session/run/running.h"
#include "enforcer/session/tree/executed.h"

/* Takes the project down as it is before the command starts, for ward_run_project_find(). */
void ward_run_project_look(struct ward_running *r);
/* What the session leaves in the project that this host may execute, or that is no file. found is
 * initialised; ward_executed_clear() frees it. */
void ward_run_project_find(const struct ward_running *r, struct ward_executed *found);
