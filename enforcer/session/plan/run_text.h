/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of one run as a policy source ("command line"), and where the owner's files are.
 */
#pragma once

#include <stdbool.h>

#include "enforcer/session/plan/plan.h"

/*
 * --read, --write and --hide as policy text. A PATH below the project becomes a rule on /workspace;
 * a directory elsewhere becomes a tree of its own at its host path, so that guards and trail cover
 * it too; a file elsewhere can be read (as [system] read) but not written. *ret is the caller's;
 * NULL if nothing was given. -EINVAL names the option.
 */
int ward_run_text(const struct ward_run_options *o, const char *project, const char *cwd,
	char **ret, struct ward_err *err) ward_must_check;
