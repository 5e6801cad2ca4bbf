/* SPDX-License-Identifier: Apache-2.0 */
/* Which session each line of a file of the project came from. */
#pragma once

#include "enforcer/cli/audit/audit_origin.h"

/*
 * Prints each line of the file with the session whose applied changes it is of; with c->json one
 * object, of which docs/review.md has the form. It compares the contents before and after each
 * apply that reviews still keep. Where one is kept no more, it says of a line so. -ENODATA: it is
 * no text of this project.
 */
int audit_blame_print(
	struct audit_cmd *c, const struct audit_origin *o, struct ward_err *err) ward_must_check;
