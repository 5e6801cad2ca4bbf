/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a recovery writer learns from the log of an earlier writer; and the record with which a
 * segment begins, so that a recovery writer need not read the segments before: kind `segment`,
 * `detail` in this form,
 *
 *   {"segment":N,"records":N,"bytes":N,"refusals":N,"last":"MAC","tree":["NODE",…],"rings":[N,…]}
 *
 * the number of the segment; what all before it have: records, bytes of text, records of kind deny
 * and quota, the mac of the last one, the nodes of the tree over them (for each bit that is set in
 * `records`, from the lowest on, the root of so many leaves), the position in each ring.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "audit/format.h"
#include "audit/log/merkle.h"
#include "audit/write/unanswered.h"
#include "enforcer/base/err.h"
#include "enforcer/ipc/helper.h"

struct ward_resume {
	uint8_t key[WARD_KEY_BYTES]; /* in: key_1; out: key of the next record */
	uint8_t prev[WARD_MAC_BYTES];
	uint64_t seq;		      /* number of the last record in the log */
	uint64_t bytes;		      /* of the trail, up to the end of the last whole line */
	uint64_t segment;	      /* the same, of this segment */
	uint64_t torn;		      /* bytes of a line without end behind */
	uint64_t damaged;	      /* seq of the first record that does not verify; 0: none */
	uint64_t lost;		      /* numbers that no line has */
	uint64_t refusals;	      /* records of kind deny and quota */
	uint64_t pos[WARD_RINGS_MAX]; /* where to go on in each ring */
	bool ended;		      /* the last record is a session.end */
	struct ward_merkle tree;      /* over the lines as they stand there */
	/* in: borrowed, takes the questions of this segment that have no answer; NULL: nobody asks
	 */
	struct ward_unanswered *unanswered;
};

/* Numbers that are taken for lost; a line that claims more is one that was changed. */
#define WARD_RESUME_LOST_MAX UINT64_C(1048576)

/* The most that a detail takes: 64 nodes, the rings, and room. */
#define WARD_SEGMENT_DETAIL_MAX 8192U
struct ward_buf;
/* Appends the detail of segment `number`, before which the trail has what res says. */
void ward_resume_put(struct ward_buf *b, unsigned number, const struct ward_resume *res);

/*
 * Walks one segment, from its beginning. If lines are missing or damaged, the lines behind them
 * keep their numbers as far as macs prove them. In the tree a number without a line is the leaf of
 * an empty line, so the tree has `seq` leaves. res->key must be set, to key_1, all else zero.
 * -EBADMSG: it is not the first one and does not begin with a genuine record of kind `segment`.
 */
int ward_resume_walk(int log_fd, const char *session, struct ward_resume *res,
	struct ward_err *err) ward_must_check;
