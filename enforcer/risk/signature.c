/* SPDX-License-Identifier: Apache-2.0 */
#include "enforcer/risk/signature.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "enforcer/base/buf.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/policy/signer.h"

#define ALGORITHM_BYTES 2U
#define UNTRUSTED "untrusted comment: "
#define TRUSTED "trusted comment: "
#define DIGEST_BYTES 64U /* BLAKE2b-512 */

static const char *const suffixes[] = {".minisig", ".sig"};
#define FILES (sizeof(suffixes) / sizeof(suffixes[0]))

/* One file, as far as it can be judged without the program. */
struct one {
	struct ward_signed is;
	bool open; /* the program's bytes decide */
	bool hashed;
	uint8_t key[WARD_SIGNER_KEY_BYTES];
	uint8_t signature[crypto_sign_BYTES];
};

struct ward_signature {
	struct one v[FILES];
	bool pure, hashed; /* what the open ones need */
	uint8_t *bytes;
	size_t n, cap;
	crypto_generichash_state state;
};

static void ward_signature_freep(struct ward_signature **s)
{
	ward_signature_free(*s);
}

/* --- the file --- */

/* The next line, without its newline. false: there is none, or a byte that no line has. */
static bool take_line(const char **p, const char *end, const char **ret, size_t *ret_n)
{
	const char *newline = *p < end ? memchr(*p, '\n', (size_t)(end - *p)) : NULL;
	if (!newline || memchr(*p, '\0', (size_t)(newline - *p)))
		return false;
	*ret = *p;
	*ret_n = (size_t)(newline - *p);
	*p = newline + 1;
	return true;
}

static bool begins(const char *line, size_t n, const char *with)
{
	return n >= strlen(with) && memcmp(line, with, strlen(with)) == 0;
}

struct parsed {
	uint8_t algorithm[ALGORITHM_BYTES];
	uint8_t id[WARD_SIGNER_ID_BYTES];
	uint8_t signature[crypto_sign_BYTES];
	/* minisign's second half: the signature above and the comment behind it */
	bool has_comment;
	uint8_t signed_comment[crypto_sign_BYTES + WARD_SIGNATURE_FILE_MAX];
	size_t signed_comment_n;
	uint8_t comment_signature[crypto_sign_BYTES];
};

static bool parse(const char *p, size_t len, struct parsed *ret)
{
	uint8_t all[ALGORITHM_BYTES + WARD_SIGNER_ID_BYTES + crypto_sign_BYTES];
	const char *end = p + len;
	const char *line = NULL;
	size_t n = 0;
	if (!take_line(&p, end, &line, &n) || !begins(line, n, UNTRUSTED) ||
		!take_line(&p, end, &line, &n) || !ward_signer_base64(line, n, all, sizeof(all)))
		return false;
	memcpy(ret->algorithm, all, sizeof(ret->algorithm));
	memcpy(ret->id, all + ALGORITHM_BYTES, sizeof(ret->id));
	memcpy(ret->signature, all + ALGORITHM_BYTES + sizeof(ret->id), sizeof(ret->signature));
	ret->has_comment = p < end;
	if (!ret->has_comment)
		return true;
	if (!take_line(&p, end, &line, &n) || !begins(line, n, TRUSTED))
		return false;
	n -= strlen(TRUSTED);
	memcpy(ret->signed_comment, ret->signature, sizeof(ret->signature));
	memcpy(ret->signed_comment + sizeof(ret->signature), line + strlen(TRUSTED), n);
	ret->signed_comment_n = sizeof(ret->signature) + n;
	return take_line(&p, end, &line, &n) &&
	       ward_signer_base64(
		       line, n, ret->comment_signature, sizeof(ret->comment_signature)) &&
	       p == end;
}

static bool find_key(
	const struct ward_strings *signers, const uint8_t *id, uint8_t key[WARD_SIGNER_KEY_BYTES])
{
	for (size_t i = 0; i < signers->n; i++) {
		struct ward_signer s;
		/* Each was checked when the policy was loaded. */
		if (ward_signer_parse(signers->v[i], &s, NULL) < 0 ||
			memcmp(s.id, id, sizeof(s.id)) != 0)
			continue;
		memcpy(key, s.key, sizeof(s.key));
		return true;
	}
	return false;
}

static void bad(struct one *o, const char *why)
{
	o->open = false;
	o->is.state = WARD_SIGNED_BAD;
	o->is.why = why;
}

static void judge(const struct ward_strings *signers, const struct ward_buf *text, uint64_t size,
	struct one *o)
{
	struct parsed p;
	if (!text->len || !parse(text->data, text->len, &p)) {
		bad(o, "no signature of minisign or signify");
		return;
	}
	ward_signer_name(p.id, o->is.signer);
	o->hashed = memcmp(p.algorithm, "ED", sizeof(p.algorithm)) == 0;
	if (!o->hashed && memcmp(p.algorithm, "Ed", sizeof(p.algorithm)) != 0) {
		bad(o, "an algorithm that wardfs does not support");
		return;
	}
	if (!find_key(signers, p.id, o->key)) {
		o->is.state = WARD_SIGNED_FOREIGN;
		return;
	}
	/* Only signify has no second half, and it signs the program itself. */
	if (p.has_comment ? crypto_sign_verify_detached(p.comment_signature, p.signed_comment,
				    p.signed_comment_n, o->key) != 0
			  : o->hashed) {
		bad(o, "its comment is not the signer's");
		return;
	}
	if (size > (o->hashed ? WARD_SIGNATURE_PROGRAM_MAX : WARD_SIGNATURE_PURE_MAX)) {
		bad(o, "the program is too large to check");
		return;
	}
	memcpy(o->signature, p.signature, sizeof(o->signature));
	o->open = true;
}

/* 1: there is a file of this name; 0. */
static int look(const struct ward_strings *signers, const char *path, uint64_t size, struct one *o)
{
	ward_cleanup(ward_buf_clear) struct ward_buf text = WARD_BUF_INIT;
	ward_cleanup_fd int top = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (top < 0)
		return -errno;
	ward_cleanup_fd int fd = ward_fd_open_beneath(top, path + strspn(path, "/"));
	if (fd == -ENOENT)
		return 0;
	if (fd == -ENOMEM)
		return fd;
	if (fd < 0) {
		bad(o, fd == -ELOOP	? "a link"
			: fd == -EINVAL ? "no regular file"
					: "it cannot be read");
		return 1;
	}
	int r = ward_fd_read_all(fd, WARD_SIGNATURE_FILE_MAX, &text);
	if (r == -ENOMEM)
		return r;
	if (r < 0)
		bad(o, r == -EFBIG ? "larger than 4 KiB" : "it cannot be read");
	else
		judge(signers, &text, size, o);
	return 1;
}

int ward_signature_open(const struct ward_strings *signers, const char *path, uint64_t size,
	struct ward_signature **ret)
{
	ward_cleanup(ward_signature_freep) struct ward_signature *s = NULL;
	bool any = false;
	*ret = NULL;
	if (!signers || signers->n == 0)
		return 0;
	if (sodium_init() < 0)
		return -ENOSYS;
	s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	for (size_t i = 0; i < FILES; i++) {
		ward_cleanup_free char *name = NULL;
		if (asprintf(&name, "%s%s", path, suffixes[i]) < 0)
			return -ENOMEM;
		s->v[i].is.suffix = suffixes[i];
		int r = look(signers, name, size, &s->v[i]);
		if (r < 0)
			return r;
		any |= r > 0;
		s->pure |= s->v[i].open && !s->v[i].hashed;
		s->hashed |= s->v[i].open && s->v[i].hashed;
	}
	if (s->hashed)
		(void)crypto_generichash_init(&s->state, NULL, 0, DIGEST_BYTES);
	if (any)
		*ret = ward_steal_ptr(&s);
	return 0;
}

/* --- the program --- */

bool ward_signature_wants(const struct ward_signature *s)
{
	return s && (s->pure || s->hashed);
}

int ward_signature_update(struct ward_signature *s, const uint8_t *p, size_t n)
{
	if (!s)
		return 0;
	if (s->hashed)
		(void)crypto_generichash_update(&s->state, p, n);
	/* A program that grows while it is read has no end: it is not whole, and not signed. */
	if (!s->pure || s->n + n > WARD_SIGNATURE_PURE_MAX)
		return 0;
	if (s->n + n > s->cap) {
		size_t cap = s->cap ? 2 * s->cap : 65536;
		while (cap < s->n + n)
			cap *= 2;
		uint8_t *more = realloc(s->bytes, cap);
		if (!more)
			return -ENOMEM;
		s->bytes = more;
		s->cap = cap;
	}
	memcpy(s->bytes + s->n, p, n);
	s->n += n;
	return 0;
}

static void decide(struct ward_signature *s, const uint8_t *digest, bool whole, struct one *o)
{
	const uint8_t *p = o->hashed ? digest : s->bytes;
	if (!whole)
		bad(o, "the program cannot be read");
	else if (crypto_sign_verify_detached(
			 o->signature, p, o->hashed ? DIGEST_BYTES : s->n, o->key) != 0)
		bad(o, "the program is not what was signed");
	else
		o->is.state = WARD_SIGNED_GOOD;
}

void ward_signature_end(struct ward_signature *s, bool whole, struct ward_signed *ret)
{
	uint8_t digest[DIGEST_BYTES] = {0};
	*ret = (struct ward_signed){.state = WARD_SIGNED_NONE};
	if (!s)
		return;
	if (s->hashed)
		(void)crypto_generichash_final(&s->state, digest, sizeof(digest));
	for (size_t i = 0; i < FILES; i++) {
		if (s->v[i].open)
			decide(s, digest, whole, &s->v[i]);
		/* Of two files the bad one counts, whatever the other says. */
		if (s->v[i].is.state > ret->state)
			*ret = s->v[i].is;
	}
}

void ward_signature_free(struct ward_signature *s)
{
	if (!s)
		return;
	free(s->bytes);
	free(s);
}
