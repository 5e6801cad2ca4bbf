/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Moves of directories, one session at a time.
 *
 * What a rename may do is decided about the places of both names, and about what lies beneath a
 * directory that moves. Another session of the same files may move one of the directories above,
 * or move something into it, at that very moment; then both would have decided about a place that
 * no longer was. So all sessions of one owner have one file between them: whoever renames or links
 * holds its lock from the look at both places to the end. A number in it counts the directories
 * that moved, so that whoever holds the lock next knows that it has to look again.
 *
 * The file: u64 in the order of the host at 0, that number; a lock (OFD) on the byte at
 * WARD_MOVES_LOCK. Nothing else.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define WARD_MOVES_LOCK 4096

struct ward_moves;

/* fd: open for reading and writing, the caller's. -ENOMEM */
int ward_moves_new(int fd, struct ward_moves **ret) __attribute__((warn_unused_result));
void ward_moves_free(struct ward_moves *m);

/* The facts from before the change are no longer known. m may be NULL: 0. */
uint64_t ward_moves_seq(const struct ward_moves *m);

/*
 * Waits until no other session moves anything, for a second at most; no other thread of this
 * process is inside then either. -EBUSY: another one did all the while; else an errno. m may be
 * NULL: 0.
 */
int ward_moves_enter(struct ward_moves *m) __attribute__((warn_unused_result));
/* Inside, before a directory moves. -EIO: others cannot be told, and it must not. */
int ward_moves_tell(struct ward_moves *m) __attribute__((warn_unused_result));
void ward_moves_leave(struct ward_moves *m);
