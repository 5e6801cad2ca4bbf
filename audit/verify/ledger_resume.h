/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a verification of the ledger ended, so that a later one reads what came after it and no
 * more. As lines of text:
 *
 *   @ledger N OFFSET MAC NODE…   the first N entries, OFFSET bytes, were genuine, the last one with
 *                                this MAC; the root of their tree as its whole subtrees, from the
 *                                largest on (merkle.h): all of them hexadecimal
 *   @entry LINE                  one of these entries that later ones may rest on: about keys, or
 *                                about a session that was not settled. In their order
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "audit/format.h"
#include "audit/log/merkle.h"
#include "audit/verify/ledger_view.h"
#include "enforcer/base/buf.h"
#include "enforcer/base/err.h"

/* Zero it; ward_ledger_resume_clear(). */
struct ward_ledger_resume {
	uint64_t n; /* 0: from the first entry on */
	uint64_t offset;
	uint8_t prev[WARD_MAC_BYTES];
	struct ward_merkle tree;
	struct ward_buf entries; /* each with its newline */
	/*
	 * Of the ledger's checkpoints; not in the lines above. notes_size 0: all are read. Else the
	 * last one stood at byte notes_at and had this size; the first one had covered_from.
	 */
	uint64_t notes_at;
	uint64_t notes_size;
	uint64_t covered_from;
};
void ward_ledger_resume_clear(struct ward_ledger_resume *r);
void ward_ledger_resume_put(const struct ward_ledger_resume *r, struct ward_buf *b);
/* One line without its newline. 1: taken; 0: another kind of line; -EBADMSG; -ENOMEM. */
int ward_ledger_resume_take(struct ward_ledger_resume *r, const char *line) ward_must_check;

/*
 * As ward_verify_ledger(), from there on. `from` is believed: anybody who can write it can write
 * the ledger, unless its digest was kept elsewhere. *ret_next: where this one ended, without
 * entries, if the result is INTACT; the caller's in any case.
 */
int ward_verify_ledger_from(int fd, int notes_fd, const uint8_t root[WARD_KEY_BYTES],
	const struct ward_ledger_resume *from, struct ward_ledger_view *ret,
	struct ward_ledger_resume *ret_next, struct ward_err *err) ward_must_check;

/*
 * The same, where *v has what the first entries said, and from->entries is empty. *v becomes what
 * all of them say; when this fails it is the caller's all the same.
 */
int ward_verify_ledger_on(int fd, int notes_fd, const uint8_t root[WARD_KEY_BYTES],
	const struct ward_ledger_resume *from, struct ward_ledger_view *v,
	struct ward_ledger_resume *ret_next, struct ward_err *err) ward_must_check;

/* Is nothing to come of the session that rests on its entries? */
typedef bool ward_ledger_settled_fn(void *ctx, const char *session);
/* Fills next->entries: from those of `from`, and the ledger between the two. */
int ward_ledger_resume_keep(int fd, const struct ward_ledger_resume *from,
	ward_ledger_settled_fn *settled, void *ctx, struct ward_ledger_resume *next,
	struct ward_err *err) ward_must_check;
