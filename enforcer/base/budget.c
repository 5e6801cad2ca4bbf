/* SPDX-License-Identifier: Apache-2.0 */
/* Counts what reading hostile input costs. */
#include "enforcer/base/budget.h"

#include <errno.h>

#include "enforcer/base/clock.h"

void ward_budget_begin(struct ward_budget *b, uint64_t ns, size_t bytes)
{
	*b = (struct ward_budget){.until_ns = ward_clock_mono_ns() + ns, .bytes = bytes};
}

int ward_budget_take(struct ward_budget *b, size_t bytes)
{
	if (ward_clock_mono_ns() >= b->until_ns)
		return -ETIME;
	if (bytes > b->bytes)
		return -EDQUOT;
	b->bytes -= bytes;
	return 0;
}
