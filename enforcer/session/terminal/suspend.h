/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The supervisor stops together with the command (Ctrl-Z), so that the shell gets its terminal
 * back. It stays stopped only while nothing needs it.
 *
 * Processes that the command started can still run while the command is stopped. A stopped
 * supervisor enforces no limit, records no program and answers nobody. So a second process of ours
 * waits beside it, and wakes it for requests, for events inside, and before the next time at which
 * the session can reach a limit.
 */
#pragma once

#include <poll.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define WARD_SUSPEND_FDS_MAX 8

enum ward_suspend_end {
	WARD_SUSPEND_NOT, /* we were not stopped: no shell waits for it, or nobody could wake us */
	WARD_SUSPEND_NEEDED, /* one of fds, or the time: the command is stopped as before */
	WARD_SUSPEND_WANTED, /* somebody goes on with us (fg, bg, SIGCONT) */
};

/*
 * Stops the calling process, until until_ns (CLOCK_MONOTONIC) at the latest, or until one of the n
 * fds (at most WARD_SUSPEND_FDS_MAX, -1: none) can be read. Without a controlling terminal nobody
 * stops and goes on with jobs: then we stay as we are. *ret_waker, where we were stopped: whose
 * SIGCONT it was if it was NEEDED.
 */
enum ward_suspend_end ward_suspend(const int *fds, size_t n, uint64_t until_ns, pid_t *ret_waker);
