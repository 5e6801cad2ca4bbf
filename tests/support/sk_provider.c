/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stands for a FIDO token behind OpenSSH, as a provider of its sk-api.h. So ssh-keygen and
 * ssh-sk-helper make keys and sign as they do with hardware. SK_FLAGS in the environment are the
 * flags that the token sets: 1 is user presence, 4 user verification.
 */
#include <sodium.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Of OpenSSH 8.9 and later (sk-api.h); the lower half is the minor version. */
#define API_VERSION 0x000a0000U
#define ALG_ED25519 1U
#define ERR_GENERAL (-1)
#define ERR_UNSUPPORTED (-2)

struct sk_enroll_response {
	uint8_t flags;
	uint8_t *public_key;
	size_t public_key_len;
	uint8_t *key_handle;
	size_t key_handle_len;
	uint8_t *signature;
	size_t signature_len;
	uint8_t *attestation_cert;
	size_t attestation_cert_len;
	uint8_t *authdata;
	size_t authdata_len;
};

struct sk_sign_response {
	uint8_t flags;
	uint32_t counter;
	uint8_t *sig_r;
	size_t sig_r_len;
	uint8_t *sig_s;
	size_t sig_s_len;
};

struct sk_option;
struct sk_resident_key;

uint32_t sk_api_version(void);
int sk_enroll(uint32_t alg, const uint8_t *challenge, size_t challenge_len, const char *application,
	uint8_t flags, const char *pin, struct sk_option **options,
	struct sk_enroll_response **ret);
int sk_sign(uint32_t alg, const uint8_t *data, size_t data_len, const char *application,
	const uint8_t *handle, size_t handle_len, uint8_t flags, const char *pin,
	struct sk_option **options, struct sk_sign_response **ret);
int sk_load_resident_keys(
	const char *pin, struct sk_option **options, struct sk_resident_key ***ret, size_t *ret_n);

uint32_t sk_api_version(void)
{
	return API_VERSION;
}

static uint8_t *copy(const void *p, size_t n)
{
	uint8_t *own = malloc(n);
	return own ? memcpy(own, p, n) : NULL;
}

/* The handle of a key is its seed: this token keeps nothing. */
int sk_enroll(uint32_t alg, const uint8_t *challenge, size_t challenge_len, const char *application,
	uint8_t flags, const char *pin, struct sk_option **options, struct sk_enroll_response **ret)
{
	uint8_t seed[crypto_sign_SEEDBYTES], secret[crypto_sign_SECRETKEYBYTES];
	uint8_t public[crypto_sign_PUBLICKEYBYTES];
	if (alg != ALG_ED25519)
		return ERR_UNSUPPORTED;
	struct sk_enroll_response *r = sodium_init() < 0 ? NULL : calloc(1, sizeof(*r));
	if (!r)
		return ERR_GENERAL;
	randombytes_buf(seed, sizeof(seed));
	crypto_sign_seed_keypair(public, secret, seed);
	r->flags = flags;
	r->public_key = copy(public, r->public_key_len = sizeof(public));
	r->key_handle = copy(seed, r->key_handle_len = sizeof(seed));
	r->signature = copy(seed, r->signature_len = 1);
	r->attestation_cert = copy(seed, r->attestation_cert_len = 1);
	r->authdata = copy(seed, r->authdata_len = 1);
	*ret = r;
	return 0;
}

int sk_sign(uint32_t alg, const uint8_t *data, size_t data_len, const char *application,
	const uint8_t *handle, size_t handle_len, uint8_t flags, const char *pin,
	struct sk_option **options, struct sk_sign_response **ret)
{
	const char *told = getenv("SK_FLAGS");
	uint8_t public[crypto_sign_PUBLICKEYBYTES], secret[crypto_sign_SECRETKEYBYTES];
	uint8_t over[2 * crypto_hash_sha256_BYTES + 5], *behind = over + crypto_hash_sha256_BYTES;
	uint8_t signature[crypto_sign_BYTES];
	if (alg != ALG_ED25519 || handle_len != crypto_sign_SEEDBYTES || sodium_init() < 0)
		return ERR_UNSUPPORTED;
	struct sk_sign_response *r = calloc(1, sizeof(*r));
	if (!r)
		return ERR_GENERAL;
	crypto_sign_seed_keypair(public, secret, handle);
	r->flags = told ? (uint8_t)atoi(told) : flags;
	r->counter = 0x01020304;
	crypto_hash_sha256(over, (const uint8_t *)application, strlen(application));
	behind[0] = r->flags;
	for (unsigned i = 0; i < 4; i++)
		behind[1 + i] = (uint8_t)(r->counter >> (24 - 8 * i));
	crypto_hash_sha256(behind + 5, data, data_len);
	crypto_sign_detached(signature, NULL, over, sizeof(over), secret);
	r->sig_r = copy(signature, r->sig_r_len = sizeof(signature));
	*ret = r;
	return 0;
}

int sk_load_resident_keys(
	const char *pin, struct sk_option **options, struct sk_resident_key ***ret, size_t *ret_n)
{
	return ERR_UNSUPPORTED;
}
