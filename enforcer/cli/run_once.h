/* SPDX-License-Identifier: Apache-2.0 */
/* One run as the command line wishes it, with all that is said about it. */
#pragma once

#include "enforcer/session/plan.h"

/* argv: of the verb o->verb, for a scope of systemd's, in which it is called again. Exit status. */
int ward_run_once(const struct ward_run_options *o, char *const *argv);
