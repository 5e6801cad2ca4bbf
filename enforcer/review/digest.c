/* SPDX-License-Identifier: Apache-2.0 */
/* What a person approves, as one number. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <nettle/sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/review/review.h"

#define PIECE (256U << 10)

const char *ward_change_word(enum ward_change_kind kind)
{
	switch (kind) {
	case WARD_CHANGE_NONE:
		return "none";
	case WARD_CHANGE_ADDED:
		return "added";
	case WARD_CHANGE_MODIFIED:
		return "changed";
	case WARD_CHANGE_MODE:
		return "permissions";
	case WARD_CHANGE_REMOVED:
		return "removed";
	case WARD_CHANGE_RENAMED:
		return "renamed";
	case WARD_CHANGE_LINKED:
		return "linked";
	}
	return "?";
}

static int hash_object(int dir_fd, const struct ward_change *c, char *buf, struct sha256_ctx *all)
{
	char name[32];
	struct sha256_ctx own;
	uint8_t digest[SHA256_DIGEST_SIZE];
	snprintf(name, sizeof(name), "objects/%u", c->object);
	sha256_init(&own);
	if (S_ISLNK(c->type)) {
		ssize_t n = readlinkat(dir_fd, name, buf, PIECE);
		if (n < 0)
			return -errno;
		sha256_update(&own, (size_t)n, (const uint8_t *)buf);
	} else if (S_ISREG(c->type)) {
		ward_cleanup_fd int fd =
			openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
		if (fd < 0)
			return -errno;
		for (ssize_t n; (n = read(fd, buf, PIECE)) != 0;) {
			if (n < 0 && errno == EINTR)
				continue;
			if (n < 0)
				return -errno;
			sha256_update(&own, (size_t)n, (const uint8_t *)buf);
		}
	}
	sha256_digest(&own, sizeof(digest), digest);
	sha256_update(all, sizeof(digest), digest);
	return 0;
}

int ward_changes_digest(int dir_fd, const struct ward_review_changes *c,
	char ret[WARD_REVIEW_DIGEST_SIZE], struct ward_err *err)
{
	ward_cleanup_free char *buf = malloc(PIECE);
	struct sha256_ctx all;
	uint8_t digest[SHA256_DIGEST_SIZE];
	if (!buf)
		return ward_err_sys(err, -ENOMEM, "staged changes");
	sha256_init(&all);
	for (size_t i = 0; i < c->n; i++) {
		const struct ward_change *v = &c->v[i];
		const struct ward_review_base *b = &v->base;
		/* NUL cannot be in a path: no two lists of changes have one text. */
		int n = snprintf(buf, PIECE,
			"%s %zu %s%c%s%c%o %o %d:%llu:%llu:%llu:%o:%llu:%llu:%llu\n",
			ward_change_word(v->kind), v->root, v->path, 0, v->from ? v->from : "", 0,
			(unsigned)v->type, (unsigned)v->mode, v->has_base,
			(unsigned long long)b->dev, (unsigned long long)b->ino,
			(unsigned long long)b->btime_ns, b->mode, (unsigned long long)b->size,
			(unsigned long long)b->mtime_ns, (unsigned long long)b->ctime_ns);
		if (n < 0 || (unsigned)n >= PIECE)
			return ward_err_sys(err, -ENAMETOOLONG, "staged changes");
		sha256_update(&all, (size_t)n, (const uint8_t *)buf);
		int r = v->object ? hash_object(dir_fd, v, buf, &all) : 0;
		if (r < 0)
			return ward_err_sys(err, r, "staged content of %s", v->path);
	}
	sha256_digest(&all, sizeof(digest), digest);
	for (size_t i = 0; i < sizeof(digest); i++)
		snprintf(ret + 2 * i, 3, "%02x", digest[i]);
	return 0;
}
