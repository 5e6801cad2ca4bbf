/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signatures as `ssh-keygen -Y sign` makes them (OpenSSH: PROTOCOL.sshsig; of FIDO tokens:
 * PROTOCOL.u2f), of keys of Ed25519. Pure.
 *
 *   -----BEGIN SSH SIGNATURE-----
 *   base64, in lines
 *   -----END SSH SIGNATURE-----
 *
 * of: "SSHSIG", u32 1, string public key, string namespace, string reserved (empty), string hash
 * (sha256 or sha512), string signature. Strings and numbers as RFC 4251, 5. What is signed:
 * "SSHSIG", string namespace, string reserved, string hash, string HASH(message). The signature is
 * string type, string of 64 bytes; of a token, then u8 flags and u32 counter, and the token signs
 * SHA-256(application), flags, counter, SHA-256(what is signed).
 */
#pragma once

#include <stddef.h>

#include "enforcer/base/err.h"
#include "enforcer/policy/approver_key.h"

#define WARD_SSHSIG_BEGIN "-----BEGIN SSH SIGNATURE-----\n"

/*
 * The armored signature `text` over the message, in that namespace: *ret is the key that made it.
 * -EBADMSG: this is none, or of a kind that is not taken; -EKEYREJECTED: it does not fit, or nobody
 * touched the token.
 */
int ward_sshsig_check(const char *text, size_t len, const char *space, const void *message,
	size_t message_len, struct ward_approver_key *ret, struct ward_err *err) ward_must_check;
