/* SPDX-License-Identifier: Apache-2.0 */
/* One run as the command line wishes it, with all that is said about it. */
#pragma once

#include <stdbool.h>

#include "enforcer/session/plan/plan.h"

/* argv: of the verb o->verb, for a scope of systemd's, in which it is called again. Exit status. */
int ward_run_once(const struct ward_run_options *o, char *const *argv);

/* --dry-run: prints what would be in force and starts nothing. The exit status is that of the run.
 */
int ward_run_once_dry(const struct ward_run_options *o, bool json, bool verbose);
