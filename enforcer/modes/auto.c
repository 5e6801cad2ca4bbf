/* SPDX-License-Identifier: Apache-2.0 */
/* Mode auto: picks the weakest of the other modes that suffices. */
#include "enforcer/modes/operations.h"

/* It needs nothing of the host: the plan of a run asks enforcer/risk, and goes on with its pick. */
static int usable(const struct ward_mode *m, struct ward_err *err)
{
	(void)m, (void)err;
	return 0;
}

const struct ward_mode_ops ward_mode_ops_auto = {.usable = usable};
