/* SPDX-License-Identifier: Apache-2.0 */
/* What `wardfs run` answers at the control socket (control_verbs.h). */
#pragma once

#include "enforcer/session/run/running.h"

/*
 * A client waits at the control socket: takes it, and answers. One that says nothing yet waits in
 * the set, with this rank.
 */
void ward_run_control(struct ward_running *r, unsigned rank);

/* What the session tells about itself: an object, the caller's. */
json_t *ward_run_status(const struct ward_running *r);

/* Makes r->granting: from here on it can be given grants. -ENOMEM. */
int ward_run_granting(struct ward_running *r) ward_must_check;
