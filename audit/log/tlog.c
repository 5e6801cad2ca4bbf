/* SPDX-License-Identifier: Apache-2.0 */
/* Writes, reads and checks the checkpoints of a ledger: C2SP tlog-checkpoint and cosignatures. */
#include "audit/log/tlog.h"

#include <errno.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "audit/log/chain.h"
#include "enforcer/base/cleanup.h"

#define DASH "\xe2\x80\x94 " /* U+2014 and a space */
#define PREFIX "wardfs."
#define SUFFIX "/ledger"
#define HOST_DIGITS 16
/* The largest signature that is kept: an Ed25519 cosignature, with its id and time. */
#define TAKEN_MAX (4 + 8 + WARD_SIGN_BYTES)

/* --- keys --- */

static void set_id(struct ward_note_key *k)
{
	uint8_t h[crypto_hash_sha256_BYTES];
	uint8_t in[WARD_NOTE_NAME_MAX + 2 + WARD_SIGN_PUBLIC_BYTES];
	size_t n = strlen(k->name);
	memcpy(in, k->name, n);
	in[n++] = '\n';
	in[n++] = k->type;
	memcpy(in + n, k->key, sizeof(k->key));
	(void)crypto_hash_sha256(h, in, n + sizeof(k->key));
	memcpy(k->id, h, sizeof(k->id));
}

void ward_tlog_key_derive(const uint8_t root[WARD_KEY_BYTES], struct ward_tlog_key *ret)
{
	uint8_t seed[WARD_KEY_BYTES];
	uint8_t h[crypto_hash_sha256_BYTES];
	char digits[HOST_DIGITS + 1];
	*ret = (struct ward_tlog_key){.pub.type = WARD_NOTE_ED25519};
	ward_chain_derive(root, "wardfs ledger checkpoint", "host", seed);
	(void)crypto_sign_seed_keypair(ret->pub.key, ret->secret, seed);
	ward_chain_wipe(seed, sizeof(seed));
	(void)crypto_hash_sha256(h, ret->pub.key, sizeof(ret->pub.key));
	(void)sodium_bin2hex(digits, sizeof(digits), h, HOST_DIGITS / 2);
	snprintf(ret->pub.name, sizeof(ret->pub.name), PREFIX "%s" SUFFIX, digits);
	set_id(&ret->pub);
}

void ward_note_key_print(const struct ward_note_key *k, char ret[WARD_NOTE_VKEY_MAX])
{
	uint8_t typed[1 + WARD_SIGN_PUBLIC_BYTES] = {k->type};
	char id[2 * sizeof(k->id) + 1];
	char text[45]; /* base64 of 33 bytes, and NUL */
	memcpy(typed + 1, k->key, sizeof(k->key));
	(void)sodium_bin2hex(id, sizeof(id), k->id, sizeof(k->id));
	(void)sodium_bin2base64(
		text, sizeof(text), typed, sizeof(typed), sodium_base64_VARIANT_ORIGINAL);
	snprintf(ret, WARD_NOTE_VKEY_MAX, "%s+%s+%s", k->name, id, text);
}

/* signed-note: not empty, no spaces, no plus; no control character is in a note at all. */
static bool name_valid(const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)p[i] <= ' ' || p[i] == '+' || p[i] == 0x7f)
			return false;
	return n > 0 && n < WARD_NOTE_NAME_MAX;
}

int ward_note_key_parse(const char *text, size_t len, struct ward_note_key *ret)
{
	uint8_t typed[1 + WARD_SIGN_PUBLIC_BYTES];
	struct ward_note_key k = {0};
	char again[WARD_NOTE_VKEY_MAX];
	/* Base64 has '+' too: the third part begins behind the second '+'. */
	const char *plus = memchr(text, '+', len);
	const char *next = plus ? memchr(plus + 1, '+', (size_t)(text + len - plus - 1)) : NULL;
	if (!next || !name_valid(text, (size_t)(plus - text)) ||
		!ward_take_base64(
			next + 1, (size_t)(text + len - next - 1), typed, sizeof(typed)) ||
		(typed[0] != WARD_NOTE_ED25519 && typed[0] != WARD_NOTE_COSIGNATURE))
		return -EINVAL;
	memcpy(k.name, text, (size_t)(plus - text));
	memcpy(k.key, typed + 1, sizeof(k.key));
	k.type = typed[0];
	set_id(&k);
	ward_note_key_print(&k, again);
	if (strlen(again) != len || memcmp(again, text, len) != 0)
		return -EINVAL;
	*ret = k;
	return 0;
}

/* --- notes --- */

void ward_tlog_sign(struct ward_buf *b, uint64_t size, const uint8_t root[WARD_HASH_BYTES],
	const struct ward_tlog_key *key)
{
	uint8_t sig[4 + WARD_SIGN_BYTES];
	size_t start = b->len;
	ward_buf_printf(b, "%s\n%" PRIu64 "\n", key->pub.name, size);
	ward_put_base64(b, root, WARD_HASH_BYTES);
	ward_buf_putc(b, '\n');
	if (ward_buf_error(b) < 0)
		return;
	memcpy(sig, key->pub.id, sizeof(key->pub.id));
	(void)crypto_sign_detached(
		sig + 4, NULL, (const uint8_t *)b->data + start, b->len - start, key->secret);
	ward_buf_printf(b, "\n" DASH "%s ", key->pub.name);
	ward_put_base64(b, sig, sizeof(sig));
	ward_buf_putc(b, '\n');
}

struct cursor {
	const char *p;
	const char *end;
	bool torn; /* the text ended before a line did */
};

/* The next line without its newline. */
static bool take_line(struct cursor *c, const char **ret, size_t *ret_len)
{
	const char *nl = memchr(c->p, '\n', (size_t)(c->end - c->p));
	c->torn = !nl;
	if (!nl)
		return false;
	*ret = c->p;
	*ret_len = (size_t)(nl - c->p);
	c->p = nl + 1;
	return true;
}

static bool take_size(const char *p, size_t n, uint64_t *ret)
{
	uint64_t v = 0;
	if (n == 0 || (p[0] == '0' && n > 1))
		return false;
	for (size_t i = 0; i < n; i++)
		if (p[i] < '0' || p[i] > '9' || __builtin_mul_overflow(v, 10, &v) ||
			__builtin_add_overflow(v, (uint64_t)(p[i] - '0'), &v))
			return false;
	*ret = v;
	return true;
}

static bool at_signature(const struct cursor *c)
{
	return (size_t)(c->end - c->p) >= strlen(DASH) && memcmp(c->p, DASH, strlen(DASH)) == 0;
}

/* "— NAME BASE64": the form, of whatever key. */
static bool signature_form(const char *p, size_t n, size_t *ret_name, size_t *ret_at)
{
	const size_t dash = strlen(DASH);
	const char *space = n > dash ? memchr(p + dash, ' ', n - dash) : NULL;
	if (!space || !name_valid(p + dash, (size_t)(space - p) - dash))
		return false;
	*ret_name = (size_t)(space - p) - dash;
	*ret_at = (size_t)(space - p) + 1;
	const char *text = p + *ret_at;
	size_t len = n - *ret_at;
	size_t pad = len > 0 && text[len - 1] == '=' ? 1 + (len > 1 && text[len - 2] == '=') : 0;
	for (size_t i = 0; i + pad < len; i++)
		if (!((text[i] >= 'A' && text[i] <= 'Z') || (text[i] >= 'a' && text[i] <= 'z') ||
			    (text[i] >= '0' && text[i] <= '9') || text[i] == '+' || text[i] == '/'))
			return false;
	/* Four bytes of the key's id, and something behind. */
	return len >= 8 && len % 4 == 0;
}

static bool take_signatures(struct cursor *c)
{
	const char *p = NULL;
	size_t n = 0, name = 0, at = 0;
	size_t count = 0;
	if (c->p == c->end)
		c->torn = true;
	for (; at_signature(c); count++)
		if (!take_line(c, &p, &n) || !signature_form(p, n, &name, &at))
			return false;
	if (count == 0 && !c->torn) /* less than a dash can be left */
		c->torn = memcmp(c->p, DASH,
				  (size_t)(c->end - c->p) < strlen(DASH) ? (size_t)(c->end - c->p)
									 : strlen(DASH)) == 0;
	return count > 0;
}

int ward_tlog_parse(const char *text, size_t len, struct ward_tlog_note *ret)
{
	struct ward_tlog_note k = {0};
	struct cursor c = {
		.p = text, .end = text + (len < WARD_TLOG_NOTE_MAX ? len : WARD_TLOG_NOTE_MAX)};
	const char *p = NULL;
	size_t n = 0;
	bool good = take_line(&c, &p, &n) && name_valid(p, n);
	if (good)
		memcpy(k.origin, p, n);
	good = good && take_line(&c, &p, &n) && take_size(p, n, &k.size) && take_line(&c, &p, &n) &&
	       ward_take_base64(p, n, k.root, sizeof(k.root));
	k.body_len = (size_t)(c.p - text);
	good = good && take_line(&c, &p, &n) && n == 0;
	k.signatures = (size_t)(c.p - text);
	if (!good || !take_signatures(&c))
		return c.torn ? -ENODATA : -EBADMSG;
	k.len = (size_t)(c.p - text);
	*ret = k;
	return 0;
}

/* tlog-cosignature: what is signed begins with a header and the time. */
static bool cosigned(const struct ward_tlog_note *n, const char *text,
	const struct ward_note_key *key, const uint8_t *sig, uint64_t *ret_time)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	uint64_t time = 0;
	for (unsigned i = 0; i < 8; i++)
		time = time << 8 | sig[4 + i];
	ward_buf_printf(&b, "cosignature/v1\ntime %" PRIu64 "\n", time);
	ward_buf_add(&b, text, n->body_len);
	if (time == 0 || time > INT64_MAX || ward_buf_error(&b) < 0 ||
		crypto_sign_verify_detached(sig + 12, (const uint8_t *)b.data, b.len, key->key) !=
			0)
		return false;
	if (ret_time)
		*ret_time = time;
	return true;
}

enum ward_tlog_signed ward_tlog_check(const struct ward_tlog_note *n, const char *text,
	const struct ward_note_key *key, uint64_t *ret_time)
{
	const bool co = key->type == WARD_NOTE_COSIGNATURE;
	const size_t size = 4 + (co ? 8U : 0U) + WARD_SIGN_BYTES;
	enum ward_tlog_signed found = WARD_TLOG_UNKNOWN;
	struct cursor c = {.p = text + n->signatures, .end = text + n->len};
	const char *p = NULL;
	size_t len = 0, name = 0, at = 0;
	while (take_line(&c, &p, &len) && signature_form(p, len, &name, &at)) {
		uint8_t sig[TAKEN_MAX];
		uint8_t id[6]; /* of the whole groups of the encoding that hold the id */
		bool same = name == strlen(key->name) &&
			    memcmp(p + strlen(DASH), key->name, name) == 0 &&
			    sodium_base642bin(id, sizeof(id), p + at, 8, NULL, NULL, NULL,
				    sodium_base64_VARIANT_ORIGINAL) == 0 &&
			    memcmp(id, key->id, sizeof(key->id)) == 0;
		if (!same)
			continue;
		bool good = ward_take_base64(p + at, len - at, sig, size);
		if (good && co)
			good = cosigned(n, text, key, sig, ret_time);
		else if (good)
			good = crypto_sign_verify_detached(
				       sig + 4, (const uint8_t *)text, n->body_len, key->key) == 0;
		if (!good)
			return WARD_TLOG_BAD;
		found = WARD_TLOG_GOOD;
	}
	return found;
}

bool ward_tlog_is(const char *text, size_t len)
{
	const size_t whole = strlen(PREFIX) + HOST_DIGITS + strlen(SUFFIX) + 1;
	if (len < whole || memcmp(text, PREFIX, strlen(PREFIX)) != 0 ||
		memcmp(text + whole - 1 - strlen(SUFFIX), SUFFIX "\n", strlen(SUFFIX) + 1) != 0)
		return false;
	for (size_t i = 0; i < HOST_DIGITS; i++)
		if (!memchr("0123456789abcdef", text[strlen(PREFIX) + i], 16))
			return false;
	return true;
}

bool ward_tlog_last(const char *text, size_t len, const struct ward_note_key *key, size_t *ret_at,
	struct ward_tlog_note *ret)
{
	bool found = false;
	for (size_t at = 0; at < len;) {
		struct ward_tlog_note n;
		if (ward_tlog_is(text + at, len - at) &&
			ward_tlog_parse(text + at, len - at, &n) == 0 &&
			(!key || ward_tlog_check(&n, text + at, key, NULL) == WARD_TLOG_GOOD)) {
			found = true;
			*ret_at = at;
			*ret = n;
		}
		const char *nl = memchr(text + at, '\n', len - at);
		at = nl ? (size_t)(nl - text) + 1 : len;
	}
	return found;
}

bool ward_tlog_torn(const char *text, size_t len, const struct ward_note_key *key)
{
	struct ward_tlog_note n;
	char line[WARD_NOTE_NAME_MAX + 1];
	size_t size = (size_t)snprintf(line, sizeof(line), "%s\n", key->name);
	return len < WARD_TLOG_OWN_MAX && memcmp(text, line, len < size ? len : size) == 0 &&
	       ward_tlog_parse(text, len, &n) == -ENODATA;
}
