/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checkpoints that were kept elsewhere (an anchor), of any number of sessions, against what is here
 * now: a ledger that was cut together with the sessions that its end named agrees with itself, and
 * not with them.
 */
#pragma once

#include "audit/verify/verify.h"

/*
 * Reads such a file: notes in any order, each once or more often, empty lines between them (as
 * `journalctl -o cat` writes). *ret is sorted by session and size; ward_checkpoint_list_clear().
 * -EBADMSG: there is something else in it.
 */
int ward_anchored_read(
	int fd, struct ward_checkpoint_list *ret, struct ward_err *err) ward_must_check;

/*
 * Compares notes v[from, to) of ret, all of one session and of rising size, with its trail. *ret:
 * INTACT, EDITED or TRUNCATED, with what is good and the first bad record.
 */
int ward_verify_anchored(struct ward_log *log, const struct ward_checkpoint_list *notes,
	size_t from, size_t to, struct ward_verify_result *ret,
	struct ward_err *err) ward_must_check;

/* Is the note signed by a key of this host: of any session of the ledger, one that gave way, or
 * `own` (NULL: none)? */
bool ward_anchored_ours(const struct ward_ledger_view *ledger, const struct ward_public_key *own,
	const struct ward_checkpoint *note, const char *text);
