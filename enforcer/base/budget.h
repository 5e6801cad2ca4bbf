/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What reading hostile input may cost: one budget for everything that one step reads, so that many
 * small files do not get what one large file is refused.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "enforcer/base/err.h"

/*
 * The budget of a start, for the policy's files and for the search of the project for repositories:
 * a thousand times what large projects need. ward_budget_refuse() says these to people.
 */
#define WARD_START_NS UINT64_C(20000000000)
#define WARD_START_BYTES ((size_t)32 << 20)
#define WARD_START_ENTRIES UINT32_C(4000000)

struct ward_budget {
	uint64_t from_ns, until_ns; /* CLOCK_MONOTONIC */
	size_t bytes;		    /* that may still be read */
	uint32_t entries;	    /* of directories that may still be looked at */
};

/* From now on, what a start may cost. */
void ward_budget_begin(struct ward_budget *b);
/*
 * Takes bytes (0: looks at the clock alone). -ETIME: the time is over; -EDQUOT: fewer bytes are
 * left, which stay.
 */
int ward_budget_take(struct ward_budget *b, size_t bytes) ward_must_check;
/* Takes an entry of a directory. -ETIME; -EOVERFLOW: none is left. */
int ward_budget_entry(struct ward_budget *b) ward_must_check;
/*
 * Is half of the time or of the entries gone? Where a search can end early without harm, it ends
 * there, and the rest of the start has what is left.
 */
bool ward_budget_half(const struct ward_budget *b);
/*
 * For one of the errors above, -EFBIG and -EINVAL of a file: sets err to a message that names the
 * file and the bound, and returns true. max: bytes that such a file may have. False: another error.
 */
bool ward_budget_refuse(int r, const char *file, size_t max, struct ward_err *err);
