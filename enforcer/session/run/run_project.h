/* SPDX-License-Identifier: Apache-2.0 */
/* The project before and after the command. */
#pragma once

#include "enforcer/session/run/running.h"
#include "enforcer/session/tree/executed.h"

/*
 * Takes the project down as it is before the command starts, for ward_run_project_find(), and what
 * else of the host the command may change: each further tree but the kept home and the state of
 * agents, which no program of the host obeys.
 */
void ward_run_project_look(struct ward_running *r);
/* What the session leaves there that this host may execute, or that is no file: in the project by
 * its path in it, elsewhere by that on the host. found is initialised; ward_executed_clear() frees
 * it. */
void ward_run_project_find(const struct ward_running *r, struct ward_executed *found);
/* What the session did to the branches of those trees, as records of kind `git`. */
int ward_run_project_git(struct ward_running *r) ward_must_check;
/* Frees what was taken down. */
void ward_run_project_forget(struct ward_running *r);
