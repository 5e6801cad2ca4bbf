/* SPDX-License-Identifier: Apache-2.0 */
/* Mode deno: a script under Deno, within the walls of restricted. */
#include <errno.h>

#include "enforcer/modes/operations.h"

static int usable(const struct ward_mode *m, struct ward_err *err)
{
	(void)m;
	return ward_err_set(err, -ENOTSUP, "this version of wardfs starts no Deno");
}

const struct ward_mode_ops ward_mode_ops_deno = {.usable = usable};
