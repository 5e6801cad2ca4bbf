/* SPDX-License-Identifier: Apache-2.0 */
/* The signed statement about a session. */
#pragma once

#include <stdbool.h>

#include "enforcer/base/buf.h"
#include "enforcer/base/err.h"
#include "enforcer/cli/audit/audit_cmd.h"

/*
 * Appends the signed statement about the session that is asked for. *ret_intact: it says that trail
 * and ledger are; if not, stderr has it too.
 */
int audit_attestation_make(struct audit_cmd *c, struct ward_buf *ret, bool *ret_intact,
	struct ward_err *err) ward_must_check;
