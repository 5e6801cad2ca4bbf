/* SPDX-License-Identifier: Apache-2.0 */
/* Steps of a session whose changes are staged, as clients of the control socket ask for them. */
#pragma once

#include "enforcer/session/control/control_verbs.h"
#include "enforcer/session/run/running.h"

/* "steps", "mark", "back": handed to wardfs-fs, which answers. */
void ward_run_steps_asked(void *arg, struct ward_control_request *q);
/* The same for a session of the guard alone. */
void ward_run_steps_hand(
	struct ward_ask_fs *ask_fs, const struct ward_guard *g, struct ward_control_request *q);
/*
 * "exec": a mark first, where changes are staged. True: q is taken, and the command starts once
 * there is one, or none can be made.
 */
bool ward_run_steps_before_exec(struct ward_running *r, struct ward_control_request *q);
