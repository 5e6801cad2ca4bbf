/* SPDX-License-Identifier: Apache-2.0 */
/* `wardfs attach`, the client: the user's terminal at that of a session's first command. */
#pragma once

#include <stdbool.h>

#include "enforcer/base/err.h"

/*
 * Until the command is over, or WARD_RELAY_DETACH was typed twice. watch: nothing else of what is
 * typed goes there. Returns the exit status: the command's, 0 after leaving; err has the reason of
 * another one.
 */
int ward_attach_to(const char *session, bool watch, struct ward_err *err) ward_must_check;
