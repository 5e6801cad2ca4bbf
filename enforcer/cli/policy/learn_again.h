/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs learn: the command once more, under what is proposed. */
#pragma once

#include <stdbool.h>

#include "enforcer/cli/policy/learn.h"
#include "enforcer/session/plan/plan.h"

/*
 * Runs the command of o under this text of a policy, in a session of that name, and waits.
 * *ret_status: as of `wardfs run`. Negative: it could not be tried.
 */
int learn_again(const struct ward_run_options *o, const struct ward_buf *text, const char *session,
	int *ret_status, struct ward_err *err) ward_must_check;

/* Says which paths were refused under the proposal and not while it was learned. Returns how many.
 */
size_t learn_again_say_refused(
	const struct ward_learned *first, const struct ward_learned *again, const char *session);
