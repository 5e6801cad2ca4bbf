/* SPDX-License-Identifier: Apache-2.0 */
/* The policies of a session, read and checked for what shows them. */
#pragma once

#include "audit/query/policies.h"
#include "audit/store/store.h"
#include "audit/verify/ledger_view.h"
#include "enforcer/base/buf.h"
#include "enforcer/base/err.h"

/*
 * Reads the policies of a trail. -ENODATA: it has none, or the sources alone (wardfs 0.1).
 * -EBADMSG: one is not the text whose digest the records have. ret is the caller's to clear in any
 * case.
 */
int audit_policies_read(struct ward_log *log, const char *session, struct ward_policy_texts *ret,
	struct ward_err *err) ward_must_check;
/* Appends those that came into force, each below a comment that says when, by whom, its digest. */
void audit_policies_write(const struct ward_policy_texts *t, struct ward_buf *ret);

/*
 * Verifies the files beside the trail of a session of the store: copies of policies, and what was
 * done with staged changes, as far as the ledger knows (known NULL: nothing). *ret as
 * ward_verify_policies() has it.
 */
int audit_beside_verify(struct ward_store *store, struct ward_log *log, const char *session,
	const struct ward_ledger_session *known, struct ward_verify_result *ret,
	struct ward_err *err) ward_must_check;
