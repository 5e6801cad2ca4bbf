/* SPDX-License-Identifier: Apache-2.0 */
/* What was done with staged changes: the files beside a trail, and what the ledger says of them. */
#pragma once

#include <jansson.h>

#include "audit/verify/ledger_view.h"
#include "audit/verify/result.h"
#include "enforcer/base/buf.h"

/* Part of verify.c: a genuine entry "review". -ENOMEM. */
int ward_verify_take_review(struct ward_ledger_session *s, json_t *entry) ward_must_check;

/*
 * Appends the text of the file review.N that a genuine entry names, in the session's directory
 * dir_fd, at most max bytes (-EFBIG). -EBADMSG: it is not the one that the entry's digest is of.
 */
int ward_review_file_read(
	int dir_fd, const json_t *entry, size_t max, struct ward_buf *ret) ward_must_check;

/*
 * Compares the files in the session's directory dir_fd with the ledger, where *ret so far says that
 * the trail's lines are genuine: one that differs makes it edited, one that is missing deleted.
 * known NULL: nothing is known. Errors are those of reading.
 */
int ward_verify_reviews(int dir_fd, const struct ward_ledger_session *known,
	struct ward_verify_result *ret, struct ward_err *err) ward_must_check;
