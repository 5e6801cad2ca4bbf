/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How requests reach the handlers: over io_uring where the kernel offers it (uring.h) and CPUs
 * cannot be kept awake, else by one reader thread a tree on /dev/fuse; and a few threads for
 * requests that may take long (sync, space, large reads and writes), so that one slow request does
 * not hold up the rest. The work of a request is about a microsecond; waking who does it is the
 * rest: a ring's thread sits on the client's CPU; without rings the reader keeps the CPUs awake
 * while requests flow (WARD_WAKE_LATENCY, needs root) and looks for the next request a moment
 * before it sleeps (WARD_WAKE_SPIN; with the former only while requests flow).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "fs/base/fs.h"

/* The "wake" of the configuration message; 0: the best available. */
enum ward_fs_wake {
	WARD_WAKE_AUTO = 0,
	WARD_WAKE_PLAIN = 1,
	WARD_WAKE_SPIN = 2,
	WARD_WAKE_LATENCY = 4,
	WARD_WAKE_URING = 8, /* not available: the others of the set */
};
#define WARD_WAKE_ALL (WARD_WAKE_PLAIN | WARD_WAKE_SPIN | WARD_WAKE_LATENCY | WARD_WAKE_URING)

struct ward_transport;

/*
 * What must be made before confinement: tree->uring, where wake and the kernel allow it. The
 * caller frees it (ward_uring_free()), after the last thread that serves.
 */
void ward_transport_prepare(struct ward_fs_tree *tree, uint32_t wake);

/*
 * Starts the reader thread of a tree. When its session ends (unmounted, connection aborted) it
 * writes 1 to the eventfd done_fd and ends.
 */
int ward_transport_start(struct ward_fs_tree *tree, uint32_t wake, int done_fd,
	struct ward_transport **ret, struct ward_err *err) ward_must_check;
/*
 * How requests of a tree come, as text for people: known once the kernel's INIT, which it sends
 * when it mounts, was answered. Waits for that for a moment.
 */
const char *ward_transport_name(struct ward_transport *t);
/* After its session ended. */
void ward_transport_free(struct ward_transport *t);
