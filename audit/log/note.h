/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checkpoints of a trail: a size and the root of the tree over so many lines (merkle.h), signed.
 * The text is a C2SP tlog-checkpoint in a C2SP signed-note, with three lines of ours behind; always
 * eight lines (docs/audit-format.md):
 *
 *   wardfs/trail/SESSION
 *   SIZE
 *   ROOT                                    base64
 *   time 2026-01-02T03:04:05.123456789Z
 *   number N                                1, 2, 3 …: of this session's checkpoints
 *   state open|complete|incomplete
 *   (an empty line)
 *   — KEYNAME SIGNATURE                     base64 of key id (4) and Ed25519 signature (64)
 *
 * A key's name is "wardfs/" and the first 16 hexadecimal digits of the SHA-256 of its public half;
 * its id is the first four bytes of SHA-256(name || "\n" || 0x01 || public half).
 * ward_chain_setup() first.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "audit/format.h"
#include "audit/log/merkle.h"
#include "enforcer/base/buf.h"
#include "enforcer/base/err.h"

#define WARD_SIGN_PUBLIC_BYTES 32U
#define WARD_SIGN_SECRET_BYTES 64U /* as libsodium has it: seed and public half */
#define WARD_SIGN_BYTES 64U
#define WARD_KEY_NAME_MAX 24U /* with its NUL */
/* "NAME+8 digits+base64 of 33 bytes" and NUL: what an auditor is given. */
#define WARD_VKEY_MAX 80U

struct ward_public_key {
	uint8_t key[WARD_SIGN_PUBLIC_BYTES];
	uint8_t id[4];
	char name[WARD_KEY_NAME_MAX];
	char until[32]; /* what it signed later counts for nothing: it was revoked; "": never */
};
struct ward_signing_key {
	struct ward_public_key pub;
	uint8_t secret[WARD_SIGN_SECRET_BYTES]; /* ward_chain_wipe() */
};

/* The key that grows from a seed (WARD_KEY_BYTES bytes). */
void ward_signing_key_from_seed(const uint8_t seed[WARD_KEY_BYTES], struct ward_signing_key *ret);
/* Signs data with key: base64, for the ledger. */
#define WARD_SIGNATURE_TEXT_MAX 92U /* base64 of 64 bytes, with room */
void ward_signing_key_sign(const struct ward_signing_key *k, const void *data, size_t len,
	char ret[WARD_SIGNATURE_TEXT_MAX]);
bool ward_public_key_check(
	const struct ward_public_key *k, const void *data, size_t len, const char *signature);
/* True for what the key signed at this time (as checkpoints and the ledger write it). */
bool ward_public_key_over(const struct ward_public_key *k, const char *time);
void ward_public_key_print(const struct ward_public_key *k, char ret[WARD_VKEY_MAX]);
/* From "NAME+ID+KEY"; -EINVAL unless name and id are those of the key. */
int ward_public_key_parse(
	const char *text, size_t len, struct ward_public_key *ret) ward_must_check;

enum ward_checkpoint_state {
	WARD_CHECKPOINT_OPEN = 0,   /* records follow */
	WARD_CHECKPOINT_INCOMPLETE, /* the last one; the session did not end regularly */
	WARD_CHECKPOINT_COMPLETE,   /* the last one */
};

struct ward_checkpoint {
	char session[WARD_SESSION_NAME_MAX + 1];
	uint64_t size;
	uint8_t root[WARD_HASH_BYTES];
	uint64_t number;
	enum ward_checkpoint_state state;
	char time[32];
	char key_name[WARD_KEY_NAME_MAX];
	uint8_t key_id[4];
	uint8_t signature[WARD_SIGN_BYTES];
	size_t signed_len; /* bytes at the beginning that the signature covers */
	size_t len;	   /* bytes of the whole note */
};
/* No note is longer. */
#define WARD_CHECKPOINT_MAX 512U

/* Appends the signed note of session, size, root, number and state, with the present time. */
void ward_checkpoint_sign(
	struct ward_buf *b, const struct ward_checkpoint *c, const struct ward_signing_key *key);
/*
 * Takes the note at the beginning of text apart; checks no signature. -ENODATA: the text ends
 * within a note, as a writer that died leaves it. -EBADMSG: the text is not a note.
 */
int ward_checkpoint_parse(
	const char *text, size_t len, struct ward_checkpoint *ret) ward_must_check;
/* True if key signed the note c, which was taken from text. */
bool ward_checkpoint_verify(
	const struct ward_checkpoint *c, const char *text, const struct ward_public_key *key);

/* Appends standard base64 (RFC 4648) of n bytes. */
void ward_put_base64(struct ward_buf *b, const uint8_t *p, size_t n);
/* Exactly n bytes of it; false otherwise. */
bool ward_take_base64(const char *text, size_t len, uint8_t *ret, size_t n);
