/* SPDX-License-Identifier: Apache-2.0 */
/* Reserves space for a file behind its end, and gives it back. */
#include "audit/write/reserve.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/clock.h"

/* While the disk is full: time between attempts. */
#define AGAIN_NS (WARD_NS_PER_SEC / 10)

enum ward_reserve_level ward_reserve_fill(
	struct ward_reserve *r, int fd, uint64_t at, uint64_t now_ns)
{
	const uint64_t want = at + WARD_RESERVE_BYTES;
	const bool due = r->full ? now_ns - r->tried_ns >= AGAIN_NS
				 : r->end < at + WARD_RESERVE_BYTES / 8 * 7;
	if (due && !r->none) {
		int e = fallocate(fd, FALLOC_FL_KEEP_SIZE, (off_t)at, (off_t)WARD_RESERVE_BYTES) < 0
				? errno
				: 0;
		r->end = e == 0 ? want : r->end;
		r->full = e == ENOSPC || e == EDQUOT;
		r->none = e != 0 && !r->full && e != EINTR;
		r->tried_ns = now_ns;
	}
	/* On a disk that had no room for a reserve, there is none to go by. */
	if (!r->full || r->end == 0)
		return WARD_RESERVE_IS_WHOLE;
	const uint64_t left = r->end > at ? r->end - at : 0;
	return left < WARD_RESERVE_LAST	 ? WARD_RESERVE_IS_LAST
	       : left < WARD_RESERVE_LOW ? WARD_RESERVE_IS_LOW
					 : WARD_RESERVE_IS_PART;
}

void ward_reserve_drop(int fd)
{
	struct stat st;
	/* To the size that it has: that frees what lies beyond. */
	if (fstat(fd, &st) == 0)
		(void)!ftruncate(fd, st.st_size);
}

void ward_reserve_small(int fd)
{
	struct stat st;
	if (fstat(fd, &st) == 0)
		(void)!fallocate(fd, FALLOC_FL_KEEP_SIZE, st.st_size, (off_t)WARD_RESERVE_SMALL);
}
