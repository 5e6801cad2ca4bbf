/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What this host has seen of tokens: how many uses each gave, which were revoked, and the latest
 * time at which one was presented. The file `tokens` in the state directory: the owner's, root's
 * for a session that root started. The owner of that directory can remove the file.
 *
 *   {"seen":SECONDS,"used":{ID:[USES,UNTIL]…},"revoked":[ID…]}
 */
#pragma once

#include <stdint.h>

#include "audit/store/store.h"
#include "enforcer/base/err.h"
#include "enforcer/session/grants/grant_token.h"

/*
 * Takes uses off a token that is about to be presented: `want` of them, 0: all that are left.
 * *ret_uses: how many the grant has; 0: the token has any number. *now_s (CLOCK_REALTIME) becomes
 * the latest time that this host ever saw here, so setting the clock back extends nothing.
 * -EPERM: the token, or one that it was narrowed from, was revoked, or its time is over. -EDQUOT:
 * not so many are left. Any other error: the file could not be read or written, and nothing was
 * taken.
 */
int ward_token_take(struct ward_store *st, const struct ward_grant_token *t, uint32_t want,
	uint64_t *now_s, uint32_t *ret_uses, struct ward_err *err) ward_must_check;

/* From now on this host takes no token with that id. -EINVAL: id is malformed. */
int ward_token_revoke(struct ward_store *st, const char *id, struct ward_err *err) ward_must_check;

/*
 * Does the list at that path, of `[approvals] revoked`, name one of the token's ids? One id a line;
 * empty lines and those that begin with '#' say nothing. -EPERM: it does; other errors: it cannot
 * be read, or has another line.
 */
int ward_token_listed(
	const char *path, const struct ward_grant_token *t, struct ward_err *err) ward_must_check;
