/* SPDX-License-Identifier: Apache-2.0 */
/* Has sessions prepared ([session] warm): by a process of its own, `run --prepare`. */
#pragma once

#include "enforcer/session/plan/plan.h"
#include "enforcer/session/run/run_warm.h"

/* Does any session wait, prepared, for whatever run? */
bool ward_run_warm_waits(void);

/*
 * Starts a process that prepares one more session for such a run as o is, unless enough wait. It
 * leaves our terminal, descriptors and process group, and begins a moment later. argv: of the verb;
 * context: ward_warm_context() of this process.
 */
void ward_run_prepare_later(
	const struct ward_run_options *o, char *const *argv, const char *context);

/* That process: `run --prepare=CONTEXT OPTIONS -- true`. Returns its exit status. */
int ward_run_prepare(struct ward_run_options *o, const char *context, char *const *argv,
	int (*run)(const struct ward_run_options *o, char *const *argv));

/* In it, with the plan: is one more session to be prepared? Computes the key, and takes the lock
 * under which sessions are counted. */
bool ward_run_prepare_wanted(
	const struct ward_run_plan *p, const struct ward_run_options *o, bool agent);
/* In it: collects what is to be said, for whoever takes the session. */
void (*ward_run_prepare_says(void))(const char *text);
/* In it, when all but the control groups is closed: tells whoever took the session the exit status.
 */
void ward_run_warm_ended(struct ward_prepared *p, int status);
