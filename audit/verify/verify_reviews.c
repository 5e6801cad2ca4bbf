/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the files review.N of a session with the ledger. */
#include "audit/verify/verify_reviews.h"

#include <errno.h>
#include <fcntl.h>
#include <nettle/sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"

#define PIECE (64U << 10)

int ward_verify_take_review(struct ward_ledger_session *s, json_t *entry)
{
	if (!s->review_entries)
		s->review_entries = json_array();
	if (json_array_append(s->review_entries, entry) < 0)
		return -ENOMEM;
	const char *digest = json_string_value(json_object_get(entry, "digest"));
	const json_int_t n = json_integer_value(json_object_get(entry, "file"));
	if (!digest || n < 1 || n > UINT32_MAX)
		return 0;
	struct ward_ledger_review_file *v = reallocarray(s->reviews, s->n_reviews + 1, sizeof(*v));
	if (!v)
		return -ENOMEM;
	s->reviews = v;
	v[s->n_reviews].n = (unsigned)n;
	snprintf(v[s->n_reviews].digest, sizeof(v->digest), "%s", digest);
	s->n_reviews++;
	return 0;
}

/* -ENOENT: there is none. -EFBIG: it is no file. */
static int digest_of(int dir_fd, const char *name, char ret[WARD_REVIEW_FILE_DIGEST])
{
	struct sha256_ctx hash;
	uint8_t digest[SHA256_DIGEST_SIZE];
	ward_cleanup_fd int fd = ward_fd_open_regular(dir_fd, name, O_RDONLY);
	ward_cleanup_free uint8_t *buf = malloc(PIECE);
	if (fd < 0)
		return fd == -EINVAL || fd == -ELOOP ? -EFBIG : fd;
	if (!buf)
		return -ENOMEM;
	sha256_init(&hash);
	for (ssize_t n; (n = read(fd, buf, PIECE)) != 0;) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		sha256_update(&hash, (size_t)n, buf);
	}
	sha256_digest(&hash, sizeof(digest), digest);
	for (size_t i = 0; i < sizeof(digest); i++)
		snprintf(ret + 2 * i, 3, "%02x", digest[i]);
	return 0;
}

int ward_verify_reviews(int dir_fd, const struct ward_ledger_session *known,
	struct ward_verify_result *ret, struct ward_err *err)
{
	for (size_t i = 0; known && i < known->n_reviews; i++) {
		char name[24], have[WARD_REVIEW_FILE_DIGEST] = "";
		if (ret->state != WARD_VERIFY_INTACT && ret->state != WARD_VERIFY_GAP &&
			ret->state != WARD_VERIFY_INCOMPLETE)
			return 0;
		snprintf(name, sizeof(name), "review.%u", known->reviews[i].n);
		int r = digest_of(dir_fd, name, have);
		if (r == -ENOENT)
			ward_verify_say(ret, WARD_VERIFY_DELETED, 0,
				"the file %s, of which the ledger knows, is missing", name);
		else if (r < 0 && r != -EFBIG)
			return ward_err_sys(err, r, "%s", name);
		else if (strcmp(have, known->reviews[i].digest) != 0)
			ward_verify_say(ret, WARD_VERIFY_EDITED, 0,
				"the file %s is not the one that the ledger knows", name);
	}
	return 0;
}

int ward_review_file_read(int dir_fd, const json_t *entry, size_t max, struct ward_buf *ret)
{
	const char *want = json_string_value(json_object_get(entry, "digest"));
	char name[32], have[WARD_REVIEW_FILE_DIGEST];
	uint8_t digest[SHA256_DIGEST_SIZE];
	struct sha256_ctx hash;
	snprintf(name, sizeof(name), "review.%u",
		(unsigned)json_integer_value(json_object_get(entry, "file")));
	ward_cleanup_fd int fd = ward_fd_open_regular(dir_fd, name, O_RDONLY);
	int r = fd < 0 ? fd : ward_fd_read_all(fd, max, ret);
	if (r < 0)
		return r;
	sha256_init(&hash);
	sha256_update(&hash, ret->len, (const uint8_t *)ward_buf_str(ret));
	sha256_digest(&hash, sizeof(digest), digest);
	for (size_t i = 0; i < sizeof(digest); i++)
		snprintf(have + 2 * i, 3, "%02x", digest[i]);
	return want && strcmp(have, want) == 0 ? 0 : -EBADMSG;
}
