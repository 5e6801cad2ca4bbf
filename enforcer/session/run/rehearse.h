/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Would this plan start here? The sandbox is made as a run makes it, up to the point where its
 * trees would be served, and taken away again. No session comes into being: no trail, no helper but
 * wardfs-init, no name, and the command is not executed.
 */
#pragma once

#include <jansson.h>

#include "enforcer/session/plan/plan.h"

/*
 * Adds to o what would hold: "limits", "guarantees", "missing" (as ward_limits_describe()), and
 * "delegation" where a user manager of systemd would be asked for a group. envp: of the command. 0,
 * or why it would not start: the error that the run would have; -EINVAL for what the user can fix
 * in policy or command line.
 */
int ward_rehearse(const struct ward_run_plan *p, const struct ward_run_options *options,
	char *const *envp, json_t *o, struct ward_err *err) ward_must_check;
