/* SPDX-License-Identifier: Apache-2.0 */
/*
 * [process] python = restricted: a script in Python runs under RestrictedPython, inside the walls
 * of the mode. The layer is one of the language, and no wall of its own.
 */
#pragma once

#include "enforcer/modes/modes.h"

/* As ward_mode_look(), ward_mode_command(); both do nothing where the policy does not ask for it.
 */
int ward_python_look(const struct ward_mode_host *h, struct ward_mode_found *ret,
	struct ward_buf *ret_text, struct ward_err *err) ward_must_check;
int ward_python_command(const struct ward_mode_asked *a, struct ward_mode_command *ret,
	struct ward_err *err) ward_must_check;
