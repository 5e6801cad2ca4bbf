/* SPDX-License-Identifier: Apache-2.0 */
/* Proofs of many records at once. */
#pragma once

#include "audit/verify/verify.h"
#include "enforcer/base/buf.h"
#include "enforcer/base/err.h"
#include "enforcer/cli/audit/audit_cmd.h"

/*
 * Opens the trail and the checkpoints of the session that is asked for and has the ledger note that
 * it is read. All three are the caller's.
 */
int audit_proofs_open(struct audit_cmd *c, char **ret_name, struct ward_log **ret,
	struct ward_checkpoint_list *ret_notes, struct ward_err *err) ward_must_check;
/*
 * Appends the proofs of all records of a file, under all its names, or (path NULL) of all that the
 * filter matches. Says on stderr how many there are, and how many have none yet.
 */
int audit_proofs_make(struct audit_cmd *c, const char *path, const char *name, struct ward_log *log,
	const struct ward_checkpoint_list *notes, struct ward_buf *ret,
	struct ward_err *err) ward_must_check;
/*
 * --proof of show, file and process: the proofs of what the filter matches (path not NULL: of this
 * file, as it was given) to stdout; --json: each record beside its own. asked: 1 if there is none.
 */
int audit_proofs_show(
	struct audit_cmd *c, const char *path, bool asked, struct ward_err *err) ward_must_check;
