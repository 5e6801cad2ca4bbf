/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Public keys of `[auto] signers`: the second line of a public key of signify(1) or minisign(1),
 * which is base64 (RFC 4648, 4) of "Ed", 8 bytes that identify the key, and 32 bytes of Ed25519.
 * The policy holds the key itself, and no name of a file: nobody can replace it behind the policy.
 * Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "enforcer/base/err.h"

#define WARD_SIGNER_ID_BYTES 8U
#define WARD_SIGNER_KEY_BYTES 32U
/* The identifier in hexadecimal digits as minisign prints it, and NUL. */
#define WARD_SIGNER_ID_TEXT 17U

struct ward_signer {
	uint8_t id[WARD_SIGNER_ID_BYTES];
	uint8_t key[WARD_SIGNER_KEY_BYTES];
};

/* -EINVAL: no such key. */
int ward_signer_parse(
	const char *value, struct ward_signer *ret, struct ward_err *err) ward_must_check;
/* minisign(1) reads the identifier as a number, least byte first. */
void ward_signer_name(const uint8_t id[WARD_SIGNER_ID_BYTES], char ret[WARD_SIGNER_ID_TEXT]);
/* Exactly n bytes (96 at most) from len characters of base64, in their one spelling. */
bool ward_signer_base64(const char *text, size_t len, uint8_t *ret, size_t n);
