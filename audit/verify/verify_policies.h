/* SPDX-License-Identifier: Apache-2.0 */
/* The copies of policies that lie beside a trail, compared with what the trail has of them. */
#pragma once

#include "audit/log/log.h"
#include "audit/verify/result.h"

/* Opens one of the files, for reading; -ENOENT: it is not there. -EFBIG: it is no file. */
struct ward_policy_files {
	int (*open)(void *ctx, const char *name);
	void *ctx;
};
/* Those of a directory; ctx: its descriptor. */
int ward_policy_files_in(void *ctx, const char *name) ward_must_check;

/*
 * Compares the files `policy` and `policy.N` of a session with the trail, where
 * *ret so far says that its lines are genuine (intact, gap, incomplete); what differs makes it
 * edited, what is missing deleted. Trails of wardfs 0.1 are left alone. Errors are those of
 * reading.
 */
int ward_verify_policies(struct ward_log *log, const struct ward_policy_files *files,
	struct ward_verify_result *ret, struct ward_err *err) ward_must_check;
