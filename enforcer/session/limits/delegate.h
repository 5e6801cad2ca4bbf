/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A control group for an ordinary user: asked of the user manager of systemd, which alone may move
 * processes out of a login session's group (systemd.io/CGROUP_DELEGATION).
 */
#pragma once

#include "enforcer/session/plan/plan.h"

/*
 * Where the plan has a limit that only a control group holds, the caller has none delegated, and a
 * user manager answers: executes `wardfs VERB` again, with argv[1] and on, in a delegated scope of
 * its own (systemd-run(1)); then it does not return. Else it returns, and the run tells what is
 * missing.
 */
void ward_delegate(const struct ward_run_plan *p, const char *verb, char *const *argv);
/* True if a user manager of the caller answers and cgroup v2 has the controllers. */
bool ward_delegate_possible(void);

/* Is this process the program that ward_delegate() started in such a group? */
bool ward_delegated(void);
