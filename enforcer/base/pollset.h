/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a loop waits for: descriptors, each with a handler, and what the loop does in each round.
 *
 * A round has three steps. First the `before` functions run. Then poll(2) waits. Then the handlers
 * run, each at most once.
 *
 * Order: in the first and in the third step the member with the lower rank comes first. Of equal
 * rank, the member that was added first comes first. The owner of the set names its ranks in one
 * enum and says there why they stand in this order.
 *
 * During a round a function may change the set:
 *  - It may remove any member, itself included. A removed member is not called any more, also where
 *    poll(2) said that its descriptor is ready. Its id is never used again.
 *  - It may add members. A handler that is added by a handler is first called in the next round.
 *  - It may ask for another descriptor or other events (ward_pollset_ask()). What poll(2) said of
 *    the member before does not count any more.
 *  - It may stop the round (ward_pollset_stop()). No further handler is called.
 *  - It must not begin another round of the same set.
 *
 * Bounds: WARD_POLLSET_MAX members. The set has no memory of its own and owns no descriptor: remove
 * a member before its descriptor is closed. One thread uses a set.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "enforcer/base/err.h"

/*
 * A supervisor waits for some 20 descriptors of its own, for 16 commands, for 4 people at the
 * terminal with 2 each (session/exec), and for 8 clients (control_verbs.h). An add beyond this
 * fails, and its caller refuses.
 */
#define WARD_POLLSET_MAX 64

typedef uint32_t ward_pollset_id; /* 0: no member */

/* The descriptor is ready: revents of poll(2). 0: called because it is a member of each round. */
typedef void ward_pollset_fn(void *arg, short revents);
/* How many milliseconds poll(2) may wait as far as this member is concerned; -1: forever. */
typedef int ward_pollset_before_fn(void *arg);

/* The members are the module's own. */
struct ward_pollset_member {
	ward_pollset_id id;
	unsigned rank;
	int fd; /* -1: none now */
	short events;
	bool each;    /* called in each round */
	bool changed; /* since poll(2) was asked */
	ward_pollset_before_fn *before;
	ward_pollset_fn *fn;
	void *arg;
};

/* Zero is an empty set. */
struct ward_pollset {
	struct ward_pollset_member v[WARD_POLLSET_MAX]; /* by rank, then by id */
	size_t n;
	ward_pollset_id last_id;
	bool in_round;
	bool stopped;
};

/*
 * Waits for `events` of fd; -1: for nothing yet. fn is called with arg. -ENOSPC: the set is full.
 * ret_id may be NULL for a member that stays.
 */
int ward_pollset_add(struct ward_pollset *p, unsigned rank, int fd, short events,
	ward_pollset_fn *fn, void *arg, ward_pollset_id *ret_id) ward_must_check;
/*
 * A member without a descriptor: in each round `before` is called before poll(2), and fn after it,
 * also after a time that ran out. Either may be NULL.
 */
int ward_pollset_each(struct ward_pollset *p, unsigned rank, ward_pollset_before_fn *before,
	ward_pollset_fn *fn, void *arg, ward_pollset_id *ret_id) ward_must_check;
/* From now on the member waits for these events of this fd; fd -1: for nothing. */
void ward_pollset_ask(struct ward_pollset *p, ward_pollset_id id, int fd, short events);
/* 0 and an id of a member that was removed are fine. */
void ward_pollset_remove(struct ward_pollset *p, ward_pollset_id id);

/* One round. 0: also when a signal cut the wait short; no handler was called then. -errno: of
 * poll(2). */
int ward_pollset_round(struct ward_pollset *p) ward_must_check;
/* From a function of the set: the round ends, and no further handler is called in it. */
void ward_pollset_stop(struct ward_pollset *p);

/* The nearer of two times for poll(2), in milliseconds; -1: never. */
int ward_pollset_nearer(int a, int b);
