/* SPDX-License-Identifier: Apache-2.0 */
/* "1 file", "2 files": what a message appends to the noun behind a number. */
#pragma once

#include <stdint.h>

static inline const char *ward_s(uint64_t n)
{
	return n == 1 ? "" : "s";
}

/* "1 is", "2 are". */
static inline const char *ward_is(uint64_t n)
{
	return n == 1 ? "is" : "are";
}

/* The same for verbs: "1 was", "2 were". */
static inline const char *ward_were(uint64_t n)
{
	return n == 1 ? "was" : "were";
}
