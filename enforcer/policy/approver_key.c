/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and names public keys of approvers. Pure. */
#include "enforcer/policy/approver_key.h"

#include <assert.h>
#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "enforcer/policy/internal.h"
#include "enforcer/policy/signer.h"

#define SSH "ssh-ed25519"
#define SSH_SK "sk-ssh-ed25519@openssh.com"
/* Bytes of a key of OpenSSH: two or three strings. */
#define BLOB_MAX (3 * 4 + sizeof(SSH_SK) + WARD_APPROVER_KEY_BYTES + WARD_APPROVER_APPLICATION_MAX)

static_assert(WARD_APPROVER_KEY_BYTES == crypto_sign_PUBLICKEYBYTES, "Ed25519");

bool ward_approver_string(const uint8_t **p, size_t *n, const uint8_t **ret, size_t *ret_len)
{
	if (*n < 4)
		return false;
	const size_t len =
		(size_t)(*p)[0] << 24 | (size_t)(*p)[1] << 16 | (size_t)(*p)[2] << 8 | (*p)[3];
	if (len > *n - 4)
		return false;
	*ret = *p + 4;
	*ret_len = len;
	*p += 4 + len;
	*n -= 4 + len;
	return true;
}

static bool is(const uint8_t *p, size_t n, const char *text)
{
	return n == strlen(text) && memcmp(p, text, n) == 0;
}

static void name_blob(const uint8_t *p, size_t n, char ret[WARD_APPROVER_NAME_MAX])
{
	uint8_t sum[crypto_hash_sha256_BYTES];
	(void)crypto_hash_sha256(sum, p, n);
	memcpy(ret, "SHA256:", 7);
	(void)sodium_bin2base64(ret + 7, WARD_APPROVER_NAME_MAX - 7, sum, sizeof(sum),
		sodium_base64_VARIANT_ORIGINAL_NO_PADDING);
}

bool ward_approver_key_blob(const uint8_t *p, size_t n, struct ward_approver_key *ret)
{
	struct ward_approver_key k = {.kind = WARD_APPROVER_NONE};
	const uint8_t *all = p, *type = NULL, *key = NULL, *app = NULL;
	const size_t n_all = n;
	size_t n_type = 0, n_key = 0, n_app = 0;
	if (!ward_approver_string(&p, &n, &type, &n_type) ||
		!ward_approver_string(&p, &n, &key, &n_key) || n_key != sizeof(k.key))
		return false;
	k.kind = is(type, n_type, SSH)	    ? WARD_APPROVER_SSH
		 : is(type, n_type, SSH_SK) ? WARD_APPROVER_SSH_SK
					    : WARD_APPROVER_NONE;
	if (k.kind == WARD_APPROVER_NONE)
		return false;
	/* The text of the policy has it as a name: no NUL. */
	if (k.kind == WARD_APPROVER_SSH_SK &&
		(!ward_approver_string(&p, &n, &app, &n_app) || n_app == 0 ||
			n_app >= sizeof(k.application) || memchr(app, '\0', n_app)))
		return false;
	if (n != 0)
		return false;
	memcpy(k.key, key, n_key);
	if (n_app)
		memcpy(k.application, app, n_app);
	name_blob(all, n_all, k.name);
	*ret = k;
	return true;
}

/* "TYPE BASE64[ COMMENT]"; the type in front is the one inside. */
static bool parse_ssh(const char *text, const char *type, struct ward_approver_key *ret)
{
	uint8_t blob[BLOB_MAX];
	char again[sodium_base64_ENCODED_LEN(BLOB_MAX, sodium_base64_VARIANT_ORIGINAL)];
	const char *base64 = text + strlen(type) + 1;
	const size_t len = strcspn(base64, " \t");
	size_t n = 0;
	if (len >= sizeof(again) || sodium_base642bin(blob, sizeof(blob), base64, len, NULL, &n,
					    NULL, sodium_base64_VARIANT_ORIGINAL) != 0)
		return false;
	/* One spelling only. */
	(void)sodium_bin2base64(again, sizeof(again), blob, n, sodium_base64_VARIANT_ORIGINAL);
	return strlen(again) == len && memcmp(again, base64, len) == 0 &&
	       ward_approver_key_blob(blob, n, ret) &&
	       (ret->kind == WARD_APPROVER_SSH) == (strcmp(type, SSH) == 0);
}

/* NAME+ID+KEY: 16 and 8 hexadecimal digits, and base64 of 33 bytes. */
static bool parse_wardfs(const char *text, struct ward_approver_key *ret)
{
	static const char hex[] = "0123456789abcdef";
	uint8_t all[1 + WARD_APPROVER_KEY_BYTES];
	if (strlen(text) != 7 + 16 + 1 + 8 + 1 + 44 || strspn(text + 7, hex) != 16 ||
		text[23] != '+' || strspn(text + 24, hex) != 8 || text[32] != '+' ||
		!ward_signer_base64(text + 33, 44, all, sizeof(all)) || all[0] != 1)
		return false;
	*ret = (struct ward_approver_key){.kind = WARD_APPROVER_WARDFS};
	memcpy(ret->key, all + 1, sizeof(ret->key));
	memcpy(ret->name, text, 23);
	return true;
}

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

int ward_approver_key_parse(const char *text, struct ward_approver_key *ret, struct ward_err *err)
{
	struct ward_approver_key k = {.kind = WARD_APPROVER_NONE};
	const bool ok = begins(text, "wardfs/") ? parse_wardfs(text, &k)
			: begins(text, SSH " ")
				? parse_ssh(text, SSH, &k)
				: begins(text, SSH_SK " ") && parse_ssh(text, SSH_SK, &k);
	if (ok)
		*ret = k;
	return ok ? 0
		  : ward_err_set(err, -EINVAL,
			    "'%.90s' is no public key: write one as 'wardfs token key FILE' prints "
			    "it, or an Ed25519 key of OpenSSH as its file .pub has it",
			    text);
}

bool ward_approver_key_equal(const struct ward_approver_key *a, const struct ward_approver_key *b)
{
	return a->kind != WARD_APPROVER_NONE && a->kind == b->kind &&
	       memcmp(a->key, b->key, sizeof(a->key)) == 0 &&
	       strcmp(a->application, b->application) == 0;
}

/* struct ward_key_does, key_types.c */
int ward_parse_approver(
	const struct ward_key *k, const char *value, uint64_t *number, struct ward_err *err)
{
	struct ward_approver_key key;
	(void)k;
	*number = 0;
	return ward_approver_key_parse(value, &key, err);
}

int ward_parse_approvers(
	const struct ward_key *k, const char *value, uint64_t *number, struct ward_err *err)
{
	(void)k;
	if (strlen(value) != 1 || *value < '0' || *value > '0' + (char)WARD_APPROVERS_MAX)
		return ward_err_set(err, -EINVAL, "'%.20s': write a number from 0 to %u", value,
			WARD_APPROVERS_MAX);
	*number = (uint64_t)(*value - '0');
	return 0;
}
