/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the service can do. Its user has no other right than CAP_SYS_ADMIN, which is in effect
 * during the calls that need it, and CAP_SETUID and CAP_SETGID until a process acts as its user.
 */
#pragma once

#include <seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "enforcer/base/err.h"

/* For the main process: these three, permitted and not in effect. -EPERM: they were not given. */
int ward_rights_main(struct ward_err *err) ward_must_check;

/*
 * For a process that serves the user at the other end of conn: files are opened as that user
 * (fsuid, fsgid, groups), who can neither signal nor trace it; CAP_SYS_ADMIN alone stays,
 * permitted; nothing can be made, removed, renamed or listed (Landlock).
 */
int ward_rights_worker(int conn, const struct ucred *peer, struct ward_err *err) ward_must_check;
/* After that, for all of its threads: system calls are those that it takes (seccomp). */
int ward_rights_calls(struct ward_err *err) ward_must_check;

/* capset(2) of this thread: sets of 1 << CAP_…, of the first 32. Negative errno. */
int ward_rights_set(uint32_t permitted, uint32_t effective) ward_must_check;
/*
 * From now on all threads may make these n system calls, those that every process of the service
 * makes, and what more() adds (NULL: nothing); anything else ends the process.
 */
int ward_rights_filter(const int *calls, size_t n, int (*more)(scmp_filter_ctx ctx),
	struct ward_err *err) ward_must_check;

/* CAP_SYS_ADMIN into effect for this thread, or out of it. Negative errno. */
int ward_rights_raise(bool on) ward_must_check;
