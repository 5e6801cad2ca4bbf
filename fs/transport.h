/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How requests reach the handlers: one reader thread a tree on /dev/fuse, and a few threads for
 * requests that may take long (sync, space, large reads and writes), so that one slow request does
 * not hold up the rest. The work of a request is about a microsecond; waking this thread is the
 * rest, so the reader keeps the CPUs awake while requests flow (WARD_WAKE_LATENCY, needs root) and
 * looks for the next request a moment before it sleeps (WARD_WAKE_SPIN; with the former only while
 * requests flow).
 *
 * Another transport (io_uring) offers the same functions and hands whole messages to
 * ward_transport_deliver().
 */
#pragma once

#include <stddef.h>

#include "fs/fs.h"

/* The "wake" of the configuration message; 0: the best that is to be had. */
enum ward_fs_wake {
	WARD_WAKE_AUTO = 0,
	WARD_WAKE_PLAIN = 1,
	WARD_WAKE_SPIN = 2,
	WARD_WAKE_LATENCY = 4,
};
#define WARD_WAKE_ALL (WARD_WAKE_PLAIN | WARD_WAKE_SPIN | WARD_WAKE_LATENCY)

struct ward_transport;

/*
 * Starts the reader thread of a tree. When its session ends (unmounted, connection aborted) it
 * writes 1 to the eventfd done_fd and ends.
 */
int ward_transport_start(struct ward_fs_tree *tree, uint32_t wake, int done_fd,
	struct ward_transport **ret, struct ward_err *err) ward_must_check;
/* After its session ended. */
void ward_transport_free(struct ward_transport *t);

/* What every thread that serves requests does first: an umask of its own. */
int ward_transport_thread_init(void) ward_must_check;

/* Serves one message, here or on a thread of the pool. msg may be reused on return. */
void ward_transport_deliver(struct ward_fs_tree *tree, char *msg, size_t len);

/* The threads for slow requests. */
int ward_pool_new(struct ward_pool **ret, struct ward_err *err) ward_must_check;
/* Waits for what is under way. */
void ward_pool_free(struct ward_pool *pool);
/* Copies msg and queues it. -ENOMEM. */
int ward_pool_push(struct ward_pool *pool, struct ward_fs_tree *tree, const char *msg,
	size_t len) ward_must_check;
