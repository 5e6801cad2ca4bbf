/* SPDX-License-Identifier: Apache-2.0 */
/* The text of a token: taking it apart, making and narrowing it. */
#include "enforcer/session/grants/grant_token_text.h"

#include <errno.h>
#include <jansson.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "audit/log/chain.h"
#include "enforcer/base/cleanup.h"

#define HEAD "wardfs-token 1\n"
#define HEAD_LEN (sizeof(HEAD) - 1)
/* Seconds that fit into nanoseconds of 64 bits: until the year 2500. */
#define SECONDS_MAX UINT64_C(16725225600)

/* --- base64 and lines --- */

/* Of any length; ward_take_base64() takes pieces of at most 96 bytes. */
static bool take_base64(const char *text, size_t len, struct ward_buf *ret)
{
	uint8_t piece[96];
	if (len == 0 || len % 4)
		return false;
	for (size_t at = 0, n; at < len; at += n) {
		n = len - at < 128 ? len - at : 128;
		const size_t pad =
			at + n < len ? 0 : (text[len - 1] == '=') + (size_t)(text[len - 2] == '=');
		if (!ward_take_base64(text + at, n, piece, n / 4 * 3 - pad))
			return false;
		ward_buf_add(ret, piece, n / 4 * 3 - pad);
	}
	return ward_buf_error(ret) == 0;
}

/* The line at *at, without its newline; false: there is no whole one. */
static bool take_line(const char **at, const char *end, const char **ret, size_t *ret_len)
{
	const char *nl = memchr(*at, '\n', (size_t)(end - *at));
	if (!nl)
		return false;
	*ret = *at;
	*ret_len = (size_t)(nl - *at);
	*at = nl + 1;
	return true;
}

static void put_signed(
	struct ward_buf *b, const uint8_t prev[WARD_SIGN_BYTES], const void *payload, size_t len)
{
	ward_buf_add(b, HEAD, HEAD_LEN);
	ward_buf_add(b, prev, WARD_SIGN_BYTES);
	ward_buf_add(b, payload, len);
}

/* --- payloads --- */

/* False: it is there and is no such text, or there is no memory. */
static bool take_text(const json_t *o, const char *name, size_t max, char **ret, size_t *n)
{
	const json_t *v = json_object_get(o, name);
	const char *s = json_string_value(v);
	if (!v)
		return true;
	if (!s || !*s || json_string_length(v) > max || strlen(s) != json_string_length(v))
		return false;
	++*n;
	*ret = strdup(s);
	return *ret != NULL;
}

static bool take_number(const json_t *o, const char *name, uint64_t max, uint64_t *ret, size_t *n)
{
	const json_t *v = json_object_get(o, name);
	if (!v)
		return true;
	if (!json_is_integer(v) || json_integer_value(v) < 1 ||
		(uint64_t)json_integer_value(v) > max)
		return false;
	++*n;
	*ret = (uint64_t)json_integer_value(v);
	return true;
}

static bool take_members(
	const json_t *o, bool first, struct ward_token_block *b, struct ward_public_key *issuer)
{
	ward_cleanup_free char *id = NULL, *next = NULL, *right = NULL, *key = NULL;
	uint64_t uses = 0;
	size_t n = 0;
	if (!take_text(o, "id", WARD_GRANT_TOKEN_ID_SIZE, &id, &n) ||
		!take_text(o, "next", WARD_VKEY_MAX, &next, &n) ||
		!take_text(o, "right", 16, &right, &n) ||
		!take_text(o, "session", WARD_SESSION_NAME_MAX, &b->session, &n) ||
		!take_text(o, "what", WARD_GRANT_PATTERN_MAX, &b->what, &n) ||
		!take_text(o, "reason", WARD_GRANT_REASON_MAX, &b->reason, &n) ||
		!take_number(o, "from", SECONDS_MAX, &b->from_s, &n) ||
		!take_number(o, "until", SECONDS_MAX, &b->until_s, &n) ||
		!take_number(o, "uses", UINT32_MAX, &uses, &n))
		return false;
	if (first && (!take_text(o, "project", WARD_GRANT_PATTERN_MAX, &b->project, &n) ||
			     !take_text(o, "lifts", WARD_GRANT_LIFTS_MAX, &b->lifts, &n) ||
			     !take_text(o, "issuer", WARD_VKEY_MAX, &key, &n)))
		return false;
	if (n != json_object_size(o) || !id || !next || !ward_token_id_valid(id) ||
		!ward_take_base64(next, strlen(next), b->next, sizeof(b->next)))
		return false;
	if (first && (!key || ward_public_key_parse(key, strlen(key), issuer) < 0))
		return false;
	memcpy(b->id, id, sizeof(b->id));
	b->uses = (uint32_t)uses;
	b->right = ward_token_right_of(right);
	return !right || b->right;
}

static int take_payload(const struct ward_buf *payload, bool first, struct ward_token_block *b,
	struct ward_public_key *issuer)
{
	json_t *o = json_loadb(payload->data, payload->len, JSON_REJECT_DUPLICATES, NULL);
	const bool ok = json_is_object(o) && take_members(o, first, b, issuer);
	json_decref(o);
	return ok ? 0 : -EBADMSG;
}

/* --- reading --- */

/* What goes from one block to the next, while a text is taken apart. */
struct walk {
	struct ward_grant_token t;
	uint8_t signer[WARD_SIGN_PUBLIC_BYTES], prev[WARD_SIGN_BYTES];
};

/* For the trail. A text: json_loadb() takes no NUL. */
static int keep_signed(
	struct walk *w, const struct ward_buf *payload, const uint8_t signature[WARD_SIGN_BYTES])
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	ward_put_base64(&b, signature, WARD_SIGN_BYTES);
	w->t.payload = strndup(payload->data, payload->len);
	w->t.signature = ward_buf_error(&b) < 0 ? NULL : ward_buf_steal(&b);
	return w->t.payload && w->t.signature ? 0 : -ENOMEM;
}

static int take_block(struct walk *w, const char *line, size_t len, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf payload = WARD_BUF_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf signed_text = WARD_BUF_INIT;
	uint8_t signature[WARD_SIGN_BYTES];
	const size_t i = w->t.n;
	const char *space = memchr(line, ' ', len);
	if (i >= WARD_GRANT_TOKEN_BLOCKS)
		return ward_err_set(
			err, -E2BIG, "the token has more than %u blocks", WARD_GRANT_TOKEN_BLOCKS);
	if (!space || !take_base64(line, (size_t)(space - line), &payload) ||
		!ward_take_base64(
			space + 1, len - (size_t)(space - line) - 1, signature, sizeof(signature)))
		return ward_err_set(err, -EBADMSG, "block %zu is not one of a token", i + 1);
	struct ward_token_block *b = &w->t.blocks[w->t.n++];
	int r = take_payload(&payload, i == 0, b, &w->t.issuer);
	if (r < 0)
		return ward_err_set(err, r, "block %zu of the token cannot be understood", i + 1);
	put_signed(&signed_text, w->prev, payload.data, payload.len);
	if ((r = ward_buf_error(&signed_text)) < 0)
		return ward_err_sys(err, r, "token");
	const uint8_t *key = i == 0 ? w->t.issuer.key : w->signer;
	if (crypto_sign_verify_detached(
		    signature, (const uint8_t *)signed_text.data, signed_text.len, key) != 0)
		return ward_err_set(
			err, -EKEYREJECTED, "the signature of block %zu does not fit", i + 1);
	if (b->lifts && (r = keep_signed(w, &payload, signature)) < 0)
		return ward_err_sys(err, r, "token");
	memcpy(w->prev, signature, sizeof(w->prev));
	memcpy(w->signer, b->next, sizeof(w->signer));
	return ward_token_add(&w->t, b, i, err);
}

/* ret_seed: wipe it. */
static int walk_text(struct walk *w, const char *text, size_t len, uint8_t ret_seed[WARD_KEY_BYTES],
	struct ward_err *err)
{
	const char *at = text + HEAD_LEN, *end = text + len, *line = NULL;
	struct ward_signing_key last;
	size_t n = 0;
	int r = 0;
	if (len > WARD_GRANT_TOKEN_MAX || len < HEAD_LEN || memcmp(text, HEAD, HEAD_LEN) != 0)
		return ward_err_set(err, -EBADMSG, "this is not a token of wardfs");
	while (r == 0 && take_line(&at, end, &line, &n) && n > 6 && memcmp(line, "block ", 6) == 0)
		r = take_block(w, line + 6, n - 6, err);
	if (r < 0)
		return r;
	if (w->t.n == 0 || at != end || !line || n < 5 || memcmp(line, "key ", 4) != 0 ||
		!ward_take_base64(line + 4, n - 4, ret_seed, WARD_KEY_BYTES))
		return ward_err_set(
			err, -EBADMSG, "the token is not whole: it ends with a line 'key SEED'");
	ward_signing_key_from_seed(ret_seed, &last);
	if (sodium_memcmp(last.pub.key, w->signer, sizeof(w->signer)) != 0)
		r = ward_err_set(err, -EKEYREJECTED,
			"the token's key is not the one that its last block names");
	ward_chain_wipe(&last, sizeof(last));
	return r;
}

int ward_grant_token_read(
	const char *text, size_t len, struct ward_grant_token *ret, struct ward_err *err)
{
	struct walk w = {.prev = {0}};
	uint8_t seed[WARD_KEY_BYTES];
	int r = walk_text(&w, text, len, seed, err);
	ward_chain_wipe(seed, sizeof(seed));
	if (r < 0)
		ward_grant_token_clear(&w.t);
	else
		*ret = w.t;
	return r;
}

/* --- making --- */

static void put_text(json_t *o, const char *name, const char *text)
{
	if (text)
		json_object_set_new(o, name, json_string(text));
}

static void put_number(json_t *o, const char *name, uint64_t n)
{
	if (n)
		json_object_set_new(o, name, json_integer((json_int_t)n));
}

static int make_id(char ret[WARD_GRANT_TOKEN_ID_SIZE])
{
	uint8_t b[16];
	if (getrandom(b, sizeof(b), GRND_NONBLOCK) != (ssize_t)sizeof(b))
		return -EAGAIN;
	ret[0] = 't';
	sodium_bin2hex(ret + 1, WARD_GRANT_TOKEN_ID_SIZE - 1, b, sizeof(b));
	return 0;
}

/* Appends the block and the line of its key. issuer: of a first block. */
static int put_block(struct ward_buf *out, const struct ward_signing_key *by,
	const uint8_t prev[WARD_SIGN_BYTES], const char *issuer, const struct ward_token_block *b)
{
	ward_cleanup(ward_buf_clear) struct ward_buf signed_text = WARD_BUF_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf next = WARD_BUF_INIT;
	uint8_t seed[WARD_KEY_BYTES], signature[WARD_SIGN_BYTES];
	char id[WARD_GRANT_TOKEN_ID_SIZE];
	struct ward_signing_key key;
	int r = make_id(id);
	if (r < 0 || getrandom(seed, sizeof(seed), GRND_NONBLOCK) != (ssize_t)sizeof(seed))
		return -EAGAIN;
	ward_signing_key_from_seed(seed, &key);
	ward_put_base64(&next, key.pub.key, sizeof(key.pub.key));
	json_t *o = json_object();
	put_text(o, "id", id);
	put_text(o, "issuer", issuer);
	put_text(o, "session", b->session);
	put_text(o, "project", b->project);
	put_text(o, "right", b->right ? ward_token_right_name(b->right) : NULL);
	put_text(o, "what", b->what);
	put_number(o, "from", b->from_s);
	put_number(o, "until", b->until_s);
	put_number(o, "uses", b->uses);
	put_text(o, "reason", b->reason);
	put_text(o, "lifts", b->lifts);
	put_text(o, "next", ward_buf_str(&next));
	ward_cleanup_free char *payload = o ? json_dumps(o, JSON_COMPACT) : NULL;
	json_decref(o);
	const size_t len = payload ? strlen(payload) : 0;
	put_signed(&signed_text, prev, payload, len);
	if (!payload || ward_buf_error(&signed_text) < 0)
		r = -ENOMEM;
	else
		(void)crypto_sign_detached(signature, NULL, (const uint8_t *)signed_text.data,
			signed_text.len, by->secret);
	if (r == 0) {
		ward_buf_puts(out, "block ");
		ward_put_base64(out, (const uint8_t *)payload, len);
		ward_buf_putc(out, ' ');
		ward_put_base64(out, signature, sizeof(signature));
		ward_buf_puts(out, "\nkey ");
		ward_put_base64(out, seed, sizeof(seed));
		ward_buf_putc(out, '\n');
		r = ward_buf_error(out);
	}
	ward_chain_wipe(seed, sizeof(seed));
	ward_chain_wipe(&key, sizeof(key));
	return r;
}

/* Reads the new token back, so that no token leaves which would be refused. */
static int check_made(const struct ward_buf *b, struct ward_err *err)
{
	struct ward_grant_token t = {.n = 0};
	int r = ward_grant_token_read(b->data, b->len, &t, err);
	if (r == 0)
		ward_grant_token_clear(&t);
	return r;
}

int ward_grant_token_make(const struct ward_signing_key *issuer, const struct ward_token_block *b,
	struct ward_buf *ret, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf out = WARD_BUF_INIT;
	const uint8_t none[WARD_SIGN_BYTES] = {0};
	char name[WARD_VKEY_MAX];
	ward_public_key_print(&issuer->pub, name);
	ward_buf_puts(&out, HEAD);
	int r = put_block(&out, issuer, none, name, b);
	if (r < 0)
		return ward_err_sys(err, r, "token");
	r = check_made(&out, err);
	if (r < 0)
		return r == -EBADMSG ? -EINVAL : r;
	ward_buf_add(ret, out.data, out.len);
	return ward_buf_error(ret);
}

int ward_grant_token_narrow(const char *text, size_t len, const struct ward_token_block *b,
	struct ward_buf *ret, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf out = WARD_BUF_INIT;
	uint8_t seed[WARD_KEY_BYTES] = {0};
	struct ward_signing_key key;
	struct walk w = {.prev = {0}};
	int r = walk_text(&w, text, len, seed, err);
	ward_grant_token_clear(&w.t);
	if (r == 0) {
		/* Up to the line of the key, whose length is fixed: "key " and 44 bytes. */
		ward_signing_key_from_seed(seed, &key);
		ward_buf_add(&out, text, len - (4 + 44 + 1));
		r = put_block(&out, &key, w.prev, NULL, b);
		ward_chain_wipe(&key, sizeof(key));
		if (r < 0)
			ward_err_sys(err, r, "token");
	}
	ward_chain_wipe(seed, sizeof(seed));
	if (r == 0)
		r = check_made(&out, err);
	if (r < 0)
		return r;
	ward_buf_add(ret, out.data, out.len);
	return ward_buf_error(ret);
}
