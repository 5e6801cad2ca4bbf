/* SPDX-License-Identifier: Apache-2.0 */
/* What a person approves, as one number. */
#include <errno.h>
#include <nettle/sha2.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

/* --- contents, by several threads --- */

/* With fewer changes a thread costs more than it saves. */
#define CHANGES_EACH 2000U
#define THREADS_MAX 8U

struct share {
	int dir_fd;
	struct ward_review_changes *c;
	size_t first, end; /* of the changes; no two threads have one in common */
	size_t failed;	   /* which one; nothing was done behind it */
	int error;
	pthread_t thread;
	bool runs;
};

static void *digest_share(void *arg)
{
	struct share *s = arg;
	for (size_t i = s->first; s->error == 0 && i < s->end; i++) {
		struct ward_change *v = &s->c->v[i];
		char name[32];
		snprintf(name, sizeof(name), "objects/%u", v->object);
		if (!v->object)
			continue;
		s->failed = i;
		struct ward_content_digests d;
		s->error = ward_content_digest_all(s->dir_fd, name, v->type, &d);
		if (s->error == 0) {
			memcpy(v->content, d.content, sizeof(d.content));
			memcpy(v->attributes, d.attributes, sizeof(d.attributes));
		}
	}
	return NULL;
}

static int digest_contents(int dir_fd, struct ward_review_changes *c, struct ward_err *err)
{
	struct share shares[THREADS_MAX];
	const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	size_t n = c->n / CHANGES_EACH + 1;
	n = cpus > 0 && n > (size_t)cpus ? (size_t)cpus : n;
	n = n > THREADS_MAX ? THREADS_MAX : n;
	for (size_t i = 0; i < n; i++) {
		shares[i] = (struct share){
			.dir_fd = dir_fd, .c = c, .first = c->n * i / n, .end = c->n * (i + 1) / n};
		/* A thread has the file system's ids of the one that makes it. */
		shares[i].runs = i + 1 < n && pthread_create(&shares[i].thread, NULL, digest_share,
						      &shares[i]) == 0;
		if (!shares[i].runs)
			digest_share(&shares[i]);
	}
	int r = 0;
	for (size_t i = 0; i < n; i++) {
		if (shares[i].runs)
			pthread_join(shares[i].thread, NULL);
		if (r == 0 && shares[i].error)
			r = ward_err_sys(err, shares[i].error, "staged content of %s",
				c->v[shares[i].failed].path);
	}
	return r;
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
