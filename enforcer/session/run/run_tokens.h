/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens that were given to the run: their grants are in force before the command begins. */
#pragma once

#include "enforcer/session/run/running.h"

/* Also begins with questions (run_asks.h). Any token that is refused: a negative errno, and the run
 * is over before the command begins. */
int ward_run_tokens(struct ward_running *r, struct ward_err *err) ward_must_check;
