/* SPDX-License-Identifier: Apache-2.0 */
/* All that `wardfs doctor` tries, in the order of the report. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "enforcer/cli/doctor/doctor_check.h"

/* More lines than the report has. */
#define WARD_DOCTOR_MAX 50

/*
 * Tries all of it, as the caller, and returns the number of lines in ret. *ret_fit: the default
 * policy can be run here.
 */
size_t ward_doctor_try(struct ward_check ret[WARD_DOCTOR_MAX], bool *ret_fit);

/* Says on stderr what a guarded run lacks on this host, and the fix; nothing if it lacks nothing.
 */
void ward_doctor_say(void);
