/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Texts that an approver signs: a line that says what it is, a line of JSON, and one signature over
 * both:
 *
 *   signature KEY BASE64          or an armored signature of ssh-keygen -Y sign (sshsig.h)
 *
 * KEY is a key of wardfs; an SSH signature has its own. Pure. ward_chain_setup() first.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "audit/log/note.h"
#include "enforcer/base/buf.h"
#include "enforcer/base/err.h"
#include "enforcer/policy/approver_key.h"
#include "enforcer/policy/settings.h"

struct ward_signed_kind {
	const char *head;		      /* the first line, with its end */
	const char *space;		      /* the namespace of SSH signatures */
	const char *what;		      /* "answer": for messages */
	size_t max;			      /* bytes of one */
	bool (*complete)(const json_t *says); /* has the second line all that it needs? */
};

/* Appends the line of a signature to the two lines in b. */
int ward_signed_text_sign(struct ward_buf *b, const struct ward_signing_key *key) ward_must_check;
/*
 * Takes a signed text apart and checks its signature; whose key that is, is not asked. *ret_says:
 * the second line, a complete object, the caller's. -EBADMSG: this is none; -EKEYREJECTED: the
 * signature.
 */
int ward_signed_text_read(const struct ward_signed_kind *kind, const char *text, size_t len,
	json_t **ret_says, struct ward_approver_key *ret_key, struct ward_err *err) ward_must_check;
/* Does `[approvals] approver` name the key? -EPERM. */
int ward_signed_text_known(const struct ward_signed_kind *kind, const struct ward_approver_key *key,
	const struct ward_settings *s, struct ward_err *err) ward_must_check;
