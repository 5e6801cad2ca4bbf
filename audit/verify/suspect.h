/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names what happened to a log behind its first line that does not verify. Part of verify.c, for
 * trails and the ledger alike.
 *
 * From that line on, lines are looked at by the seq that they claim. A line is genuine if its mac
 * verifies with the mac of the line that claims seq - 1, wherever that stands; an orphan if there
 * is no such line. Then, with e the seq that was expected:
 *
 *   a line that cannot be taken apart, is of another session, claims less than e or more than the
 *   ledger's number of records, claims what another line claims, or has a predecessor and does not
 *   verify: EDITED
 *   else, in order of seq, some missing:  DELETED
 *   not in order, none missing:           REORDERED
 *   not in order, and some missing:       EDITED
 *   first line of the log and nothing genuine at all, and the ledger does not know the session:
 *   FOREIGN
 */
#pragma once

#include "audit/format.h"
#include "audit/log/lines.h"
#include "audit/verify/result.h"

struct ward_suspect {
	struct ward_log *log;
	uint64_t offset;   /* of the first wrong line */
	uint64_t expected; /* its seq */
	uint8_t prev[WARD_MAC_BYTES];
	const char *session;	     /* trail: whose; NULL: the ledger */
	const uint8_t *root;	     /* ledger: the root key */
	uint8_t key[WARD_KEY_BYTES]; /* trail: of record `expected` */
	uint64_t records;	     /* what the ledger says; 0: unknown */
	bool known;		     /* the ledger knows the session */
};

/* Sets state, first_bad and text of *ret. */
int ward_suspect_examine(const struct ward_suspect *s, struct ward_verify_result *ret,
	struct ward_err *err) ward_must_check;

/* The ledger's key for a line; false for a kind that ledgers do not have. */
struct ward_line;
bool ward_suspect_ledger_key(const uint8_t root[WARD_KEY_BYTES], const struct ward_line *l,
	uint8_t ret_key[WARD_KEY_BYTES]);
