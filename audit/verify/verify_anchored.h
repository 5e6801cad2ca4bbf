/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checkpoints that were kept elsewhere (an anchor), of any number of sessions, against what is here
 * now: a ledger that was cut together with the sessions that its end named agrees with itself, and
 * not with them.
 */
#pragma once

#include "audit/verify/ledger_notes.h"
#include "audit/verify/verify.h"

/*
 * Reads such a file: notes of sessions and of ledgers in any order, each once or more often, empty
 * lines between them (as `journalctl -o cat` writes). *ret is sorted by session and size,
 * *ret_ledger by size; ward_checkpoint_list_clear(), ward_ledger_notes_clear(). -EBADMSG: there is
 * something else in it.
 */
int ward_anchored_read(int fd, struct ward_checkpoint_list *ret,
	struct ward_ledger_notes *ret_ledger, struct ward_err *err) ward_must_check;

/*
 * Leaves those of the ledger's notes that `key` signed, as its origin; *ret_foreign: how many go.
 */
void ward_anchored_own(
	struct ward_ledger_notes *n, const struct ward_note_key *key, size_t *ret_foreign);
/*
 * Compares the ledger's notes with the ledger (fd: read-only; -1: no ledger). Checks nothing else
 * about its entries. *ret: INTACT, EDITED or TRUNCATED.
 */
int ward_verify_anchored_ledger(int fd, struct ward_ledger_notes *n, struct ward_verify_result *ret,
	struct ward_err *err) ward_must_check;

/*
 * Compares notes v[from, to) of ret, all of one session and of rising size, with its trail. *ret:
 * INTACT, EDITED or TRUNCATED, with what is good and the first bad record.
 */
int ward_verify_anchored(struct ward_log *log, const struct ward_checkpoint_list *notes,
	size_t from, size_t to, struct ward_verify_result *ret,
	struct ward_err *err) ward_must_check;

/*
 * Those checkpoints of "ledger.cosigned" (fd: read-only; -1: the file does not exist) that both the
 * log's key and the witness signed, by rising size; *ret_time: when the witness signed the last
 * one, seconds since 1970. *ret_bad: how many have a signature of one of them that does not verify.
 */
int ward_anchored_cosigned(int fd, const struct ward_note_key *log,
	const struct ward_note_key *witness, struct ward_ledger_notes *ret, uint64_t *ret_time,
	size_t *ret_bad, struct ward_err *err) ward_must_check;
/* Says in an INTACT result of ward_verify_anchored_ledger() what the witness cosigned, and when. */
void ward_anchored_say_cosigned(
	const struct ward_note_key *witness, uint64_t time_s, struct ward_verify_result *ret);

/* Is the note signed by a key of this host: of any session of the ledger, one that gave way, or
 * `own` (NULL: none)? */
bool ward_anchored_ours(const struct ward_ledger_view *ledger, const struct ward_public_key *own,
	const struct ward_checkpoint *note, const char *text);
