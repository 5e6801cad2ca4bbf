/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether each access that rules or grants are said to have allowed is one that they allow, and
 * whether each answer is one that somebody outside of the session gave (docs/audit-format.md).
 */
#pragma once

#include "audit/log/log.h"
#include "audit/verify/result.h"

/*
 * Where *ret so far says that the lines are genuine (intact, gap, incomplete): decides again, with
 * the policies and grants that the trail has, what records `open`, `create`, `remove` and `connect`
 * say was allowed, and what a record `use` says a grant covers; looks at each `answer` and `grant`.
 * One that cannot be makes it edited: wardfs does not write such a record. What only a look at the
 * file system could tell (rules of `secret`) is passed over. Errors are those of reading.
 */
int ward_verify_decided(
	struct ward_log *log, struct ward_verify_result *ret, struct ward_err *err) ward_must_check;
