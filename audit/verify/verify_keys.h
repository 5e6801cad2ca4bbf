/* SPDX-License-Identifier: Apache-2.0 */
/* Part of verify.c: what the ledger says of keys. */
#pragma once

#include <jansson.h>

#include "audit/log/chain.h"
#include "audit/verify/ledger_view.h"

/*
 * An entry of kind rotate, enroll or revoke, genuine, as the ledger has it at this place: sessions
 * that come later know of it. -ENOMEM.
 */
int ward_verify_take_key(
	struct ward_ledger_view *v, const struct ward_line *l, const json_t *entry) ward_must_check;
/* A session names this key: from when on it counts for nothing, if it was revoked before. */
void ward_verify_bound_key(const struct ward_ledger_view *v, struct ward_public_key *k);
/*
 * True if k is one of the session's keys, or took the place of one (entries "rotate"), and was not
 * revoked before.
 */
bool ward_verify_key_of(const struct ward_ledger_view *v, const struct ward_ledger_session *s,
	const struct ward_public_key *k);
