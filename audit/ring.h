/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A ring of events in shared memory: one producer process (any number of its threads), one reader
 * (wardfs-audit, or the recovery writer after its death). The memory is a memfd sealed against
 * shrinking and growing, so that neither side can make the other fault.
 *
 * Nothing is dropped: a full ring makes ward_ring_put() wait for the reader. A record becomes
 * visible when its commit word is written, last; a producer that dies in between leaves an
 * uncommitted record that the reader recognises. The reader copies a record before it validates it,
 * believes no length without checking it, and a hostile producer can only spoil the records of its
 * own ring.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "audit/event.h"

struct ward_ring; /* one process' handle on a ring */

/* Default size of the data area: a power of two, > 60 records of the largest size. */
#define WARD_RING_BYTES (1U << 20)

/* Makes the memory: a sealed memfd, close-on-exec. */
int ward_ring_create(size_t bytes, int *ret_fd, struct ward_err *err) ward_must_check;

/* Maps fd (not taken; may be closed after) with the eventfd wake_fd (kept open by the caller). */
int ward_ring_open(
	int fd, int wake_fd, struct ward_ring **ret, struct ward_err *err) ward_must_check;
void ward_ring_close(struct ward_ring *r);

/*
 * Producer: appends the event. Waits while the ring is full. Returns 0 once the event is committed
 * to shared memory, where it survives this process; -EIO when the writer declared the log failed
 * (ward_ring_fail()), which the operation in hand must then answer with. Thread-safe.
 */
int ward_ring_put(struct ward_ring *r, const struct ward_event *ev) ward_must_check;

/* Reader: copies the next committed event. 1 got one, 0 none now, -EBADMSG a spoiled record
 * (skipped). */
int ward_ring_get(struct ward_ring *r, struct ward_event *ret_ev) ward_must_check;
/* Reader: room made by ward_ring_get() becomes visible to waiting producers. */
void ward_ring_release(struct ward_ring *r);
/* Reader, before it sleeps on wake_fd: true if it may sleep (ring empty and producers will wake
 * it). */
bool ward_ring_may_sleep(struct ward_ring *r);
/* Reader: from now on ward_ring_put() answers -EIO, also to those waiting (on), or works again
 * (off). */
void ward_ring_fail(struct ward_ring *r, bool on);
