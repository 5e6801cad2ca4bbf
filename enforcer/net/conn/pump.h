/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Moving bytes between two sockets. What one side cannot take is kept for it, and the other side is
 * not read meanwhile; the end of one direction is passed on as such. Where there is much, and
 * nobody looks at it, the kernel moves it from socket to socket (splice(2)).
 */
#pragma once

#include "enforcer/net/base/net.h"

struct event;
struct ward_pump;

enum ward_pump_side { WARD_PUMP_INSIDE = 0, WARD_PUMP_OUTSIDE };

struct ward_pump_ops {
	/*
	 * Bytes from one side are there: how many of data may go on? The rest is shown again when
	 * there are more. A negative errno ends the pump. data is NULL where blind() said so: then
	 * all of it goes, or the pump ends.
	 */
	int (*pass)(void *user, enum ward_pump_side from, const uint8_t *data, size_t len,
		size_t *ret_pass);
	/* Does nobody look at what this side sends from now on? NULL: nobody ever does. */
	bool (*blind)(void *user, enum ward_pump_side from);
	/* Is nothing to be read now? Then the callee has paused both sides. NULL: never. */
	bool (*rests)(void *user);
	/* It is over: 0 both sides have ended, else a negative errno. The callee frees it. */
	void (*over)(void *user, int error);
	/* The side has sent its last byte. A negative errno ends the pump. NULL: never. */
	int (*ends)(void *user, enum ward_pump_side from);
};

/* inside and outside stay the caller's, non-blocking; they must outlive it. */
int ward_pump_new(struct ward_broker *net, int inside, int outside, const struct ward_pump_ops *ops,
	void *user, struct ward_pump **ret) ward_must_check;
/* As if data had just been read from the inner side. May end the pump: nothing of it may be used
 * after. */
void ward_pump_feed(struct ward_pump *r, const void *data, size_t len);
void ward_pump_free(struct ward_pump *r);
/* When fd (-1: none) is closed, the peer sees ECONNRESET and not an orderly end. */
void ward_pump_reset(int fd);

/* Bytes that came from a side and were passed on. */
uint64_t ward_pump_bytes(const struct ward_pump *r, enum ward_pump_side from);
/* When something was moved last, CLOCK_MONOTONIC. */
uint64_t ward_pump_active_ns(const struct ward_pump *r);
/* Since when the same bytes of the inner side wait for more before they may pass, CLOCK_MONOTONIC;
 * 0: none do. */
uint64_t ward_pump_held_ns(const struct ward_pump *r);
/* A side is not read while it is paused. */
void ward_pump_pause(struct ward_pump *r, enum ward_pump_side from, bool on);
