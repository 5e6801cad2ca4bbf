/* SPDX-License-Identifier: Apache-2.0 */
/* Remembers, by thread, how many small files it made in a row. */
#include "fs/base/made_files.h"

/* As many bytes as registering pays for, and as many files as a program shows its habit by. */
#define SMALL ((off_t)128 << 10)
#define HABIT 4U

static uint64_t in_a_row(uint64_t slot, uint32_t tid)
{
	return slot >> 32 == tid ? slot & UINT32_MAX : 0;
}

void ward_made_ended(struct ward_made_files *m, uint32_t tid, off_t size)
{
	atomic_uint_fast64_t *slot = &m->slots[tid % WARD_MADE_SLOTS];
	uint64_t n = in_a_row(atomic_load_explicit(slot, memory_order_relaxed), tid);

	if (size >= SMALL)
		n = 0;
	else if (n < HABIT)
		n++;
	/* Another thread's word can be lost here: it costs a registration. */
	atomic_store_explicit(slot, (uint64_t)tid << 32 | n, memory_order_relaxed);
}

bool ward_made_will_be_small(const struct ward_made_files *m, uint32_t tid)
{
	const uint64_t slot =
		atomic_load_explicit(&m->slots[tid % WARD_MADE_SLOTS], memory_order_relaxed);

	return tid && in_a_row(slot, tid) >= HABIT;
}
