/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a thread of a client has been sent a signal that it would take if it were let. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/*
 * tid as requests have it; 0, or one that is gone: false. Reads /proc/TID/status, which takes no
 * lock of the thread's memory. A signal to the whole process counts, though another of its threads
 * may be about to take it: ask twice.
 */
bool ward_pending(pid_t tid);
