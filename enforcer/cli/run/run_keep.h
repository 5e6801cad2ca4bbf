/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs run --keep: the session goes on where its first command ended, without its caller. */
#pragma once

#include "enforcer/session/plan/plan.h"

/*
 * Runs `run` in a process of its own, which stays as the session's supervisor; returns the exit
 * status for our caller once the first command has ended (or the session, if that comes first). o
 * gets the descriptor on which the supervisor tells it.
 */
int ward_run_keep(struct ward_run_options *o, char **argv,
	int (*run)(const struct ward_run_options *o, char *const *argv));
