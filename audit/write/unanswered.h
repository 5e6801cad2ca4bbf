/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Questions (records of kind `ask`) that have no record `answer` yet. If the supervisor dies, which
 * writes those, the writer ends them. Bounded: the supervisor has at most so many at once.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "audit/event.h"

/* As many as questions of a session (session/ask/asks.h); of more the answers are not missed. */
#define WARD_UNANSWERED_MAX 10000U
/* Names of questions are shorter. */
#define WARD_UNANSWERED_NAME 16U

struct ward_unanswered_one {
	char request[WARD_UNANSWERED_NAME];
	uint8_t shown[32]; /* the digest of what was shown last */
	bool digest;	   /* there is one */
};
/* Zero is an empty set. */
struct ward_unanswered {
	struct ward_unanswered_one *v; /* owned; all its room, at the first question */
	size_t first, n;	       /* v[first..n); first moves when they are taken at the end */
	struct ward_unanswered_one taken; /* the one that fields point to */
};
void ward_unanswered_clear(struct ward_unanswered *u);

/* A record of any kind. */
void ward_unanswered_note(struct ward_unanswered *u, enum ward_event_kind kind,
	const struct ward_event_fields *fields);
/* The same, as a line of the trail has its members: what stands behind the head of a record. */
void ward_unanswered_read(
	struct ward_unanswered *u, enum ward_event_kind kind, const char *rest, size_t len);
/*
 * Takes one out. *ret: what the record of its end has to name; it points into u, until the next
 * call. False: there is none.
 */
bool ward_unanswered_take(struct ward_unanswered *u, struct ward_event_fields *ret);
