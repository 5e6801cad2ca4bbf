/* SPDX-License-Identifier: Apache-2.0 */
/* Work on many files that do not depend on each other, in several threads. */
#pragma once

#include <stddef.h>

#define WARD_SHARES_MAX 8U

/*
 * In how many shares n files are worked on: 1 to WARD_SHARES_MAX, no more than there are
 * processors, or than `waiting`: so many threads can wait for the disk. each: with fewer files, a
 * thread costs more than it saves.
 */
unsigned ward_shares_count(size_t n, size_t each, unsigned waiting);
/* Where share k of so many begins; where the one before it ends. */
size_t ward_shares_at(size_t n, unsigned shares, unsigned k);
/*
 * Calls fn for each share, in a thread of its own or, where none can be made, in this one. Returns
 * when all have returned. A thread has the file system's ids of the caller.
 */
void ward_shares_run(unsigned shares, void (*fn)(void *arg, unsigned share), void *arg);
