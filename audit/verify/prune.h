/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trails that have been kept long enough go ([audit] keep, as the session's own start in the ledger
 * has it), and what stays takes less room. Everything that goes leaves an entry "expired" in the
 * ledger, signed by the host's key: it is not missing.
 */
#pragma once

#include <stdint.h>

#include "audit/log/note.h"
#include "audit/store/store.h"
#include "audit/verify/verify.h"

struct ward_prune_result {
	uint64_t expired; /* trails that went */
	uint64_t packed;  /* segments that were compressed */
	uint64_t before;  /* their bytes, and what they take now */
	uint64_t after;
};

/*
 * Removes the trails whose time is over (now_s: seconds since 1970), at most `max`, then, if pack,
 * compresses what is plain of sessions that have ended. One session that cannot be done does not
 * keep the others from it: the first failure is returned when all was tried.
 */
int ward_prune(struct ward_store *st, uint64_t now_s, uint64_t max, bool pack,
	struct ward_prune_result *ret, struct ward_err *err) ward_must_check;

/*
 * The same without compressing, as the start of a session does it: once a day, sixteen trails at
 * most; if there are more the next start goes on. Failures are for `prune` to tell.
 */
void ward_prune_daily(struct ward_store *st);

/* What an entry "removed" or "expired" carries: signed by the host's key of now. */
struct ward_gone {
	char pub[WARD_VKEY_MAX];
	char signature[WARD_SIGNATURE_TEXT_MAX];
};
/* Signs what ward_ledger_gone_text() says of s. Negative errno with text. */
int ward_prune_sign(struct ward_store *st, const char *kind, const struct ward_ledger_session *s,
	struct ward_gone *ret, struct ward_err *err) ward_must_check;
