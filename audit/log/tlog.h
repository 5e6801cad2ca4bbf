/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checkpoints of the ledger, to the letter of C2SP tlog-checkpoint, signed-note and
 * tlog-cosignature (https://c2sp.org), so that witnesses of others can cosign them:
 *
 *   wardfs.HOSTKEY/ledger       the origin, and the name of the key that signs
 *   SIZE                        number of entries
 *   ROOT                        of their tree (merkle.h), base64
 *   (an empty line)
 *   — NAME SIGNATURE            one or more; base64 of key id (4) and signature
 *
 * HOSTKEY is the first 16 hexadecimal digits of the SHA-256 of the public key. The key grows from
 * the root key, so it lives as long as the ledger does. ward_chain_setup() first.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "audit/log/note.h"

/* C2SP signed-note, "Signature types". */
#define WARD_NOTE_ED25519 1
#define WARD_NOTE_COSIGNATURE 4
/* Bytes of a key's name, with its NUL; C2SP names no limit. */
#define WARD_NOTE_NAME_MAX 128U
#define WARD_NOTE_VKEY_MAX (WARD_NOTE_NAME_MAX + 60U)
/* signed-note wants at least 16 signatures taken; post-quantum ones have nearly 7 kB in base64. */
#define WARD_TLOG_NOTE_MAX ((size_t)128 << 10)
/* Ours, with one signature. */
#define WARD_TLOG_OWN_MAX 512U

/* A verifier key of signed-note: "NAME+ID+base64 of type and key". */
struct ward_note_key {
	char name[WARD_NOTE_NAME_MAX];
	uint8_t type;
	uint8_t id[4];
	uint8_t key[WARD_SIGN_PUBLIC_BYTES];
};
/* -EINVAL: not of this form, another type than the two above, or the id is not that of the key. */
int ward_note_key_parse(const char *text, size_t len, struct ward_note_key *ret) ward_must_check;
void ward_note_key_print(const struct ward_note_key *k, char ret[WARD_NOTE_VKEY_MAX]);

/* The key that signs a host's ledger. */
struct ward_tlog_key {
	struct ward_note_key pub;
	uint8_t secret[WARD_SIGN_SECRET_BYTES]; /* ward_chain_wipe() */
};
void ward_tlog_key_derive(const uint8_t root[WARD_KEY_BYTES], struct ward_tlog_key *ret);

/* A checkpoint taken apart. Offsets are from the beginning of its text. */
struct ward_tlog_note {
	char origin[WARD_NOTE_NAME_MAX];
	uint64_t size;
	uint8_t root[WARD_HASH_BYTES];
	size_t body_len;   /* what signatures are over */
	size_t signatures; /* where the first one stands */
	size_t len;
};
/* Appends the signed note. */
void ward_tlog_sign(struct ward_buf *b, uint64_t size, const uint8_t root[WARD_HASH_BYTES],
	const struct ward_tlog_key *key);
/*
 * Takes the note at the beginning of text apart; checks no signature. -ENODATA: the text ends
 * before the note does. -EBADMSG: the text is not a note, or has extension lines.
 */
int ward_tlog_parse(const char *text, size_t len, struct ward_tlog_note *ret) ward_must_check;

/* Bytes of the end of a file of our own notes in which the last one is, and what was torn behind.
 */
#define WARD_TLOG_TAIL (2 * WARD_TLOG_OWN_MAX)
enum ward_tlog_signed {
	WARD_TLOG_UNKNOWN = 0, /* no signature has the key's name and id */
	WARD_TLOG_BAD,	       /* one has, and does not verify */
	WARD_TLOG_GOOD,
};
/*
 * Did the key sign the note, which was taken from text? Signatures of other keys do not count. Of a
 * cosignature *ret_time becomes its time (seconds since 1970), which is not 0; NULL: not wanted.
 */
enum ward_tlog_signed ward_tlog_check(const struct ward_tlog_note *n, const char *text,
	const struct ward_note_key *key, uint64_t *ret_time);
/*
 * The last whole note in text that `key` signed (NULL: any key). The first line of text may be cut.
 * False: text has no such note.
 */
bool ward_tlog_last(const char *text, size_t len, const struct ward_note_key *key, size_t *ret_at,
	struct ward_tlog_note *ret) ward_must_check;
/* True if the text is the beginning of a note that `key` began to write, and not all of it. */
bool ward_tlog_torn(const char *text, size_t len, const struct ward_note_key *key);
/* True if the text begins as a checkpoint of a ledger does. */
bool ward_tlog_is(const char *text, size_t len);
