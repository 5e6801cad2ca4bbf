/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the file of -o, and says how to replace one that exists. */
#include "enforcer/cli/audit/audit_output.h"

#include <errno.h>

static int say_exists(int r, const char *path, struct ward_err *err)
{
	return r == -EEXIST ? ward_err_set(err, r,
				      "%s already exists; give another name, or --force to replace "
				      "it",
				      path)
			    : r;
}

int audit_output_begin(const struct audit_cmd *c, const char *path, mode_t mode,
	struct ward_output *ret, struct ward_err *err)
{
	return say_exists(ward_output_begin(path, mode, c->replace, ret, err), path, err);
}

int audit_output_write(
	const struct audit_cmd *c, const char *path, const struct ward_buf *b, struct ward_err *err)
{
	return say_exists(ward_output_write(path, c->replace, b, err), path, err);
}
