/* SPDX-License-Identifier: Apache-2.0 */
/* What a person approves, as one number. */
#include <errno.h>
#include <nettle/sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/review/content.h"
#include "enforcer/review/shares.h"

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

/* --- contents, by several threads --- */

/* With fewer changes a thread costs more than it saves. */
#define CHANGES_EACH 2000U

struct digesting {
	int dir_fd;
	struct ward_review_changes *c;
	unsigned shares;
	/* Of each share, which one failed, and how; nothing was done behind it. */
	size_t failed[WARD_SHARES_MAX];
	int error[WARD_SHARES_MAX];
};

static void digest_share(void *arg, unsigned k)
{
	struct digesting *d = arg;
	const size_t end = ward_shares_at(d->c->n, d->shares, k + 1);
	for (size_t i = ward_shares_at(d->c->n, d->shares, k); d->error[k] == 0 && i < end; i++) {
		struct ward_change *v = &d->c->v[i];
		char name[32];
		snprintf(name, sizeof(name), "objects/%u", v->object);
		if (!v->object)
			continue;
		d->failed[k] = i;
		struct ward_content_digests has;
		d->error[k] = ward_content_digest_all(d->dir_fd, name, v->type, &has);
		if (d->error[k] == 0) {
			memcpy(v->content, has.content, sizeof(has.content));
			memcpy(v->attributes, has.attributes, sizeof(has.attributes));
		}
	}
}

static int digest_contents(int dir_fd, struct ward_review_changes *c, struct ward_err *err)
{
	struct digesting d = {
		.dir_fd = dir_fd, .c = c, .shares = ward_shares_count(c->n, CHANGES_EACH, 1)};
	ward_shares_run(d.shares, digest_share, &d);
	for (unsigned k = 0; k < d.shares; k++)
		if (d.error[k])
			return ward_err_sys(
				err, d.error[k], "staged content of %s", c->v[d.failed[k]].path);
	return 0;
}

int ward_changes_digest(int dir_fd, struct ward_review_changes *c,
	char ret[WARD_REVIEW_DIGEST_SIZE], struct ward_err *err)
{
	ward_cleanup_free char *buf = malloc(PIECE);
	struct sha256_ctx all;
	uint8_t digest[SHA256_DIGEST_SIZE];
	if (!buf)
		return ward_err_sys(err, -ENOMEM, "staged changes");
	int r = digest_contents(dir_fd, c, err);
	if (r < 0)
		return r;
	sha256_init(&all);
	for (size_t i = 0; i < c->n; i++) {
		const struct ward_change *v = &c->v[i];
		const struct ward_review_base *b = &v->base;
		/* NUL cannot be in a path: no two lists of changes have one text. */
		int n = snprintf(buf, PIECE,
			"%s %zu %s%c%s%c%o %o %d:%llu:%llu:%llu:%o:%llu:%llu:%llu %s%s%s\n",
			ward_change_word(v->kind), v->root, v->path, 0, v->from ? v->from : "", 0,
			(unsigned)v->type, (unsigned)v->mode, v->has_base,
			(unsigned long long)b->dev, (unsigned long long)b->ino,
			(unsigned long long)b->btime_ns, b->mode, (unsigned long long)b->size,
			(unsigned long long)b->mtime_ns, (unsigned long long)b->ctime_ns,
			v->content, *v->attributes ? " " : "", v->attributes);
		if (n < 0 || (unsigned)n >= PIECE)
			return ward_err_sys(err, -ENAMETOOLONG, "staged changes");
		sha256_update(&all, (size_t)n, (const uint8_t *)buf);
	}
	sha256_digest(&all, sizeof(digest), digest);
	for (size_t i = 0; i < sizeof(digest); i++)
		snprintf(ret + 2 * i, 3, "%02x", digest[i]);
	return 0;
}
