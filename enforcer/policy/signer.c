/* SPDX-License-Identifier: Apache-2.0 */
/* Public keys that sign programs: reads and names them. Pure. */
#include "enforcer/policy/signer.h"

#include <assert.h>
#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "enforcer/policy/internal.h"

#define BASE64 sodium_base64_VARIANT_ORIGINAL

static_assert(WARD_SIGNER_KEY_BYTES == crypto_sign_PUBLICKEYBYTES, "Ed25519");

bool ward_signer_base64(const char *text, size_t len, uint8_t *ret, size_t n)
{
	uint8_t out[96];
	char again[129];
	size_t got = 0;
	assert(n <= sizeof(out));
	/* One spelling only: the decoder of libsodium 1.0.18 takes some bytes above 127 too. */
	if (sodium_base642bin(out, n, text, len, NULL, &got, NULL, BASE64) != 0 || got != n)
		return false;
	(void)sodium_bin2base64(again, sizeof(again), out, n, BASE64);
	if (strlen(again) != len || memcmp(again, text, len) != 0)
		return false;
	memcpy(ret, out, n);
	return true;
}

int ward_signer_parse(const char *value, struct ward_signer *ret, struct ward_err *err)
{
	uint8_t all[2 + WARD_SIGNER_ID_BYTES + WARD_SIGNER_KEY_BYTES];
	if (!ward_signer_base64(value, strlen(value), all, sizeof(all)) ||
		memcmp(all, "Ed", 2) != 0)
		return ward_err_set(err, -EINVAL,
			"'%.80s': write the second line of a public key of minisign or signify, such as RWQ… with 56 characters",
			value);
	memcpy(ret->id, all + 2, sizeof(ret->id));
	memcpy(ret->key, all + 2 + sizeof(ret->id), sizeof(ret->key));
	return 0;
}

void ward_signer_name(const uint8_t id[WARD_SIGNER_ID_BYTES], char ret[WARD_SIGNER_ID_TEXT])
{
	for (size_t i = 0; i < WARD_SIGNER_ID_BYTES; i++)
		snprintf(ret + 2 * i, 3, "%02X", id[WARD_SIGNER_ID_BYTES - 1 - i]);
}

/* struct ward_key_does, key_types.c */
int ward_parse_signer(
	const struct ward_key *k, const char *value, uint64_t *number, struct ward_err *err)
{
	struct ward_signer s;
	(void)k;
	*number = 0;
	return ward_signer_parse(value, &s, err);
}
