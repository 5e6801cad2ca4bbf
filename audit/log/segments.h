/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files that a trail consists of, in the directory of its session: "trail.jsonl", then
 * "trail.2.jsonl", "trail.3.jsonl" …; a finished one can be compressed (frames.h): the same with
 * ".zst". Where both are there, the plain one counts. Who makes and compresses them: the
 * supervisor, prune. log.h reads them as one.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "enforcer/base/err.h"

/* "trail.123456.jsonl.zst.new" and NUL. */
#define WARD_SEGMENT_NAME_MAX 40U
#define WARD_SEGMENTS_MAX 999999U
/* Smaller segments are not made, whatever the policy says. */
#define WARD_SEGMENT_MIN ((size_t)64 << 10)

/* number from 1 to WARD_SEGMENTS_MAX. */
void ward_segment_name(char ret[WARD_SEGMENT_NAME_MAX], unsigned number, bool packed);

struct ward_segment {
	unsigned number;
	bool plain;  /* as it was written */
	bool packed; /* compressed */
};
/* Those in a directory, rising. *ret_v is the caller's (free()); none: 0 and NULL. */
int ward_segments_list(int dir_fd, struct ward_segment **ret_v, size_t *ret_n) ward_must_check;
/* Opens one for reading. -ENOENT. */
int ward_segment_open(int dir_fd, unsigned number, bool packed, int *ret_fd) ward_must_check;

/*
 * The mode of a file that is made in a session's directory: 0600, and readable for the group where
 * the directory is, which is where an access control list names a reader (store.h).
 */
int ward_segment_mode(int dir_fd, mode_t *ret) ward_must_check;

/*
 * Makes segment `number` (2 …), empty, locked (flock(2), as a writer's), its name on disk. *ret_fd
 * (O_RDWR|O_APPEND) is the caller's.
 */
int ward_segment_create(int dir_fd, unsigned number, int *ret_fd) ward_must_check;
/*
 * Where a recovery writer goes on: the last segment with a whole line, or the first one. What is
 * behind it, made for a writer that died before it wrote a line there, is removed. *ret_fd as
 * above, not locked.
 */
int ward_segment_last(int dir_fd, int *ret_fd, unsigned *ret_number) ward_must_check;

/* Removes segment `number` if nothing is in it. */
void ward_segment_unused(int dir_fd, unsigned number);

/*
 * Begins to compress a segment: *ret_from its text, *ret_to an empty file that has not the
 * segment's name yet, both the caller's. -EBUSY: somebody else does. -ENOENT: there is no plain
 * one.
 */
int ward_segment_pack_begin(
	int dir_fd, unsigned number, int *ret_from, int *ret_to) ward_must_check;
/*
 * ward_frames_pack() was done: the compressed segment gets its name, then the plain one goes. At
 * any instant one of them is on disk.
 */
int ward_segment_pack_end(int dir_fd, unsigned number) ward_must_check;
/* It failed: what was written goes, the plain one stays. */
void ward_segment_pack_drop(int dir_fd, unsigned number);
