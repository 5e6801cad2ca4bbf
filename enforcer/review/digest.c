/* SPDX-License-Identifier: Apache-2.0 */
/* What a person approves, as one number. */
#include <errno.h>
#include <nettle/sha2.h>
#include <stdio.h>
#include <stdlib.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/review/content.h"

#define PIECE (32U << 10) /* of text: two paths and numbers */

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

int ward_changes_digest(int dir_fd, struct ward_review_changes *c,
	char ret[WARD_REVIEW_DIGEST_SIZE], struct ward_err *err)
{
	ward_cleanup_free char *buf = malloc(PIECE);
	struct sha256_ctx all;
	uint8_t digest[SHA256_DIGEST_SIZE];
	if (!buf)
		return ward_err_sys(err, -ENOMEM, "staged changes");
	sha256_init(&all);
	for (size_t i = 0; i < c->n; i++) {
		struct ward_change *v = &c->v[i];
		const struct ward_review_base *b = &v->base;
		char name[32];
		snprintf(name, sizeof(name), "objects/%u", v->object);
		int r = v->object ? ward_content_digest(dir_fd, name, v->type, v->content) : 0;
		if (r < 0)
			return ward_err_sys(err, r, "staged content of %s", v->path);
		/* NUL cannot be in a path: no two lists of changes have one text. */
		int n = snprintf(buf, PIECE,
			"%s %zu %s%c%s%c%o %o %d:%llu:%llu:%llu:%o:%llu:%llu:%llu %s\n",
			ward_change_word(v->kind), v->root, v->path, 0, v->from ? v->from : "", 0,
			(unsigned)v->type, (unsigned)v->mode, v->has_base,
			(unsigned long long)b->dev, (unsigned long long)b->ino,
			(unsigned long long)b->btime_ns, b->mode, (unsigned long long)b->size,
			(unsigned long long)b->mtime_ns, (unsigned long long)b->ctime_ns,
			v->content);
		if (n < 0 || (unsigned)n >= PIECE)
			return ward_err_sys(err, -ENAMETOOLONG, "staged changes");
		sha256_update(&all, (size_t)n, (const uint8_t *)buf);
	}
	sha256_digest(&all, sizeof(digest), digest);
	for (size_t i = 0; i < sizeof(digest); i++)
		snprintf(ret + 2 * i, 3, "%02x", digest[i]);
	return 0;
}
