/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether each access that a grant allowed had one that was in force, and what else is decided
 * again (docs/audit-format.md).
 */
#pragma once

#include "audit/log/log.h"
#include "audit/verify/result.h"

/*
 * Looks at each `use`, and at each record of what a grant allowed, where *ret so far says that the
 * lines are genuine (intact, gap, incomplete). One that no live grant covers makes it edited:
 * wardfs does not write such a record. Then ward_verify_decided(). Errors are those of reading.
 */
int ward_verify_grants(
	struct ward_log *log, struct ward_verify_result *ret, struct ward_err *err) ward_must_check;
