/* SPDX-License-Identifier: Apache-2.0 */
/* The policies in a bundle, compared with its trail. */
#pragma once

#include "audit/log/log.h"
#include "audit/verify/result.h"
#include "enforcer/base/err.h"
#include "enforcer/cli/audit/audit_tar.h"

/*
 * Compares `policy`, `policy.N` and `policy.txt` with what the trail has, whose lines are genuine.
 * *ret: intact, edited or deleted, with the file. Bundles of wardfs 0.1 are left alone.
 */
int audit_bundle_policies(const struct audit_tar *t, struct ward_log *log,
	struct ward_verify_result *ret, struct ward_err *err) ward_must_check;
