/* SPDX-License-Identifier: Apache-2.0 */
/* What a person should know of the trees before a command starts. */
#pragma once

#include "enforcer/session/plan/plan.h"

/*
 * What ward_guards_say() says of the plan's repositories, and a line where a symbolic link in a
 * tree of the plan leads past a rule. A start looks at the topmost directories alone, with the
 * owner's rights; `wardfs policy check` at all. -ENOMEM, or what ward_as_owner_begin() returns.
 */
int ward_trees_say(const struct ward_run_plan *p, void (*say)(const char *text),
	struct ward_err *err) ward_must_check;
