/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many ranges are locked. The kernel keeps some two hundred bytes for each range of a POSIX
 * lock, in the name of the process that locks the backing, which is this one, and no limit of the
 * command's counts them. They lie in one list a file, so a long list also makes each call slow.
 *
 * What is counted is a bound: each call adds what it can add at most, and when that has doubled the
 * kernel is asked how many there are (/proc/self/fdinfo).
 */
#pragma once

#include "fs/node/node.h"

/* Bounds, ENOLCK beyond: ranges of one file, ranges of all files; lock owners of all files, which
 * have a descriptor each; and what handles remember of those, eight bytes each. */
#define WARD_LOCKS_FILE_MAX 8192U
#define WARD_LOCKS_MAX 32768U
#define WARD_LOCKERS_MAX 8192U
#define WARD_LOCK_OWNERS_MAX 65536U
/* Threads that wait for a lock, in the whole process; a request beyond is ENOLCK. */
#define WARD_WAITERS_MAX 256

/* A call splits one range into two and puts one between them. */
#define WARD_LOCK_ADDS 2U

/* Of one lock owner of a file. Protected by nodes->lock. */
struct ward_lock_count {
	unsigned ranges;   /* at most so many are locked, or asked for just now */
	unsigned ask_at;   /* ranges at which the kernel is asked again */
	unsigned refusals; /* to come before it is asked once more for the sake of one */
};

/*
 * The ranges that are locked by the descriptor fd of this process. Negative errno: that cannot be
 * told.
 */
int ward_locks_of(int fd) ward_must_check;
/*
 * What open-file-description locks the descriptor `from` of this process has, `to` gets too.
 * -ENOLCK: one of them is no read lock, or somebody else is in the way; another negative errno.
 * Then `to` may have some of them.
 */
int ward_locks_copy(int from, int to) ward_must_check;
