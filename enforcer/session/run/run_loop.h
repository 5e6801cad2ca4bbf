/* SPDX-License-Identifier: Apache-2.0 */
/* `wardfs run` while the command runs. */
#pragma once

#include "enforcer/session/run/running.h"

/* The command was started: handles what happens, until the run is over (r->over, r->status). */
void ward_run_loop(struct ward_running *r);
