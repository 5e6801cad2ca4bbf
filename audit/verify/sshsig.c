/* SPDX-License-Identifier: Apache-2.0 */
/* Checks signatures of OpenSSH. */
#include "audit/verify/sshsig.h"

#include <errno.h>
#include <sodium.h>
#include <string.h>

#include "enforcer/base/buf.h"
#include "enforcer/base/cleanup.h"

#define END "-----END SSH SIGNATURE-----\n"
#define MAGIC "SSHSIG"
/* Bytes of one, without its armor. */
#define BLOB_MAX 1024U
/* The token says so when somebody touched it. */
#define FLAG_PRESENT 1U

struct blob {
	const uint8_t *key, *space, *reserved, *hash, *signature;
	size_t n_key, n_space, n_reserved, n_hash, n_signature;
};

static bool is(const uint8_t *p, size_t n, const char *text)
{
	return n == strlen(text) && memcmp(p, text, n) == 0;
}

/* The lines between the two of the armor. */
static bool take_armor(const char *text, size_t len, uint8_t *ret, size_t *ret_len)
{
	const size_t head = sizeof(WARD_SSHSIG_BEGIN) - 1, tail = sizeof(END) - 1;
	if (len < head + tail || memcmp(text, WARD_SSHSIG_BEGIN, head) != 0 ||
		memcmp(text + len - tail, END, tail) != 0)
		return false;
	return sodium_base642bin(ret, BLOB_MAX, text + head, len - head - tail, "\n", ret_len, NULL,
		       sodium_base64_VARIANT_ORIGINAL) == 0;
}

static bool take_blob(const uint8_t *p, size_t n, struct blob *b)
{
	static const uint8_t version[] = {0, 0, 0, 1};
	const size_t head = sizeof(MAGIC) - 1;
	if (n < head + sizeof(version) || memcmp(p, MAGIC, head) != 0 ||
		memcmp(p + head, version, sizeof(version)) != 0)
		return false;
	p += head + sizeof(version);
	n -= head + sizeof(version);
	return ward_approver_string(&p, &n, &b->key, &b->n_key) &&
	       ward_approver_string(&p, &n, &b->space, &b->n_space) &&
	       ward_approver_string(&p, &n, &b->reserved, &b->n_reserved) &&
	       ward_approver_string(&p, &n, &b->hash, &b->n_hash) &&
	       ward_approver_string(&p, &n, &b->signature, &b->n_signature) && n == 0 &&
	       b->n_reserved == 0;
}

static void put_string(struct ward_buf *b, const void *p, size_t n)
{
	const uint8_t len[] = {
		(uint8_t)(n >> 24), (uint8_t)(n >> 16), (uint8_t)(n >> 8), (uint8_t)n};
	ward_buf_add(b, len, sizeof(len));
	ward_buf_add(b, p, n);
}

/* What the key signs. False: another hash. */
static bool put_signed(
	struct ward_buf *to, const struct blob *b, const void *message, size_t message_len)
{
	uint8_t sum[crypto_hash_sha512_BYTES];
	size_t n = 0;
	if (is(b->hash, b->n_hash, "sha512")) {
		(void)crypto_hash_sha512(sum, message, message_len);
		n = crypto_hash_sha512_BYTES;
	} else if (is(b->hash, b->n_hash, "sha256")) {
		(void)crypto_hash_sha256(sum, message, message_len);
		n = crypto_hash_sha256_BYTES;
	} else {
		return false;
	}
	ward_buf_puts(to, MAGIC);
	put_string(to, b->space, b->n_space);
	put_string(to, NULL, 0);
	put_string(to, b->hash, b->n_hash);
	put_string(to, sum, n);
	return true;
}

/* What the token signs, in place of `text`. */
static void put_token(struct ward_buf *to, const struct ward_approver_key *k,
	const struct ward_buf *text, const uint8_t *behind)
{
	uint8_t app[crypto_hash_sha256_BYTES], sum[crypto_hash_sha256_BYTES];
	(void)crypto_hash_sha256(app, (const uint8_t *)k->application, strlen(k->application));
	(void)crypto_hash_sha256(sum, (const uint8_t *)text->data, text->len);
	ward_buf_add(to, app, sizeof(app));
	ward_buf_add(to, behind, 5);
	ward_buf_add(to, sum, sizeof(sum));
}

static int check_signature(const struct blob *b, const struct ward_approver_key *k,
	const struct ward_buf *text, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf token = WARD_BUF_INIT;
	const uint8_t *p = b->signature, *type = NULL, *sig = NULL;
	size_t n = b->n_signature, n_type = 0, n_sig = 0;
	const bool sk = k->kind == WARD_APPROVER_SSH_SK;
	if (!ward_approver_string(&p, &n, &type, &n_type) ||
		!is(type, n_type, sk ? "sk-ssh-ed25519@openssh.com" : "ssh-ed25519") ||
		!ward_approver_string(&p, &n, &sig, &n_sig) || n_sig != crypto_sign_BYTES ||
		n != (sk ? 5 : 0))
		return ward_err_set(err, -EBADMSG, "the SSH signature cannot be understood");
	if (sk && !(p[0] & FLAG_PRESENT))
		return ward_err_set(err, -EKEYREJECTED,
			"nobody touched the token: its signature has no user presence");
	if (sk)
		put_token(&token, k, text, p);
	const struct ward_buf *over = sk ? &token : text;
	if (ward_buf_error(over) < 0)
		return ward_err_sys(err, -ENOMEM, "signature");
	if (crypto_sign_verify_detached(sig, (const uint8_t *)over->data, over->len, k->key) != 0)
		return ward_err_set(err, -EKEYREJECTED, "the SSH signature does not fit");
	return 0;
}

int ward_sshsig_check(const char *text, size_t len, const char *space, const void *message,
	size_t message_len, struct ward_approver_key *ret, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf over = WARD_BUF_INIT;
	uint8_t all[BLOB_MAX];
	struct blob b = {.n_key = 0};
	struct ward_approver_key key;
	size_t n = 0;
	if (!take_armor(text, len, all, &n) || !take_blob(all, n, &b))
		return ward_err_set(err, -EBADMSG, "the SSH signature cannot be understood");
	if (!ward_approver_key_blob(b.key, b.n_key, &key))
		return ward_err_set(err, -EBADMSG,
			"the SSH signature has another kind of key: sign with ssh-ed25519 or "
			"sk-ssh-ed25519");
	if (!is(b.space, b.n_space, space))
		return ward_err_set(err, -EKEYREJECTED,
			"the SSH signature is for another namespace: use 'ssh-keygen -Y sign -n %s'",
			space);
	if (!put_signed(&over, &b, message, message_len))
		return ward_err_set(err, -EBADMSG, "the SSH signature has an unknown hash");
	if (ward_buf_error(&over) < 0)
		return ward_err_sys(err, -ENOMEM, "signature");
	int r = check_signature(&b, &key, &over, err);
	if (r == 0)
		*ret = key;
	return r;
}
