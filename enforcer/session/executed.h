/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a session leaves behind that this host may execute later (conf/host-executed.list): found at
 * the end by name, and by the time of change (st_ctime), which no system call sets. Nothing has to
 * be looked at when a session starts.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "enforcer/base/err.h"

/* Bounds of the search; what lies past them is said, not passed over. */
#define WARD_EXECUTED_DEPTH_MAX 48U
#define WARD_EXECUTED_ENTRIES_MAX 1000000U
#define WARD_EXECUTED_TIME_NS 3000000000ULL
#define WARD_EXECUTED_FOUND_MAX 512U

/* A point of time before the command starts. */
struct ward_executed_since {
	uint64_t real_ns, mono_ns;
};
struct ward_executed_since ward_executed_now(void);

struct ward_executed {
	char **paths; /* owned; relative to the tree, the shortest ways down first, then by name */
	size_t n;
	bool whole; /* false: a bound was met, or a directory could not be read */
};

/*
 * Looks through the tree (O_PATH directory, borrowed; other mounts beneath are not entered) for
 * what is new or changed. Opens directories alone, by descriptor and without following links.
 * -ENOMEM, -errno of the tree itself.
 */
int ward_executed_find(int tree, const struct ward_executed_since *since,
	struct ward_executed *ret) ward_must_check;
void ward_executed_clear(struct ward_executed *e);
