/* SPDX-License-Identifier: Apache-2.0 */
/* Writes, reads and checks the signed notes that are checkpoints. */
#include "audit/log/note.h"

#include <assert.h>
#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "audit/log/chain.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"

#define ORIGIN "wardfs/trail/"
#define DASH "\xe2\x80\x94 " /* U+2014 and a space */
/* C2SP signed-note: the type of Ed25519 keys. */
#define TYPE_ED25519 1

static_assert(WARD_SIGN_PUBLIC_BYTES == crypto_sign_PUBLICKEYBYTES, "Ed25519");
static_assert(WARD_SIGN_SECRET_BYTES == crypto_sign_SECRETKEYBYTES, "Ed25519");
static_assert(WARD_SIGN_BYTES == crypto_sign_BYTES, "Ed25519");
static_assert(WARD_KEY_BYTES == crypto_sign_SEEDBYTES, "Ed25519");

static const char *const states[] = {
	[WARD_CHECKPOINT_OPEN] = "open",
	[WARD_CHECKPOINT_INCOMPLETE] = "incomplete",
	[WARD_CHECKPOINT_COMPLETE] = "complete",
};

void ward_put_base64(struct ward_buf *b, const uint8_t *p, size_t n)
{
	char text[129];
	/* Pieces of a multiple of three bytes: padding stands at the end alone. */
	for (size_t i = 0; i < n; i += 96)
		ward_buf_puts(b, sodium_bin2base64(text, sizeof(text), p + i,
					 n - i < 96 ? n - i : 96, sodium_base64_VARIANT_ORIGINAL));
}

bool ward_take_base64(const char *text, size_t len, uint8_t *ret, size_t n)
{
	uint8_t out[96];
	char again[129];
	size_t got = 0;
	assert(n <= sizeof(out));
	/* One spelling only: the decoder of libsodium 1.0.18 takes some bytes above 127 too. */
	if (sodium_base642bin(
		    out, n, text, len, NULL, &got, NULL, sodium_base64_VARIANT_ORIGINAL) != 0 ||
		got != n)
		return false;
	(void)sodium_bin2base64(again, sizeof(again), out, n, sodium_base64_VARIANT_ORIGINAL);
	if (strlen(again) != len || memcmp(again, text, len) != 0)
		return false;
	memcpy(ret, out, n);
	return true;
}

/* --- keys --- */

static void name_key(struct ward_public_key *k)
{
	uint8_t h[WARD_HASH_BYTES];
	uint8_t in[WARD_KEY_NAME_MAX + 2 + WARD_SIGN_PUBLIC_BYTES];
	(void)crypto_hash_sha256(h, k->key, sizeof(k->key));
	memcpy(k->name, "wardfs/", 7);
	(void)sodium_bin2hex(k->name + 7, 17, h, 8);
	size_t n = strlen(k->name);
	memcpy(in, k->name, n);
	in[n++] = '\n';
	in[n++] = TYPE_ED25519;
	memcpy(in + n, k->key, sizeof(k->key));
	(void)crypto_hash_sha256(h, in, n + sizeof(k->key));
	memcpy(k->id, h, sizeof(k->id));
}

void ward_signing_key_from_seed(const uint8_t seed[WARD_KEY_BYTES], struct ward_signing_key *ret)
{
	*ret = (struct ward_signing_key){0};
	(void)crypto_sign_seed_keypair(ret->pub.key, ret->secret, seed);
	name_key(&ret->pub);
}

void ward_public_key_print(const struct ward_public_key *k, char ret[WARD_VKEY_MAX])
{
	uint8_t typed[1 + WARD_SIGN_PUBLIC_BYTES] = {TYPE_ED25519};
	char id[2 * sizeof(k->id) + 1];
	char text[45]; /* base64 of 33 bytes, and NUL */
	memcpy(typed + 1, k->key, sizeof(k->key));
	(void)sodium_bin2hex(id, sizeof(id), k->id, sizeof(k->id));
	(void)sodium_bin2base64(
		text, sizeof(text), typed, sizeof(typed), sodium_base64_VARIANT_ORIGINAL);
	snprintf(ret, WARD_VKEY_MAX, "%s+%s+%s", k->name, id, text);
}

int ward_public_key_parse(const char *text, size_t len, struct ward_public_key *ret)
{
	uint8_t typed[1 + WARD_SIGN_PUBLIC_BYTES];
	struct ward_public_key k = {0};
	char again[WARD_VKEY_MAX];
	/* Base64 has '+' too: the third part begins behind the second '+'. */
	const char *plus = memchr(text, '+', len);
	plus = plus ? memchr(plus + 1, '+', (size_t)(text + len - plus - 1)) : NULL;
	if (!plus ||
		!ward_take_base64(
			plus + 1, (size_t)(text + len - plus - 1), typed, sizeof(typed)) ||
		typed[0] != TYPE_ED25519)
		return -EINVAL;
	memcpy(k.key, typed + 1, sizeof(k.key));
	name_key(&k);
	ward_public_key_print(&k, again);
	if (strlen(again) != len || memcmp(again, text, len) != 0)
		return -EINVAL;
	*ret = k;
	return 0;
}

/* --- notes --- */

void ward_checkpoint_sign(
	struct ward_buf *b, const struct ward_checkpoint *c, const struct ward_signing_key *key)
{
	uint8_t sig[4 + WARD_SIGN_BYTES];
	size_t start = b->len;
	ward_cleanup(ward_buf_clear) struct ward_buf time = WARD_BUF_INIT;
	ward_put_time(&time, ward_clock_real_ns());
	ward_buf_printf(b, ORIGIN "%s\n%llu\n", c->session, (unsigned long long)c->size);
	ward_put_base64(b, c->root, sizeof(c->root));
	/* Without the quotes that it has in a record. */
	ward_buf_puts(b, "\ntime ");
	if (time.len > 2)
		ward_buf_add(b, time.data + 1, time.len - 2);
	ward_buf_printf(
		b, "\nnumber %llu\nstate %s\n", (unsigned long long)c->number, states[c->state]);
	if (ward_buf_error(b) < 0)
		return;
	memcpy(sig, key->pub.id, sizeof(key->pub.id));
	(void)crypto_sign_detached(
		sig + 4, NULL, (const uint8_t *)b->data + start, b->len - start, key->secret);
	ward_buf_printf(b, "\n" DASH "%s ", key->pub.name);
	ward_put_base64(b, sig, sizeof(sig));
	ward_buf_putc(b, '\n');
}

/* Bytes of the longest line, that of the signature. */
#define LINE_LEN 120

struct cursor {
	const char *p;
	const char *end;
	bool torn; /* the text ended before a line did */
};

/* The next line without its newline, behind `prefix`. */
static bool line(struct cursor *c, const char *prefix, const char **ret, size_t *ret_len)
{
	const char *nl = memchr(c->p, '\n', (size_t)(c->end - c->p));
	size_t n = strlen(prefix);
	if (!nl)
		c->torn = c->end - c->p <= LINE_LEN;
	if (!nl || (size_t)(nl - c->p) < n || memcmp(c->p, prefix, n) != 0)
		return false;
	*ret = c->p + n;
	*ret_len = (size_t)(nl - c->p) - n;
	c->p = nl + 1;
	return true;
}

static bool number_line(struct cursor *c, const char *prefix, uint64_t *ret)
{
	const char *p = NULL;
	size_t n = 0;
	uint64_t v = 0;
	if (!line(c, prefix, &p, &n) || n == 0 || (p[0] == '0' && n > 1))
		return false;
	for (size_t i = 0; i < n; i++)
		if (p[i] < '0' || p[i] > '9' || __builtin_mul_overflow(v, 10, &v) ||
			__builtin_add_overflow(v, (uint64_t)(p[i] - '0'), &v))
			return false;
	*ret = v;
	return true;
}

static bool state_line(struct cursor *c, enum ward_checkpoint_state *ret)
{
	const char *p = NULL;
	size_t n = 0;
	if (!line(c, "state ", &p, &n))
		return false;
	for (unsigned i = 0; i < sizeof(states) / sizeof(*states); i++)
		if (strlen(states[i]) == n && memcmp(states[i], p, n) == 0) {
			*ret = (enum ward_checkpoint_state)i;
			return true;
		}
	return false;
}

/* Exactly as ward_put_time() writes it. */
static bool time_line(struct cursor *c, char ret[32])
{
	static const char form[] = "dddd-dd-ddTdd:dd:dd.dddddddddZ";
	const char *p = NULL;
	size_t n = 0;
	if (!line(c, "time ", &p, &n) || n != sizeof(form) - 1)
		return false;
	for (size_t i = 0; i < n; i++)
		if (form[i] == 'd' ? p[i] < '0' || p[i] > '9' : p[i] != form[i])
			return false;
	memcpy(ret, p, n);
	ret[n] = '\0';
	return true;
}

static bool signature_line(struct cursor *c, struct ward_checkpoint *ret)
{
	uint8_t sig[4 + WARD_SIGN_BYTES];
	const char *p = NULL;
	size_t n = 0;
	if (!line(c, DASH, &p, &n))
		return false;
	const char *space = memchr(p, ' ', n);
	if (!space || space == p || (size_t)(space - p) >= sizeof(ret->key_name) ||
		!ward_take_base64(space + 1, (size_t)(p + n - space - 1), sig, sizeof(sig)))
		return false;
	memcpy(ret->key_name, p, (size_t)(space - p));
	ret->key_name[space - p] = '\0';
	memcpy(ret->key_id, sig, sizeof(ret->key_id));
	memcpy(ret->signature, sig + 4, sizeof(ret->signature));
	return true;
}

static bool take_note(struct cursor *c, const char *text, struct ward_checkpoint *k)
{
	const char *p = NULL;
	size_t n = 0;
	if (!line(c, ORIGIN, &p, &n) || !ward_session_name_valid(p, n))
		return false;
	memcpy(k->session, p, n);
	if (!number_line(c, "", &k->size) || !line(c, "", &p, &n) ||
		!ward_take_base64(p, n, k->root, sizeof(k->root)) || !time_line(c, k->time) ||
		!number_line(c, "number ", &k->number) || !state_line(c, &k->state))
		return false;
	k->signed_len = (size_t)(c->p - text);
	return line(c, "", &p, &n) && n == 0 && signature_line(c, k);
}

int ward_checkpoint_parse(const char *text, size_t len, struct ward_checkpoint *ret)
{
	struct ward_checkpoint k = {0};
	struct cursor c = {
		.p = text, .end = text + (len < WARD_CHECKPOINT_MAX ? len : WARD_CHECKPOINT_MAX)};
	if (!take_note(&c, text, &k))
		return c.torn ? -ENODATA : -EBADMSG;
	k.len = (size_t)(c.p - text);
	*ret = k;
	return 0;
}

bool ward_checkpoint_verify(
	const struct ward_checkpoint *c, const char *text, const struct ward_public_key *key)
{
	return strcmp(c->key_name, key->name) == 0 &&
	       memcmp(c->key_id, key->id, sizeof(key->id)) == 0 &&
	       crypto_sign_verify_detached(
		       c->signature, (const uint8_t *)text, c->signed_len, key->key) == 0;
}

/* --- other things that are signed --- */

void ward_signing_key_sign(const struct ward_signing_key *k, const void *data, size_t len,
	char ret[WARD_SIGNATURE_TEXT_MAX])
{
	uint8_t sig[WARD_SIGN_BYTES];
	(void)crypto_sign_detached(sig, NULL, data, len, k->secret);
	(void)sodium_bin2base64(
		ret, WARD_SIGNATURE_TEXT_MAX, sig, sizeof(sig), sodium_base64_VARIANT_ORIGINAL);
}

bool ward_public_key_check(
	const struct ward_public_key *k, const void *data, size_t len, const char *signature)
{
	uint8_t sig[WARD_SIGN_BYTES];
	char again[WARD_SIGNATURE_TEXT_MAX];
	size_t got = 0;
	if (sodium_base642bin(sig, sizeof(sig), signature, strlen(signature), NULL, &got, NULL,
		    sodium_base64_VARIANT_ORIGINAL) != 0 ||
		got != sizeof(sig))
		return false;
	/* One spelling only. */
	(void)sodium_bin2base64(
		again, sizeof(again), sig, sizeof(sig), sodium_base64_VARIANT_ORIGINAL);
	return strcmp(again, signature) == 0 &&
	       crypto_sign_verify_detached(sig, data, len, k->key) == 0;
}

bool ward_public_key_over(const struct ward_public_key *k, const char *time)
{
	/* Both in UTC, of one form: the order of the texts is that of the times. */
	return k->until[0] && strcmp(time, k->until) > 0;
}
