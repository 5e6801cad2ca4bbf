/* SPDX-License-Identifier: Apache-2.0 */
/* A file of the backing as it was looked at. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

/* What tells one file from another over time; btime tells reused inode numbers apart. */
struct ward_file_id {
	uint64_t ino;
	uint64_t btime_ns; /* 0: this file system keeps none */
};

struct ward_file {
	struct ward_file_id id;
	struct stat st; /* as on the backing, ids not mapped */
};

static inline bool ward_file_id_equal(const struct ward_file_id *a, const struct ward_file_id *b)
{
	return a->ino == b->ino && a->btime_ns == b->btime_ns;
}

/* With STATX_BASIC_STATS, and STATX_BTIME if the file system keeps it. */
void ward_file_from_statx(const struct statx *stx, struct ward_file *ret);
