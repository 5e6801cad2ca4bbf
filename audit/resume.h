/* SPDX-License-Identifier: Apache-2.0 */
/* What a recovery writer learns from the log that another writer left. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "audit/format.h"
#include "audit/merkle.h"
#include "enforcer/base/err.h"
#include "enforcer/ipc/helper.h"

struct ward_resume {
	uint8_t key[WARD_KEY_BYTES]; /* in: key_1; out: key of the next record */
	uint8_t prev[WARD_MAC_BYTES];
	uint64_t seq;		      /* records in the log */
	uint64_t bytes;		      /* up to the end of the last whole line */
	uint64_t torn;		      /* bytes of a line without end behind */
	uint64_t damaged;	      /* seq of the first record that does not verify; 0: none */
	uint64_t refusals;	      /* records of kind deny */
	uint64_t pos[WARD_RINGS_MAX]; /* where to go on in each ring */
	bool ended;		      /* the last record is a session.end */
	struct ward_merkle tree;      /* over the lines as they stand there */
};

/* Walks the log from its beginning. res->key must be set, all else zero. */
int ward_resume_walk(int log_fd, const char *session, struct ward_resume *res,
	struct ward_err *err) ward_must_check;
