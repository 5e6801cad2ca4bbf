/* SPDX-License-Identifier: Apache-2.0 */
/* What `wardfs run` answers at the control socket (control_verbs.h). */
#pragma once

#include "enforcer/session/run/running.h"

/* A client waits at the control socket: takes it, hears its request, answers. */
void ward_run_control(struct ward_running *r);
