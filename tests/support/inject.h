/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Faults of the backing: system calls of a process fail as a file says, without a line of test code
 * in the process. A seccomp filter of its parent's makes the calls stop until a helper process has
 * looked into the file (SECCOMP_RET_USER_NOTIF, seccomp_unotify(2)); the process's own filter, made
 * later, still has the last word on what it refuses.
 *
 * The file has lines `CALL ERRNO [EVERY]`: the number of an error, and one call in so many
 * (default: each). It is read again for each call, so a test changes it as it goes; no file:
 * nothing fails. The line `ioctl casefold` makes every directory answer that it is casefolded
 * (FS_IOC_GETFLAGS).
 *
 * Or, in the same way, INIT: what the kernel offers is made less, as an older one's.
 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "enforcer/base/err.h"

/* The kernel's INIT is changed to that minor version, and has none of these flags. */
struct inject_init {
	uint32_t minor;
	uint64_t without;
};

/*
 * Starts the helper; *ret_sock is for inject_into(). init NULL: faults as file says; else file is
 * not used, and dev is /dev/fuse as mounted, before INIT has been read. It ends with the last
 * process that has the filter. Returns its pid, which the caller waits for, or a negative errno.
 */
pid_t inject_start(
	const char *file, int dev, const struct inject_init *init, int *ret_sock) ward_must_check;
/*
 * In the process that is to fail, before exec; sock is closed. dev: what /dev/fuse will be there,
 * for INIT; -1: faults. 0 or a negative errno.
 */
int inject_into(int sock, int dev) ward_must_check;
