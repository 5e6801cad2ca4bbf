/* SPDX-License-Identifier: Apache-2.0 */
/* The index brought up to date before a question, with progress on a terminal. */
#pragma once

#include "audit/query/index.h"
#include "enforcer/base/err.h"
#include "enforcer/cli/audit/audit_cmd.h"

/* As ward_index_update(). The first one of a large state directory takes a while. */
int audit_index_update(struct audit_cmd *c, bool rebuild, struct ward_index_result *ret,
	struct ward_err *err) ward_must_check;
