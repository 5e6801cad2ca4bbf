/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The detached signature beside a program: PROGRAM.minisig or PROGRAM.sig, in the formats of
 * minisign(1) and signify(1).
 *
 *   untrusted comment: TEXT
 *   base64 of algorithm (2), identifier of the key (8), Ed25519 signature (64)
 *
 * minisign's files go on with two lines:
 *
 *   trusted comment: TEXT
 *   base64 of an Ed25519 signature (64) over the signature above and TEXT
 *
 * Algorithm "Ed" signs the program; "ED", minisign's alone, signs its BLAKE2b-512. Each line ends
 * with a newline, and nothing follows.
 *
 * The reader of the program passes each byte to this module as well, so a signature is about the
 * bytes that were read and no others.
 */
#pragma once

#include "enforcer/base/err.h"
#include "enforcer/policy/settings.h"
#include "enforcer/risk/risk.h"

/* A signature file is some 300 bytes; comments can be long. */
#define WARD_SIGNATURE_FILE_MAX ((size_t)4096)
/* "Ed" needs the whole program in memory. */
#define WARD_SIGNATURE_PURE_MAX ((uint64_t)64 << 20)
/* What is read of a program to check a signature: a second of reading. */
#define WARD_SIGNATURE_PROGRAM_MAX ((uint64_t)512 << 20)

struct ward_signature;

/*
 * Looks beside the program, whose absolute path has no link. size: of the program. *ret is the
 * caller's, NULL where there is no signature, or no signer. Without a signer nothing is opened.
 * -ENOMEM; -ENOSYS: no libsodium.
 */
int ward_signature_open(const struct ward_strings *signers, const char *path, uint64_t size,
	struct ward_signature **ret) ward_must_check;
/* Are the program's bytes needed at all? A broken signature needs none. */
bool ward_signature_wants(const struct ward_signature *s);
/* The next bytes of the program. s may be NULL. -ENOMEM. */
int ward_signature_update(struct ward_signature *s, const uint8_t *p, size_t n) ward_must_check;
/* whole: update() had the program from its first byte to its last. s may be NULL. */
void ward_signature_end(struct ward_signature *s, bool whole, struct ward_signed *ret);
void ward_signature_free(struct ward_signature *s);
