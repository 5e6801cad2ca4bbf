/* SPDX-License-Identifier: Apache-2.0 */
/* The policies and approvals in a bundle, compared with its trail; and its chain of keys. */
#pragma once

#include "audit/log/log.h"
#include "audit/verify/result.h"
#include "enforcer/base/err.h"
#include "enforcer/cli/audit/audit_cmd.h"
#include "enforcer/cli/audit/audit_tar.h"

/*
 * Compares `policy`, `policy.N`, `policy.txt` and `approvals.json` with what the trail has, whose
 * lines are genuine. *ret: intact, edited or deleted, with the file. Bundles of wardfs 0.1 are left
 * alone, and so are those without an `approvals.json`.
 */
int audit_bundle_policies(const struct audit_tar *t, struct ward_log *log,
	struct ward_verify_result *ret, struct ward_err *err) ward_must_check;

/*
 * What `approvals.json` holds: the answers and grants of the trail (audit/query/approvals.h). *ret
 * is the caller's to free; NULL: the trail has none, and the bundle no such file.
 */
int audit_bundle_approvals(struct ward_log *log, char **ret, struct ward_err *err) ward_must_check;

/*
 * Where --key was given: the keys to which `key.chain` leads from those count, too. *ret_chain: its
 * text, the caller's to clear. *ret: intact, or edited: a line is no rotation that was signed.
 */
int audit_bundle_chain(struct audit_cmd *c, const struct audit_tar *t, struct ward_buf *ret_chain,
	struct ward_verify_result *ret, struct ward_err *err) ward_must_check;
/*
 * says: a statement whose signature is good, or NULL; log: the trail beside it, which nobody
 * changed. If the statement is about another trail, a good *res becomes EDITED.
 */
void audit_bundle_attests(struct ward_log *log, const json_t *says, struct ward_verify_result *res);
