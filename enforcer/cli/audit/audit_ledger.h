/* SPDX-License-Identifier: Apache-2.0 */
/* What the audit verbs ask the ledger, and what they write into it. */
#pragma once

#include <stdint.h>

#include "audit/verify/ledger_resume.h"
#include "audit/verify/ledger_seen.h"
#include "audit/verify/verify.h"
#include "enforcer/base/buf.h"
#include "enforcer/base/err.h"
#include "enforcer/cli/audit/audit_cmd.h"

/* The ledger, verified with the root key. *ret is the caller's, ward_ledger_view_free(). */
int audit_ledger_read(struct audit_cmd *c, const uint8_t root[WARD_KEY_BYTES],
	struct ward_ledger_view *ret, struct ward_err *err) ward_must_check;
/*
 * What the ledger says, for a listing or a warning: of entries that an earlier one read only the
 * file "ledger.seen" is read. An entry that was changed in its place since then is not found, as
 * verification does. Anything that does not fit has the whole ledger read. only: no other sessions
 * are needed; *ret can have more. NULL: all are.
 */
int audit_ledger_list(struct audit_cmd *c, const uint8_t root[WARD_KEY_BYTES],
	const struct ward_ledger_seen_only *only, struct ward_ledger_view *ret,
	struct ward_err *err) ward_must_check;
/* The same from an entry on: see ward_verify_ledger_from(). */
int audit_ledger_read_from(struct audit_cmd *c, const uint8_t root[WARD_KEY_BYTES],
	const struct ward_ledger_resume *from, struct ward_ledger_view *ret,
	struct ward_ledger_resume *ret_next, struct ward_err *err) ward_must_check;

/* That the session's trail is read goes to the ledger; if it cannot, stderr says so. */
void audit_ledger_note_read(struct audit_cmd *c, const char *session);
/* The same of a question to all trails. */
void audit_ledger_note_question(struct audit_cmd *c, const char *question);

/*
 * The ledger, and in it the session of just this name. root: the root key, to be wiped by the
 * caller. -ENOENT: the ledger does not know it. ret is the caller's to free in any case; *ret_s is
 * borrowed from it.
 */
int audit_ledger_exact(struct audit_cmd *c, const char *name, uint8_t root[WARD_KEY_BYTES],
	struct ward_ledger_view *ret, const struct ward_ledger_session **ret_s,
	struct ward_err *err) ward_must_check;

/*
 * r: the outcome of looking for the session `what`. -ENOENT: err becomes what the ledger has of it,
 * if it has anything. Returns r.
 */
int audit_ledger_explain_gone(
	struct audit_cmd *c, const char *what, int r, struct ward_err *err) ward_must_check;
/* Appends "removed TIME by user N: REASON" or "expired TIME"; nothing where the ledger says
 * neither. */
void audit_ledger_gone_text(const struct ward_ledger_session *s, struct ward_buf *ret);
