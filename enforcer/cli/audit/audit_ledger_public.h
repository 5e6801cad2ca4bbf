/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ledger of another host, by its public key (`wardfs audit key show --ledger`): a collector has
 * copies of trails and ledger, and none of the host's secrets.
 */
#pragma once

#include "enforcer/base/err.h"
#include "enforcer/cli/audit/audit_cmd.h"
#include "enforcer/cli/audit/audit_verdicts.h"

/*
 * Reports whether the ledger is the one that its own checkpoints cover, and each session that it
 * names and whose trail is not here: missing, removed or expired. Only entries count that a
 * checkpoint covers, and only checkpoints that c->ledger_key signed.
 */
int audit_ledger_public(
	struct audit_cmd *c, struct audit_verdicts *v, struct ward_err *err) ward_must_check;
