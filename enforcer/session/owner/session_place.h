/* SPDX-License-Identifier: Apache-2.0 */
/* What sessions are called, and where the sockets of those that run lie. */
#pragma once

#include <stdbool.h>

#include "enforcer/base/err.h"

/*
 * Where the sockets of the caller live: $XDG_RUNTIME_DIR/wardfs, else /run/wardfs as root, else
 * `run` in the state directory: never in a place where somebody else could have been first.
 */
int ward_control_runtime(char **ret_path, struct ward_err *err) ward_must_check;

/* Names with '/' or a leading dot, empty or too long ones are no session names. */
bool ward_session_name_ok(const char *name);
#define WARD_SESSION_NAME_RULE                                                                        \
	"a name has letters, digits, '.', '_' and '-' only, 80 at most, and begins with a letter, a " \
	"digit or '_'"
