/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many records the connections to one published port may make. Every user of the host, and
 * every page in a browser there, can open as many of them as it likes; each record takes disk that
 * the session needs.
 *
 * The first connections each have records of their own. Beyond that, a window opens: one record
 * says so, and the other connections of the window are counted. Its end is one record with their
 * number and bytes. The first window is short, so that the count of a brief burst is in the trail
 * soon; each further one is twice as long.
 *
 * A pure counter: nothing is written here.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "enforcer/base/clock.h"

/* Connections with records of their own: this many at once, and another one after each REFILL. */
#define WARD_TALLY_BURST 128U
#define WARD_TALLY_REFILL_NS (10 * WARD_NS_PER_SEC)
/* The first and the longest window. */
#define WARD_TALLY_FIRST_NS WARD_NS_PER_SEC
#define WARD_TALLY_LONGEST_NS (64 * WARD_NS_PER_SEC)

/* All zero: nothing has come so far. */
struct ward_tally {
	uint64_t used;	    /* of BURST */
	uint64_t refill_ns; /* when used was lowered last */
	uint64_t length_ns; /* of the window that is open, or was last */
	uint64_t opened_ns; /* 0: none is open */
	/* Of the window: connections, those of them that led nowhere, and the bytes of those that
	 * ended. */
	uint64_t connections, failed, sent, received;
};

/* May the connection that comes at now_ns (CLOCK_MONOTONIC) have records of its own? */
bool ward_tally_alone(struct ward_tally *t, uint64_t now_ns);
/* Opens a window where none is open: then true, and its length in nanoseconds. */
bool ward_tally_open(struct ward_tally *t, uint64_t now_ns, uint64_t *ret_ns);
/* Ends the window that is open, where one is. The counts are those of *ret, t starts over. False:
 * there is nothing to say. */
bool ward_tally_close(struct ward_tally *t, struct ward_tally *ret);
