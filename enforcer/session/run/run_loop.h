/* SPDX-License-Identifier: Apache-2.0 */
/* `wardfs run` while the command runs. */
#pragma once

#include "enforcer/session/run/running.h"

/* Two interrupts of the same wish are this far apart, in nanoseconds. */
#define WARD_RUN_INTERRUPT_MIN_NS UINT64_C(300000000)
#define WARD_RUN_INTERRUPT_MAX_NS UINT64_C(5000000000)

/* The command was started: handles what happens, until the run is over (r->over, r->status). */
void ward_run_loop(struct ward_running *r);
