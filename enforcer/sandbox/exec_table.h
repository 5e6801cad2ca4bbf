/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What processes of wardfs-init are about to execute, in their own words. Private to the
 * supervisor and wardfs-init.
 *
 * The supervisor of an ordinary user cannot read the memory of a process of wardfs-init, nor its
 * links in /proc: the process is not dumpable, and its memory belongs to the user namespace of the
 * host. So the process writes what it asks the kernel for into a table that both share, right
 * before its execve(2). The supervisor reads the entry while that call waits for it: once it has
 * taken the call, only a deadly signal ends that wait (init/install_filter.c).
 *
 * The table is a memory file whose size is sealed. wardfs-init maps it and closes the descriptor
 * before anything else. The mapping comes along with fork(2) and vanishes with execve(2), so no
 * process of the agent's ever has it.
 *
 *   writer     takes a slot whose owner is 0, by exchanging 0 for its pid with
 *              WARD_EXEC_SLOT_WRITING; writes; sets the owner to its pid
 *   reader     looks for the slot of a pid, copies it, looks at the owner again, checks the copy,
 *              and sets the owner to 0
 *
 * A process that died in between leaves its slot taken. When no slot is free, a writer takes that
 * of its pid modulo the number of slots, and the process that had the slot has no entry. A process
 * that was started after an entry was written is not the one that wrote it, whatever its pid.
 */
#pragma once

#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "enforcer/base/err.h"

/* More than the commands that can start at one time (WARD_BLUEPRINT_EXECS_MAX). */
#define WARD_EXEC_SLOTS 64
#define WARD_EXEC_SLOT_BYTES 16384
/* Beside a pid; the kernel's own bound is 2^22 (PID_MAX_LIMIT). */
#define WARD_EXEC_SLOT_WRITING 0x80000000U
#define WARD_EXEC_ARGV_BYTES (WARD_EXEC_SLOT_BYTES - 3 * sizeof(uint64_t) - 2 * (size_t)PATH_MAX)

struct ward_exec_told {
	uint64_t when_ns;    /* CLOCK_BOOTTIME */
	uint32_t cut;	     /* 1: not all arguments found room */
	uint32_t argv_len;   /* bytes: strings, each with its NUL */
	char path[PATH_MAX]; /* as it stands in the call: absolute, or relative to cwd */
	char cwd[PATH_MAX];
	char argv[WARD_EXEC_ARGV_BYTES];
};

struct ward_exec_slot {
	_Atomic uint32_t owner; /* a pid as its own pid namespace counts; 0: free */
	uint32_t unused;
	struct ward_exec_told told;
};
_Static_assert(sizeof(struct ward_exec_slot) == WARD_EXEC_SLOT_BYTES, "no gaps");
_Static_assert(ATOMIC_INT_LOCK_FREE == 2, "works between processes");

struct ward_exec_table {
	struct ward_exec_slot slots[WARD_EXEC_SLOTS];
};

/* In the supervisor. *ret_fd goes to wardfs-init; both are the caller's. */
int ward_exec_table_new(
	struct ward_exec_table **ret, int *ret_fd, struct ward_err *err) ward_must_check;
/* Maps the table that fd is. 0 or a negative errno. */
int ward_exec_table_map(int fd, struct ward_exec_table **ret) ward_must_check;
/* NULL is fine. */
void ward_exec_table_unmap(struct ward_exec_table *t);

/* In a process of wardfs-init, right before execve(path, argv, …). t may be NULL: nobody asks. */
void ward_exec_table_tell(struct ward_exec_table *t, const char *path, char *const *argv);

/*
 * In the supervisor: what the process with this pid said, which waits in its execve(2). The slot is
 * free afterwards. False: it has said nothing, or nonsense, or t is NULL; *ret is undefined then.
 */
bool ward_exec_table_take(
	struct ward_exec_table *t, pid_t pid, struct ward_exec_told *ret) ward_must_check;
