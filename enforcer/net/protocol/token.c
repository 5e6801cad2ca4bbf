/* SPDX-License-Identifier: Apache-2.0 */
/* Signs and checks the tokens that tell a proxy which session asks. */
#include "enforcer/net/protocol/token.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

#define VERSION "wardfs1"
#define GRANT_CONTEXT "wardfs-net-grant/1\n"
#define CLAIM_CONTEXT "wardfs-net-token/1\n"
#define BASE64 sodium_base64_VARIANT_URLSAFE_NO_PADDING
/* Base64 of so many bytes, and NUL. */
#define KEY_TEXT 44
#define SIGNATURE_TEXT 87
#define DESTINATION_TEXT 360
#define DIGEST_BYTES 32

static_assert(WARD_TOKEN_SEED_BYTES == crypto_sign_SEEDBYTES, "Ed25519");

/* Ed25519 over context and text. */
static void sign(const uint8_t *secret, const char *context, const char *text, size_t len,
	char ret[SIGNATURE_TEXT])
{
	uint8_t data[32 + WARD_TOKEN_MAX], out[WARD_SIGN_BYTES];
	size_t n = strlen(context);
	assert(n + len <= sizeof(data));
	memcpy(data, context, n); // NOLINT(bugprone-not-null-terminated-result)
	memcpy(data + n, text, len);
	(void)crypto_sign_detached(out, NULL, data, n + len, secret);
	(void)sodium_bin2base64(ret, SIGNATURE_TEXT, out, sizeof(out), BASE64);
}

/* TEXT~SIGNATURE; the caller has seen to the room. */
static void put_signed(
	char *ret, const char *text, size_t len, const char signature[SIGNATURE_TEXT])
{
	memcpy(ret, text, len);
	ret[len] = '~';
	memcpy(ret + len + 1, signature, SIGNATURE_TEXT);
}

static bool check(const uint8_t *key, const char *context, const char *text, size_t len,
	const uint8_t *signature)
{
	uint8_t data[32 + WARD_TOKEN_MAX];
	size_t n = strlen(context);
	if (n + len > sizeof(data))
		return false;
	memcpy(data, context, n);
	memcpy(data + n, text, len);
	return crypto_sign_verify_detached(signature, data, n + len, key) == 0;
}

static bool session_ok(const char *s)
{
	size_t n = strlen(s);
	for (size_t i = 0; i < n; i++)
		if (!isalnum((unsigned char)s[i]) && !strchr("._-", s[i]))
			return false;
	return n > 0 && n <= WARD_SESSION_NAME_MAX;
}

int ward_token_grant(const struct ward_signing_key *host, const char *session, uint64_t now_s,
	char ret_grant[WARD_TOKEN_GRANT_MAX], uint8_t ret_seed[WARD_TOKEN_SEED_BYTES])
{
	uint8_t pub[WARD_SIGN_PUBLIC_BYTES], secret[WARD_SIGN_SECRET_BYTES];
	char key[KEY_TEXT], signature[SIGNATURE_TEXT], text[WARD_TOKEN_GRANT_MAX];
	if (!session_ok(session))
		return -EINVAL;
	randombytes_buf(ret_seed, WARD_TOKEN_SEED_BYTES);
	(void)crypto_sign_seed_keypair(pub, secret, ret_seed);
	sodium_memzero(secret, sizeof(secret));
	(void)sodium_bin2base64(key, sizeof(key), pub, sizeof(pub), BASE64);
	int n = snprintf(text, sizeof(text), VERSION "~%s~%s~%llu~%llu", session, key,
		(unsigned long long)now_s, (unsigned long long)now_s + WARD_TOKEN_GRANT_LIFE_S);
	if (n < 0 || (size_t)n + SIGNATURE_TEXT >= sizeof(text))
		return -EOVERFLOW;
	sign(host->secret, GRANT_CONTEXT, text, (size_t)n, signature);
	put_signed(ret_grant, text, (size_t)n, signature);
	return 0;
}

/* --- taking apart --- */

struct fields {
	const char *at, *end;
	bool bad;
};

/* The next field; the last one ends with the text. */
static size_t next(struct fields *f, const char **ret)
{
	size_t left = (size_t)(f->end - f->at);
	const char *stop = memchr(f->at, '~', left);
	size_t n = stop ? (size_t)(stop - f->at) : left;
	*ret = f->at;
	f->bad = f->bad || n == 0;
	f->at += n;
	if (stop && f->at + 1 < f->end)
		f->at++;
	return n;
}

static void next_text(struct fields *f, char *ret, size_t size)
{
	const char *p;
	size_t n = next(f, &p);
	if (n >= size || memchr(p, 0, n)) {
		f->bad = true;
		return;
	}
	memcpy(ret, p, n);
	ret[n] = 0;
}

/* Base64url in its one spelling; *ret_n bytes of at most size. */
static void next_bytes(struct fields *f, uint8_t *ret, size_t size, size_t *ret_n)
{
	char again[DESTINATION_TEXT];
	const char *p;
	size_t n = next(f, &p);
	*ret_n = 0;
	if (n >= sizeof(again) || sodium_base642bin(ret, size, p, n, NULL, ret_n, NULL, BASE64)) {
		f->bad = true;
		return;
	}
	(void)sodium_bin2base64(again, sizeof(again), ret, *ret_n, BASE64);
	f->bad = f->bad || strlen(again) != n || memcmp(again, p, n) != 0;
}

static void next_exactly(struct fields *f, uint8_t *ret, size_t size)
{
	size_t n;
	next_bytes(f, ret, size, &n);
	f->bad = f->bad || n != size;
}

static uint64_t next_number(struct fields *f)
{
	const char *p;
	uint64_t v = 0;
	size_t n = next(f, &p);
	f->bad = f->bad || n > 19 || (n > 1 && p[0] == '0');
	for (size_t i = 0; !f->bad && i < n; i++) {
		f->bad = p[i] < '0' || p[i] > '9';
		v = v * 10 + (uint64_t)(p[i] - '0');
	}
	return v;
}

static void next_grant(struct fields *f, const char *text, struct ward_token *t)
{
	char version[sizeof(VERSION)] = "";
	next_text(f, version, sizeof(version));
	next_text(f, t->session, sizeof(t->session));
	next_exactly(f, t->key, sizeof(t->key));
	t->from_s = next_number(f);
	t->until_s = next_number(f);
	t->granted = (size_t)(f->at - text) - 1;
	next_exactly(f, t->grant_signature, sizeof(t->grant_signature));
	f->bad = f->bad || strcmp(version, VERSION) != 0 || !session_ok(t->session);
}

int ward_token_parse(const char *text, size_t len, struct ward_token *ret)
{
	struct ward_token t = {0};
	struct fields f = {.at = text, .end = text + len};
	uint8_t policy[DIGEST_BYTES];
	size_t n = 0;
	if (len >= WARD_TOKEN_MAX)
		return -EBADMSG;
	next_grant(&f, text, &t);
	next_exactly(&f, policy, sizeof(policy));
	next_bytes(&f, (uint8_t *)t.destination, sizeof(t.destination) - 1, &n);
	for (size_t i = 0; i < n; i++)
		f.bad = f.bad || !isgraph((unsigned char)t.destination[i]);
	t.number = next_number(&f);
	t.expires_s = next_number(&f);
	t.claimed = (size_t)(f.at - text) - 1;
	next_exactly(&f, t.signature, sizeof(t.signature));
	if (f.bad || f.at != f.end)
		return -EBADMSG;
	(void)sodium_bin2hex(t.policy, sizeof(t.policy), policy, sizeof(policy));
	*ret = t;
	return 0;
}

/* --- signing --- */

int ward_token_signer_open(
	const char *grant, const uint8_t seed[WARD_TOKEN_SEED_BYTES], struct ward_token_signer *ret)
{
	struct ward_token t = {0};
	struct fields f = {.at = grant, .end = grant + strlen(grant)};
	struct ward_token_signer s = {.number = 0};
	uint8_t pub[WARD_SIGN_PUBLIC_BYTES];
	if (strlen(grant) >= sizeof(s.grant))
		return -EBADMSG;
	next_grant(&f, grant, &t);
	(void)crypto_sign_seed_keypair(pub, s.secret, seed);
	if (f.bad || f.at != f.end || memcmp(pub, t.key, sizeof(pub)) != 0)
		return -EBADMSG;
	memcpy(s.grant, grant, strlen(grant) + 1);
	s.until_s = t.until_s;
	*ret = s;
	return 0;
}

int ward_token_sign(struct ward_token_signer *s, const char *policy, const char *destination,
	uint64_t now_s, char ret[WARD_TOKEN_MAX], size_t *ret_claim)
{
	uint8_t digest[DIGEST_BYTES];
	char digest_text[KEY_TEXT], to[DESTINATION_TEXT], signature[SIGNATURE_TEXT];
	char text[WARD_TOKEN_MAX];
	size_t n_digest = 0, len = strlen(destination);
	if (now_s > s->until_s)
		return -EKEYEXPIRED;
	if (sodium_hex2bin(digest, sizeof(digest), policy, strlen(policy), NULL, &n_digest, NULL) ||
		n_digest != sizeof(digest) || len == 0 || len >= WARD_TOKEN_DESTINATION_MAX)
		return -EINVAL;
	(void)sodium_bin2base64(digest_text, sizeof(digest_text), digest, sizeof(digest), BASE64);
	(void)sodium_bin2base64(to, sizeof(to), (const uint8_t *)destination, len, BASE64);
	int n = snprintf(text, sizeof(text), "%s~%s~%s~%llu~%llu", s->grant, digest_text, to,
		(unsigned long long)s->number + 1, (unsigned long long)now_s + WARD_TOKEN_LIFE_S);
	if (n < 0 || (size_t)n + SIGNATURE_TEXT >= sizeof(text))
		return -EOVERFLOW;
	sign(s->secret, CLAIM_CONTEXT, text, (size_t)n, signature);
	s->number++;
	put_signed(ret, text, (size_t)n, signature);
	*ret_claim = strlen(s->grant) + 1;
	return 0;
}

enum ward_token_fault ward_token_check(const struct ward_token *t, const char *text,
	const struct ward_public_key *keys, size_t n_keys, uint64_t now_s, uint64_t slack_s,
	size_t *ret_key)
{
	bool granted = false;
	for (size_t i = 0; i < n_keys && !granted; i++) {
		granted = check(keys[i].key, GRANT_CONTEXT, text, t->granted, t->grant_signature);
		if (granted && ret_key)
			*ret_key = i;
	}
	if (!granted || !check(t->key, CLAIM_CONTEXT, text, t->claimed, t->signature))
		return WARD_TOKEN_FORGED;
	if (now_s + slack_s < t->from_s || now_s + slack_s + WARD_TOKEN_LIFE_S < t->expires_s)
		return WARD_TOKEN_EARLY;
	if (now_s > t->expires_s || now_s > t->until_s)
		return WARD_TOKEN_EXPIRED;
	return WARD_TOKEN_GOOD;
}
