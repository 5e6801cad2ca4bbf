/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Space on the disk that belongs to a file before anything is written there (fallocate(2), beyond
 * the end of the file), so that a trail can go on when its disk is full. Nobody else can take it.
 *
 * While the disk has room, a reserve is filled up again as it is used. When the disk has none:
 *
 *   more than WARD_RESERVE_LOW left   everything is recorded, as always
 *   less                              only what makes room, or ends something, is recorded
 *   less than WARD_RESERVE_LAST       nothing but what was acknowledged before, and the end
 *
 * Where the file system reserves nothing (EOPNOTSUPP), or had too little room from the beginning,
 * there is no reserve: the log fails when the disk is full. btrfs copies a block before it changes
 * it, the last one of the log as well: there the reserve does not help.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * A record of a common size has 350 bytes: some 1400 to look at what is there (an eighth of the
 * reserve can be used up before more is asked for), some 3000 to remove part of it. The rest has
 * room for what all rings can hold (1.5 MiB of events, which become 2 MiB of records): that was
 * acknowledged before the producers hear that no more is taken.
 */
#define WARD_RESERVE_BYTES ((uint64_t)4 << 20)
#define WARD_RESERVE_LOW ((uint64_t)3 << 20)
#define WARD_RESERVE_LAST ((uint64_t)2 << 20)
/* The same for checkpoints and the ledger, which have few entries. */
#define WARD_RESERVE_SMALL ((uint64_t)32 << 10)

enum ward_reserve_level {
	WARD_RESERVE_IS_LAST = 0,
	WARD_RESERVE_IS_LOW,
	WARD_RESERVE_IS_PART, /* the disk is full */
	WARD_RESERVE_IS_WHOLE,
};

struct ward_reserve {
	uint64_t end;	   /* the file owns the space before */
	bool full;	   /* the last attempt to get more found no room */
	bool none;	   /* the file system has no such thing */
	uint64_t tried_ns; /* when that was (CLOCK_MONOTONIC) */
};

/* The file has `at` bytes now: fills the reserve up if need be, and says how much is left. */
enum ward_reserve_level ward_reserve_fill(
	struct ward_reserve *r, int fd, uint64_t at, uint64_t now_ns);
/* The file gets no more: gives back what is left. Best effort. */
void ward_reserve_drop(int fd);
/* WARD_RESERVE_SMALL behind the present end of the file. Best effort. */
void ward_reserve_small(int fd);
