/* SPDX-License-Identifier: Apache-2.0 */
/*
 * FUSE over io_uring (Linux 6.14): a request comes to the CPU that its client runs on, and is
 * served by a thread that is pinned there; its answer and the wait for the next one are one system
 * call. The kernel has a queue for each possible CPU. Here each has two threads, so that one
 * request that waits for a disk does not hold up the others of its CPU; queues of CPUs that are not
 * online, and all of them where there would be too many threads, share one.
 *
 * A thread owns a ring and, for each of its queues, entries: places for one request each. An entry
 * whose request is answered later (a wait for a lock, a slow request in the pool) is out until
 * then, and another one takes its place: there is always one that can take the next request.
 *
 * /dev/fuse goes on: INIT, FORGET and INTERRUPT come there, notifications go there. Without
 * liburing or an offer of the kernel ward_uring_prepare() gives NULL, which all others accept.
 */
#pragma once

#include <stddef.h>
#include <sys/uio.h>

#include "fs/base/fs.h"

struct ward_uring;

/*
 * The rings of a tree, made before confinement, unused until ward_uring_start(). They are bound to
 * the tree's /dev/fuse, to commands on it, and to reading one eventfd each. *ret NULL: not
 * available here, which is no failure.
 */
void ward_uring_prepare(struct ward_fs_tree *tree, struct ward_uring **ret);

/* Requests come through the rings. */
bool ward_uring_active(const struct ward_uring *u);

/*
 * An answer for writev(2) on /dev/fuse. True: it was one to a request of a ring, *ret is what
 * writev(2) would have returned, or a negative errno. Any thread.
 */
bool ward_uring_reply(struct ward_uring *u, const struct iovec *iov, int count, ssize_t *ret);

/* Whether a ring's request of this number is, or is about to be, served. */
bool ward_uring_serving(const struct ward_uring *u, uint64_t unique);

/* An eventfd that tells the reader of /dev/fuse to look: at it, or at interrupts to be said again.
 */
int ward_uring_reader_fd(const struct ward_uring *u);
/* Makes it look, where requests come through the rings. */
void ward_uring_wake_reader(const struct ward_uring *u);
/*
 * An INTERRUPT came before libfuse had seen its request, and another request pushed it out again.
 * /dev/fuse would send it once more; for a ring's request nobody does. The next one, 0: none.
 */
void ward_uring_interrupt_again(struct ward_uring *u, uint64_t unique);
uint64_t ward_uring_next_interrupt(struct ward_uring *u);

/*
 * Asks each thread to serve what the kernel has sent it by now. Returns a ticket for
 * ward_uring_passed(). Any thread.
 */
uint64_t ward_uring_ask(struct ward_uring *u);
/*
 * Have all threads but the calling one served what the kernel had sent them before
 * ward_uring_ask() gave the ticket? ward_nodes' `ended` is signalled as one gets there.
 */
bool ward_uring_passed(const struct ward_uring *u, uint64_t ticket);

/* When nobody serves any more. */
void ward_uring_free(struct ward_uring *u);
