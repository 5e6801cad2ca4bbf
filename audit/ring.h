/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A ring of events in shared memory: one producer process (any number of its threads), one reader
 * (wardfs-audit, or the recovery writer after its death). The memory is a memfd sealed against
 * shrinking and growing, so that neither side can make the other fault; each side makes sure of the
 * memory before it touches it for the first time.
 *
 * Nothing is dropped: a full ring makes ward_ring_put() wait for the reader. A record becomes
 * visible when its commit word is written, last; a producer that dies in between leaves nothing
 * that the reader takes for a record. The reader copies a record before it validates it, believes
 * no length without checking it, and a hostile producer can only spoil the records of its own ring.
 *
 * Layout: a page with the shared words (ring.c), then the data area, whose size is a power of two
 * and which is mapped twice in a row, so that no record is split. Positions count bytes since the
 * ring was made and never wrap (u64). A record at position p, a multiple of 8:
 *
 *   u64 commit    p + 1 once the record is whole
 *   u32 size      bytes of the event, <= WARD_EVENT_MAX
 *   u32 end       of an event with WARD_EVENT_ENDS: 0, RING_TAKEN or RING_ENDED (ring.c); else 0
 *   event         padded to 8
 *
 * Before it commits a record the producer clears the commit word that follows: what an earlier
 * round left there (paths, which the agent chooses) can never pass for a commit.
 *
 * Spoiled: a commit word that is neither 0 nor p + 1, a bad size, an event that does not decode.
 * The reader then goes on where the producer says that it will write next; if that is no possible
 * position the ring is given up: it reads as empty forever and the producer gets -EIO.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "audit/event.h"

struct ward_ring; /* one process' handle on a ring */

/* Default size of the data area: a power of two, > 60 records of the largest size. */
#define WARD_RING_BYTES (1U << 20)
/* Where the data area begins in the file: on a page, which has up to 64 KiB on arm64. Of the header
 * only the beginning is ever touched. */
#define WARD_RING_HEADER_BYTES 65536U

/* Makes the ring: a sealed memfd, close-on-exec. Its memory comes as it is used. */
int ward_ring_create(size_t bytes, int *ret_fd, struct ward_err *err) ward_must_check;

/* Maps fd (not taken; may be closed after) with the eventfd wake_fd (kept open by the caller). */
int ward_ring_open(
	int fd, int wake_fd, struct ward_ring **ret, struct ward_err *err) ward_must_check;
void ward_ring_close(struct ward_ring *r);

/*
 * Producer: appends the event. Waits while the ring is full. Returns 0 once the event is committed
 * to shared memory, where it survives this process; -EIO when the writer declared the log failed
 * (ward_ring_fail()), which the operation in hand must then answer with; its record may yet reach
 * the log; another error where memory for the record is missing. Thread-safe.
 */
int ward_ring_put(struct ward_ring *r, const struct ward_event *ev) ward_must_check;

/*
 * Producer: the same for an event of a handle (ward_event_ends()) whose end may follow before the
 * record is read. *ret_pos: for ward_ring_end(); undefined after an error.
 */
int ward_ring_put_ends(
	struct ward_ring *r, const struct ward_event *ev, uint64_t *ret_pos) ward_must_check;

/*
 * Producer: the handle whose event was put at pos has ended. Adds how long after the event
 * (nanoseconds) and how many bytes were read (WARD_EVENT_UNKNOWN: not seen). False: the reader has
 * the record already, and the end needs a record of its own. Never both, whenever either side dies:
 * who comes first settles it with one exchange. Thread-safe.
 */
bool ward_ring_end(
	struct ward_ring *r, uint64_t pos, uint64_t duration_ns, uint64_t read) ward_must_check;

/*
 * Producer: the log failed. For changes that have no record of their own (bytes written to a file
 * whose opening was recorded), which then answer with EIO too. One load.
 */
bool ward_ring_failed(const struct ward_ring *r);

/*
 * The supervisor, who maps a producer's ring: start-up probes are made (on), or the command starts
 * (off). Takes effect at once. Producer: while they are made, what it refuses is a record of kind
 * `probe`, not `deny`: no program of the session asked for it. One load.
 */
void ward_ring_set_probing(struct ward_ring *r, bool on);
bool ward_ring_probing(const struct ward_ring *r);

/*
 * Producer: from now on ward_ring_put() returns 0 only when the record is on disk ([audit] sync =
 * record); -EIO if the log fails before. Such a record may still reach the log, although its
 * operation failed.
 */
void ward_ring_sync(struct ward_ring *r, bool on);
bool ward_ring_syncs(const struct ward_ring *r);

/* Anybody: a number that grows with each event that was put. Not to be believed. */
uint64_t ward_ring_written(const struct ward_ring *r);

/*
 * Reader: copies the next committed event and takes it apart (fields borrow from *ret_ev). 1 got
 * one, 0 none now, -EBADMSG a spoiled record (skipped).
 */
int ward_ring_get(struct ward_ring *r, struct ward_event *ret_ev,
	struct ward_event_fields *ret_fields) ward_must_check;

/*
 * Reader: what was committed before this call. While ward_ring_pos() is less, ward_ring_get() takes
 * such a record. A producer that claims less than there is delays its own records alone: one of
 * them counts always.
 */
uint64_t ward_ring_reach(const struct ward_ring *r);

/*
 * Reader: its position, that is, the end of the record got last. The log says it of each record;
 * so the recovery writer knows from the log alone, which no producer can write, what it has to take
 * over: ward_ring_seek() goes there (-EINVAL if it is no multiple of 8).
 */
uint64_t ward_ring_pos(const struct ward_ring *r);
int ward_ring_seek(struct ward_ring *r, uint64_t pos) ward_must_check;

/*
 * Reader: what was got up to here is in safety (written to the log), its room may be used again.
 * Until then a second reader finds it in the ring.
 */
void ward_ring_release(struct ward_ring *r);

/*
 * Reader: what was released, or was in the log already where ward_ring_seek() went, is on disk.
 * Wakes the producers that wait for it. Nothing that a producer can write is believed.
 */
void ward_ring_durable(struct ward_ring *r);

/* Reader, before it sleeps on wake_fd: true if it may sleep (ring empty and producers will wake
 * it). */
bool ward_ring_may_sleep(struct ward_ring *r);
/*
 * Reader, before it sleeps on wake_fd for a few milliseconds: producers wake it only when the ring
 * is half full. False if it is so already. A wake-up costs more than a record (kernel halts the
 * CPU), so under load the reader naps and does not sleep.
 */
bool ward_ring_may_nap(struct ward_ring *r);

/*
 * Reader: from now on ward_ring_put() answers -EIO, also to those waiting (on), or works again
 * (off). What was released before and is not durable stays failed for those who wait for the disk.
 * What was answered with 0 before this returned (on) can be read from then on.
 */
void ward_ring_fail(struct ward_ring *r, bool on);

/*
 * Reader: the log has little room (on): ward_ring_put() answers -EIO to everything but removals,
 * and what ends or happens in any case: closes, connections, expired grants, changes by others.
 */
void ward_ring_low(struct ward_ring *r, bool on);
