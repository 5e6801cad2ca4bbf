/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a reading of the ledger found, kept so that a listing reads what came after it and no more:
 * the file "ledger.seen" of the state directory (ward_store_read_seen()).
 *
 *   "wardfs ledger seen 4\n", a MAC of 32 bytes, then what the MAC covers: device and inode of the
 *   ledger and of its checkpoints; where the reading ended (struct ward_ledger_resume); keys and
 *   sessions (struct ward_ledger_view). Device and inode are of 8 bytes, as this machine has them.
 *   Other numbers have seven bits a byte, the lowest first; a text is its length and its bytes.
 *
 * The MAC is BLAKE2b with H(root, "wardfs ledger seen" || 0x00 || "host"): only a holder of the
 * root key can make the file. The file proves nothing about entries that were changed in their
 * place later, so `verify` and --verify never use it. A verb that shows a trail and warns if that
 * trail is not intact does: it compares the trail with what the ledger said.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "audit/format.h"
#include "audit/verify/ledger_resume.h"
#include "audit/verify/ledger_view.h"
#include "enforcer/base/buf.h"

/* Device and inode of ledger.jsonl and of ledger.checkpoints. */
struct ward_ledger_files_id {
	uint64_t v[4];
};
/* -errno: one of the two cannot be looked at. */
int ward_ledger_files_id(int fd, int notes_fd, struct ward_ledger_files_id *ret) ward_must_check;

/* The whole file into b. -ENODATA: such a view has no file (nothing is verified, or not all). */
int ward_ledger_seen_put(const uint8_t root[WARD_KEY_BYTES], const struct ward_ledger_files_id *id,
	const struct ward_ledger_resume *at, const struct ward_ledger_view *v,
	struct ward_buf *b) ward_must_check;
/*
 * Which sessions are wanted: the newest ones, those that this view has (NULL: none), and
 * (unsettled) all that did not end, ended without records, were removed or expired.
 */
struct ward_ledger_seen_only {
	size_t newest;
	const struct ward_ledger_view *names;
	bool unsettled;
};
/*
 * Takes the file apart. only: the view has these sessions alone, and says in left_out how many it
 * does not have, and in left_out_sum the sum of ward_chain_session_sum() of
 * these; NULL: all. -EBADMSG: the file is not whole, was not made with this root key, or
 * speaks of other files than id. Of the checkpoint of a session comes what its trail is compared
 * with: size, root, number and signature. ward_ledger_view_free().
 */
int ward_ledger_seen_take(const uint8_t root[WARD_KEY_BYTES], const struct ward_ledger_files_id *id,
	const char *data, size_t len, const struct ward_ledger_seen_only *only,
	struct ward_ledger_resume *ret_at, struct ward_ledger_view *ret) ward_must_check;
/*
 * After later entries came into a view of some sessions that had `had`: true if one of them is
 * about a session that was left out. Such a view is wrong: what the session was before is missing.
 * Take the file apart again with this view as the wanted names.
 */
bool ward_ledger_seen_left_out_one_of(
	const char *data, size_t len, const struct ward_ledger_view *v, size_t had);
