/* SPDX-License-Identifier: Apache-2.0 */
/* Which session the content of a file of the project came from, through `wardfs review apply`. */
#pragma once

#include "enforcer/cli/audit/audit_cmd.h"

/*
 * Prints a line for each apply and undo of the file in any session of the project around the
 * current directory, and which of them put there what it has now. path: as audit_trail_path() takes
 * it. *ret_n: how many lines.
 */
int audit_origin_print(
	struct audit_cmd *c, const char *path, size_t *ret_n, struct ward_err *err) ward_must_check;
