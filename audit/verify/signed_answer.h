/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signed answers to questions. docs/approvals.md has the format:
 *
 *   wardfs-answer 1
 *   {"session":…,"question":…,"digest":…,"rights":…,"what":…,"answer":…,"until":…}
 *   signature KEY BASE64          or an armored signature of ssh-keygen -Y sign (sshsig.h)
 *
 * The signature is over the first two lines. KEY is a key of wardfs; an SSH signature has its own.
 * The digest is that of all that was shown, with the object's identity. Pure; the time is an
 * argument. ward_chain_setup() first.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "audit/log/note.h"
#include "enforcer/base/buf.h"
#include "enforcer/base/err.h"
#include "enforcer/policy/approver_key.h"
#include "enforcer/policy/settings.h"

/* Bytes of one: WARD_APPROVERS_MAX of them stand in one record of the trail. */
#define WARD_SIGNED_ANSWER_MAX 2048U
/* The namespace of SSH signatures. */
#define WARD_SIGNED_ANSWER_SPACE "wardfs-answer"

struct ward_signed_answer {
	json_t *says; /* the second line */
	struct ward_approver_key key;
};
void ward_signed_answer_clear(struct ward_signed_answer *a);

/*
 * Takes one apart and checks its signature; whose key that is, is not asked. *ret is filled afresh.
 * -EBADMSG: this is none; -EKEYREJECTED: the signature.
 */
int ward_signed_answer_read(const char *text, size_t len, struct ward_signed_answer *ret,
	struct ward_err *err) ward_must_check;

/* Does `[approvals] approver` name its key? -EPERM. */
int ward_signed_answer_known(const struct ward_signed_answer *a, const struct ward_settings *s,
	struct ward_err *err) ward_must_check;
/*
 * Is it to the question whose shown text is `shown` (an object) with that digest, at now_s (seconds
 * since 1970)? -EPERM, and err says what differs.
 */
int ward_signed_answer_fits(const struct ward_signed_answer *a, const json_t *shown,
	const char *digest, uint64_t now_s, struct ward_err *err) ward_must_check;
/* Did the signer of the older answer sign another one with a? */
bool ward_signed_answer_replaces(
	const struct ward_signed_answer *a, const struct ward_signed_answer *older);
/*
 * Can both count for one question? -EPERM: they say different things (`until` aside), or the same
 * key made both, in whatever form the policy names it.
 */
int ward_signed_answer_join(const struct ward_signed_answer *a, const struct ward_signed_answer *b,
	struct ward_err *err) ward_must_check;

/* What an answer says besides the question. */
struct ward_signed_words {
	const char *answer;  /* once, path, pattern, for */
	const char *pattern; /* NULL: none */
	uint64_t seconds;    /* of for; else 0 */
	uint64_t until_s;    /* since 1970: later it counts for nothing */
};
/* The two lines that are signed. -EINVAL: not complete; -E2BIG: too long. */
int ward_signed_answer_text(const json_t *shown, const char *digest,
	const struct ward_signed_words *w, struct ward_buf *ret,
	struct ward_err *err) ward_must_check;
/* Appends the line of a signature to these two. */
int ward_signed_answer_sign(struct ward_buf *b, const struct ward_signing_key *key) ward_must_check;

/* SHA-256 of an object as its record has it: compact JSON in ASCII. -ENOMEM. */
int ward_shown_digest(const json_t *shown, char ret[65]) ward_must_check;
