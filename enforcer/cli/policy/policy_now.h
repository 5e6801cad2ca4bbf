/* SPDX-License-Identifier: Apache-2.0 */
/* Another policy for sessions that run: one by name, or those that follow the owner's file. */
#pragma once

#include <jansson.h>

#include "enforcer/base/err.h"
#include "enforcer/cli/place/policy_place.h"

/*
 * Asks the session to take FILE|PROFILE as its base; stand_in as in ward_base_find_as(). 0: *ret is
 * its answer (enforcer/session/reload/reload.h), the caller's; -EINVAL: base is wrong; else the
 * session could not be asked.
 */
int policy_now_ask(const char *runtime, const char *session, const char *base, const char *stand_in,
	json_t **ret, struct ward_err *err) ward_must_check;

/* Says on stderr what of the session's open files could not be taken back, and notes. */
void policy_now_say_left(const char *session, const json_t *answer);

/*
 * --now: puts the owner's file, as it is now, in force in each running session of the caller's that
 * follows it, and says for each what came of it. 0; 1: some session could not take it.
 */
int policy_now(const struct ward_policy_place *place);

/* The row of --now. */
#define POLICY_OPT_NOW 0x400
#define POLICY_OPTION_NOW                                                                          \
	{                                                                                          \
		"now", POLICY_OPT_NOW, NULL, 0, "Change the running sessions of the project, too", \
			0                                                                          \
	}
