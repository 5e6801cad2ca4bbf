/* SPDX-License-Identifier: Apache-2.0 */
/* The runtime that a mode puts in front of a plan's commands (enforcer/modes/modes.h). */
#pragma once

#include "enforcer/modes/modes.h"
#include "enforcer/session/plan/plan.h"

/* While the policy loads: ward_mode_look() with the rights of p's owner. As struct ward_load.more.
 */
int ward_runtime_look(struct ward_run_plan *p, const struct ward_mode *mode, char *const *argv,
	const struct ward_policy *policy, struct ward_buf *b, struct ward_err *err) ward_must_check;

/* Would the mode take this command under p's policy? 0, or why not, as ward_mode_look(). */
int ward_runtime_suits(const struct ward_run_plan *p, const struct ward_mode *mode,
	char *const *argv, struct ward_err *err) ward_must_check;

/* ward_mode_command() for a command of p; ret->argv is argv's where the mode has no runtime. */
int ward_runtime_command(const struct ward_run_plan *p, char *const *argv, char *const *envp,
	struct ward_mode_command *ret, struct ward_err *err) ward_must_check;

/* The home as commands know it; NULL: none. A mode without a view of its own has the host's. */
const char *ward_runtime_home(const struct ward_run_plan *p);

/* The environment of the plan's command, as ward_environment_build(). session: its name. */
int ward_runtime_environment(const struct ward_run_plan *p, const struct ward_run_options *o,
	const char *session, char ***ret, struct ward_buf *note,
	struct ward_err *err) ward_must_check;
