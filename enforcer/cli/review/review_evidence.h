/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is known of staged changes besides: commands that ran on them (`review check`), and
 * approvers who signed (`review sign`). Both lie in files review.N beside the trail, which entries
 * `checked` and `signed` of the ledger name with their digest (docs/audit-format.md, Reviews).
 */
#pragma once

#include <jansson.h>

#include "enforcer/cli/review/review_find.h"
#include "enforcer/cli/review/review_named.h"

/* Bytes of one file: a signed change is the longest. */
#define REVIEW_EVIDENCE_MAX 131072U

struct review_evidence {
	/*
	 * [{"command":[…],"result":N,"session":S,"trail":D}, …] of exactly this manifest: of each
	 * command the last one, whose session's trail is intact and has that digest.
	 */
	json_t *checks;
	json_t *signatures; /* texts (audit/verify/signed_change.h), of this manifest */
	char broken[256];   /* why the last one that counts for nothing does so; "": all count */
};
/* -EBADMSG: the ledger is not intact. Clear it also on failure. */
int review_evidence_read(const struct ward_review_meant *m, struct review_evidence *ret,
	struct ward_err *err) ward_must_check;
void review_evidence_clear(struct review_evidence *e);

/* Root of the tree over the trail of a session that has ended, if that is intact. -EBADMSG. */
int review_evidence_trail(const struct ward_review_meant *m, const char *session, char ret[65],
	struct ward_err *err) ward_must_check;
/* The command of a check, as a shell would take it. */
void review_evidence_command(struct ward_buf *b, const json_t *check);

/*
 * May the changes be applied, by the command line and today's policy? -EPERM: a check or a
 * signature is missing, and err names which.
 */
int review_evidence_allows(const struct review_args *a, const struct ward_review_meant *m,
	struct ward_err *err) ward_must_check;
/* Have as many approvers signed as [approvals] approvers wants, at least one? -EPERM. */
int review_evidence_signed(const struct review_args *a, const struct ward_review_meant *m,
	const struct review_evidence *e, struct ward_err *err) ward_must_check;
