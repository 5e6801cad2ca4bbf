/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What reading hostile input may cost: one budget for everything that one step reads, so that many
 * small files do not get what one large file is refused.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "enforcer/base/err.h"

struct ward_budget {
	uint64_t until_ns; /* CLOCK_MONOTONIC */
	size_t bytes;	   /* that may still be read */
};

/* From now on, ns nanoseconds and this many bytes. */
void ward_budget_begin(struct ward_budget *b, uint64_t ns, size_t bytes);
/*
 * Takes bytes (0: looks at the clock alone). -ETIME: the time is over; -EDQUOT: fewer bytes are
 * left, which stay.
 */
int ward_budget_take(struct ward_budget *b, size_t bytes) ward_must_check;
