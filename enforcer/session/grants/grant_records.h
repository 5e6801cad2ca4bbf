/* SPDX-License-Identifier: Apache-2.0 */
/* The records of grants that the supervisor writes; `use` and `expire` are the helpers'. */
#pragma once

#include "enforcer/session/grants/granting.h"

int ward_record_grant(struct ward_guard *g, const struct ward_grant *grant,
	const struct ward_grantor *by) ward_must_check;
/* result: "revoked", or "over": its end came before. */
int ward_record_revoke(struct ward_guard *g, const struct ward_grant_held *held,
	const struct ward_grantor *by, const char *reason, const char *result) ward_must_check;
