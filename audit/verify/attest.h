/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attestations: a signed statement of what was in force in a session and what held, made from its
 * trail (docs/audit-format.md). An in-toto Statement in a DSSE envelope, always in this form, on
 * one line:
 *
 *   {"payloadType":"application/vnd.in-toto+json","payload":"BASE64",
 *    "signatures":[{"keyid":"KEYNAME","sig":"BASE64"}]}
 *
 * The signature (Ed25519) is over "DSSEv1 28 application/vnd.in-toto+json LEN PAYLOAD".
 * ward_chain_setup() first.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "audit/log/log.h"
#include "audit/verify/verify.h"
#include "audit/write/checkpoint.h"
#include "enforcer/base/buf.h"
#include "enforcer/base/err.h"

/* A statement holds some members of one record, which is shorter than 128 KiB; twice base64. */
#define WARD_ATTEST_MAX ((size_t)1 << 20)

/* What a statement is made from, all borrowed. */
struct ward_attest_about {
	const char *session;
	const char *version;			 /* of the program that attests */
	const struct ward_verify_result *verify; /* of the trail, by the root key */
	enum ward_verify_state ledger;		 /* of the ledger itself */
	const struct ward_checkpoint_list *notes;
};

/*
 * The statement about the trail log. What is said of the session comes from its genuine records
 * alone (the first about->verify->records). -ENODATA: nothing of the trail is genuine, so there is
 * nothing to attest. *ret is the caller's (json_decref()).
 */
int ward_attest_state(struct ward_log *log, const struct ward_attest_about *about, json_t **ret,
	struct ward_err *err) ward_must_check;
/* Appends the envelope around a statement, and a newline. */
int ward_attest_sign(const json_t *statement, const struct ward_signing_key *key,
	struct ward_buf *ret, struct ward_err *err) ward_must_check;

/*
 * Checks an envelope around a statement with another predicate (its type), made with
 * ward_attest_sign(). INTACT: one of the keys signed it; *ret is the statement, the caller's. Else
 * EDITED (its form, its signature, or its predicate's type is wrong), FOREIGN or UNREAD, and *ret
 * is NULL. The time that a key counts until is compared with the predicate's "attested".
 */
enum ward_verify_state ward_attest_open(const char *text, size_t len, const char *predicate,
	const struct ward_public_key *keys, size_t n_keys, json_t **ret);

/* True if the text begins as an envelope does. */
bool ward_attest_is(const char *text, size_t len);
/*
 * Checks an envelope. EDITED: its form is wrong, or a signature, a checkpoint or its statement
 * about the checkpoints is not valid. FOREIGN: none of the keys signed it, or a checkpoint in it.
 * Otherwise the result is what the statement says of the trail; INTACT only if it says so.
 * *ret_session: the session; "" if the form is wrong. Verifies no trail. *ret_statement, if not
 * NULL, becomes the statement if the signature is valid, else NULL; it is the caller's.
 */
void ward_attest_check(const char *text, size_t len, const struct ward_public_key *keys,
	size_t n_keys, struct ward_verify_result *ret, char ret_session[WARD_SESSION_NAME_MAX + 1],
	json_t **ret_statement);
/* The session that it claims to be of; false if it has not the form. Verifies nothing. */
bool ward_attest_session(const char *text, size_t len, char ret[WARD_SESSION_NAME_MAX + 1]);
