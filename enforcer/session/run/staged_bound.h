/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which directories a session staged changes for. A path is only a name: another project may have
 * it by now, where nothing of this session is to be applied. The file `bound` beside the journal
 * has a line for each directory: what home/home_bound.h says of it, a space, and its path, escaped.
 */
#pragma once

#include <stdbool.h>

#include "enforcer/session/plan/plan.h"

/* dir: of what is staged (O_PATH will do). Negative errno. */
int ward_staged_bound_write(int dir, const struct ward_run_plan *p) ward_must_check;
/*
 * Is the directory root_fd (O_PATH), which has that path today, another one than the session's?
 * What sessions of before this file was written staged: no.
 */
bool ward_staged_bound_other(int dir, int root_fd, const char *path);
