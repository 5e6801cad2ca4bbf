/* SPDX-License-Identifier: Apache-2.0 */
/* Mode docker: a container engine around the command. */
#include <errno.h>

#include "enforcer/modes/operations.h"

static int usable(const struct ward_mode *m, struct ward_err *err)
{
	(void)m;
	return ward_err_set(err, -ENOTSUP, "this version of wardfs starts no container engine");
}

const struct ward_mode_ops ward_mode_ops_docker = {.usable = usable};
