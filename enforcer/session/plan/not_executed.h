/* SPDX-License-Identifier: Apache-2.0 */
/* A command that was not found inside, or not executed: what its caller must know. */
#pragma once

#include "enforcer/base/err.h"

/*
 * Sets err (-ENOENT): where name is on the host, if PATH of envp finds it there, and what shows it
 * inside; else that it is not found. Looks at the host's names alone.
 */
void ward_say_where(const char *name, char *const *envp, struct ward_err *err);
/*
 * Sets err (-EACCES) for a command that could not be executed where there is a list of programs.
 * runtime: the program that the mode runs it with; NULL: none.
 */
void ward_say_unlisted(const char *name, const char *runtime, struct ward_err *err);
