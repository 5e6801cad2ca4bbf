/* SPDX-License-Identifier: Apache-2.0 */
/* The threads that serve the requests of rings (uring.h). */
#pragma once

#include "fs/kernel/uring.h"

/*
 * INIT came, and offers it: the threads. A negative errno: not to be used (and no thread is left).
 */
int ward_uring_start(struct ward_uring *u) ward_must_check;

/*
 * The answer to INIT was given: every queue gets its entries, of `payload` bytes. Until then the
 * kernel lets every client wait. A negative errno: the kernel goes on with /dev/fuse alone.
 */
int ward_uring_register(struct ward_uring *u, size_t payload) ward_must_check;

/* The connection has ended: the threads end too. Answers still may be given, and lead nowhere. */
void ward_uring_stop(struct ward_uring *u);
