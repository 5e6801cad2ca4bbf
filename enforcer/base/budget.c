/* SPDX-License-Identifier: Apache-2.0 */
/* Counts what reading hostile input costs. */
#include "enforcer/base/budget.h"

#include <errno.h>

#include "enforcer/base/clock.h"

/* Entries between two looks at the clock. */
#define LOOK_EVERY 256U

void ward_budget_begin(struct ward_budget *b)
{
	uint64_t now = ward_clock_mono_ns();
	*b = (struct ward_budget){.from_ns = now,
		.until_ns = now + WARD_START_NS,
		.bytes = WARD_START_BYTES,
		.entries = WARD_START_ENTRIES};
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

int ward_budget_entry(struct ward_budget *b)
{
	if (b->entries == 0)
		return -EOVERFLOW;
	return --b->entries % LOOK_EVERY ? 0 : ward_budget_take(b, 0);
}

bool ward_budget_half(const struct ward_budget *b)
{
	return b->entries < WARD_START_ENTRIES / 2 ||
	       ward_clock_mono_ns() >= b->from_ns + (b->until_ns - b->from_ns) / 2;
}

bool ward_budget_refuse(int r, const char *file, size_t max, struct ward_err *err)
{
	const char *unit = max >> 20 ? "MiB" : "KiB";
	size_t n = max >> 20 ? max >> 20 : max >> 10;
	if (r == -EFBIG)
		ward_err_set(err, r, "%s is larger than %zu %s", file, n, unit);
	else if (r == -EINVAL)
		ward_err_set(err, r, "%s is not a regular file", file);
	else if (r == -ETIME)
		ward_err_set(err, r,
			"at %s the search of the project had taken %u s, which is its limit", file,
			(unsigned)(WARD_START_NS / WARD_NS_PER_SEC));
	else if (r == -EDQUOT)
		ward_err_set(err, r, "with %s the start would read more than %zu MiB", file,
			WARD_START_BYTES >> 20);
	else if (r == -EOVERFLOW)
		ward_err_set(err, r, "at %s the start had looked at %u names, which is its limit",
			file, (unsigned)WARD_START_ENTRIES);
	else
		return false;
	return true;
}
