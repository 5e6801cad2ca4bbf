/* SPDX-License-Identifier: Apache-2.0 */
/* Part of verify.c: the ledger's checkpoints against its lines. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "audit/log/chain.h"
#include "audit/log/merkle.h"
#include "audit/log/tlog.h"
#include "audit/verify/ledger_view.h"

/* Of the file; one of our notes has 211 bytes. */
#define WARD_LEDGER_NOTES_MAX (WARD_BUF_MAX - 1)

/* "ledger.checkpoints", and how far the lines were held against it. Zero: no checkpoint. */
struct ward_ledger_notes {
	struct ward_buf text;
	struct ward_tlog_note *v;
	size_t *offset; /* of v[i] in text */
	size_t n;
	size_t rest;	/* bytes behind the last whole one */
	size_t zeros;	/* those at the end of them that are zero (zeros.h) */
	uint64_t first; /* size of the file's first one; 0: that is v[0] */
	struct ward_merkle tree;
	size_t met;	  /* checkpoints whose size was reached */
	uint64_t matched; /* size of the last one that matches */
	bool mismatch;	  /* v[met] does not */
	/* Taken up again behind `from` (n: 0: from the beginning): the proof of consistency from
	 * there to the last checkpoint. */
	struct ward_merkle from;
	struct ward_merkle_plan plan;
	uint8_t path[WARD_PROOF_MAX][WARD_HASH_BYTES];
	bool inconsistent;
};

/* One more, which stands at byte `at` of n->text. -ENOMEM. */
int ward_ledger_notes_add(
	struct ward_ledger_notes *n, const struct ward_tlog_note *note, size_t at) ward_must_check;
/* fd -1: the file does not exist. -E2BIG. ward_ledger_notes_clear(). */
int ward_ledger_notes_read(int fd, struct ward_ledger_notes *ret) ward_must_check;
/* The same from this byte on, where a checkpoint begins. */
int ward_ledger_notes_read_from(
	int fd, uint64_t from, struct ward_ledger_notes *ret) ward_must_check;
void ward_ledger_notes_clear(struct ward_ledger_notes *n);
/* Before the first line: goes on behind the leaves of this tree. */
void ward_ledger_notes_resume(struct ward_ledger_notes *n, const struct ward_merkle *tree);
/* The next whole line of the ledger, without its newline. */
void ward_ledger_notes_line(struct ward_ledger_notes *n, const char *line, size_t len);
/*
 * All lines were taken, and each is genuine: makes v->result worse if the checkpoints speak against
 * it, and sets what v says of them.
 */
void ward_ledger_notes_judge(struct ward_ledger_notes *n, const uint8_t root[WARD_KEY_BYTES],
	struct ward_ledger_view *v);

/* How many entries a checkpoint covered when this one was written; 0: it does not say so. */
uint64_t ward_ledger_claims(const struct ward_line *l);
