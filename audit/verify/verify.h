/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Verification of trails and of the ledger: needs the files and the root key, no daemon. Streams;
 * memory grows only when something is wrong (up to WARD_VERIFY_WINDOW lines are then compared).
 * docs/audit-format.md gives the rules in words; tests/support/verify.py is a second
 * implementation of them.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "audit/format.h"
#include "audit/log/log.h"
#include "audit/log/note.h"
#include "audit/verify/ledger_view.h"
#include "audit/verify/result.h"
#include "audit/verify/verify_notes.h"
#include "enforcer/base/err.h"

/* For callers that only want the ledger's content, without a verdict. */
#define WARD_LEDGER_NOTES_UNSEEN (-2)
/*
 * Reads and verifies the whole ledger (fd: read-only, own open file: it is locked for the time of
 * the reading) with its checkpoints (notes_fd: read-only; -1: the file does not exist;
 * WARD_LEDGER_NOTES_UNSEEN: they are not looked at). fd -1: there is no ledger, as if it were
 * empty. ward_ledger_view_free().
 */
int ward_verify_ledger(int fd, int notes_fd, const uint8_t root[WARD_KEY_BYTES],
	struct ward_ledger_view *ret, struct ward_err *err) ward_must_check;
/*
 * Verifies the trail of a session. known: what the ledger says,
 * NULL if it does not know the session. notes: its checkpoints, read before; NULL if they shall not
 * be looked at (a trail without them; the ledger's own checkpoint is compared nevertheless). Errors
 * are those of reading; what is wrong with the trail is in *ret.
 */
int ward_verify_trail(struct ward_log *log, const char *session, const uint8_t root[WARD_KEY_BYTES],
	const struct ward_ledger_session *known, const struct ward_checkpoint_list *notes,
	struct ward_verify_result *ret, struct ward_err *err) ward_must_check;

/* Keys that one verification may be given. */
#define WARD_VERIFY_KEYS_MAX 64
/*
 * Verifies a trail with its checkpoints and public keys alone: no root key, no ledger. `records` is
 * what a checkpoint covers; what stands behind the last one cannot be judged, and the trail then is
 * incomplete.
 */
int ward_verify_public(struct ward_log *log, const struct ward_checkpoint_list *notes,
	const struct ward_public_key *keys, size_t n_keys, struct ward_verify_result *ret,
	struct ward_err *err) ward_must_check;
