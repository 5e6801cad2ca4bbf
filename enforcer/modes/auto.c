/* SPDX-License-Identifier: Apache-2.0 */
/* Mode auto: picks the weakest of the other modes that suffices. */
#include <errno.h>

#include "enforcer/modes/operations.h"

static int usable(const struct ward_mode *m, struct ward_err *err)
{
	(void)m;
	return ward_err_set(
		err, -ENOTSUP, "this version of wardfs does not weigh the risk of a run");
}

const struct ward_mode_ops ward_mode_ops_auto = {.usable = usable};
