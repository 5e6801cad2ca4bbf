/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests that wait: for their time ([quota] rate), or for a person's answer (`ask`). Nothing of
 * them is done before, and the caller waits. No thread waits with them but one for all, which also
 * does what was asked for. It is there as soon as a policy has a rate or asks, and not before. A
 * request that waits for an answer is cut by every interrupt. Another one that is interrupted and
 * would have to wait for more than WARD_DELAY_KEPT_NS is cut: nothing is done, so that a process
 * that is killed does not outlive it. A shorter wait goes on: a program whose timers or children
 * signal it neither fails nor gets ahead of the rate.
 */
#pragma once

#include <fuse3/fuse_lowlevel.h>

#include "enforcer/base/clock.h"
#include "enforcer/base/err.h"
#include "enforcer/policy/policy.h"

#define WARD_DELAY_KEPT_NS WARD_NS_PER_SEC

struct ward_delay;
/* The place of one request; given back with free(3) where it was not used. */
struct ward_delayed;
/*
 * Does what was asked for and answers req, from the thread. error: 0, or -EINTR where it was cut;
 * data: ward_delayed_data(), gone afterwards. No lock is held.
 */
typedef void ward_delayed_fn(fuse_req_t req, void *data, int error);

/* Without a thread. -ENOMEM. */
int ward_delay_new(struct ward_delay **ret, struct ward_err *err) ward_must_check;
/* Cuts what still waits. The sessions of the requests must exist. */
void ward_delay_free(struct ward_delay *d);
/*
 * Call this before the policy comes into force. Makes the thread if the policy has a rate, or asks,
 * and the thread does not exist yet; the thread then stays. -EAGAIN, -ENOMEM: the policy cannot
 * come into force. Not from two threads at once.
 */
int ward_delay_ready(
	struct ward_delay *d, const struct ward_policy *p, struct ward_err *err) ward_must_check;
/*
 * A place with so many bytes of data, zeroes. *ret is the caller's. -ENOMEM; -EIO: there is no
 * thread.
 */
int ward_delay_place(struct ward_delay *d, size_t data, struct ward_delayed **ret) ward_must_check;
/* Aligned as malloc(3) aligns. */
void *ward_delayed_data(struct ward_delayed *place);
/* fn(req, data, …) in ns nanoseconds; place is taken. */
void ward_delay_for(struct ward_delay *d, struct ward_delayed *place, fuse_req_t req, uint64_t ns,
	ward_delayed_fn *fn);
/* The same at due_ns (CLOCK_MONOTONIC), and earlier where ward_delay_now() says so. */
void ward_delay_until(struct ward_delay *d, struct ward_delayed *place, fuse_req_t req,
	uint64_t due_ns, ward_delayed_fn *fn);
/* For a place of ward_delay_until() whose fn has not returned yet: its time has come. */
void ward_delay_now(struct ward_delay *d, struct ward_delayed *place);
