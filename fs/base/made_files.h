/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which programs make many small files. wardfs-hostd takes about 60 microseconds to register a
 * file, as long as some four requests that write. A new file has no size that would tell whether
 * that pays, so the last files of the same thread do.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Threads that are remembered: of two with the same slot the last one. */
#define WARD_MADE_SLOTS 256U

struct ward_made_files {
	/* The thread in the upper half, its small files in a row in the lower one. 0: none. */
	atomic_uint_fast64_t slots[WARD_MADE_SLOTS];
};

/* A file that thread tid made was closed, with this many bytes. Any thread. */
void ward_made_ended(struct ward_made_files *m, uint32_t tid, off_t size);
/* Will the next file of that thread be small? False: not known. Any thread. */
bool ward_made_will_be_small(const struct ward_made_files *m, uint32_t tid);
