/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Acting as the caller of a request (`wardfs mount --allow-other`): the thread's fsuid, fsgid and
 * groups, by the raw system calls, which concern the calling thread alone (glibc's wrappers change
 * all threads). The kernel takes the capabilities of file access (CAP_FS_SET of
 * include/linux/capability.h) from a thread whose fsuid leaves 0 and gives them back when it
 * returns: so a root caller overrides modes and nobody else does.
 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "enforcer/base/err.h"

/*
 * uid, gid: of the request; groups: those of thread tid. -EACCES: that thread is another user's; or
 * another errno. On failure the thread acts as the daemon.
 */
int ward_identity_enter(uid_t uid, gid_t gid, pid_t tid) ward_must_check;
void ward_identity_leave(void);
