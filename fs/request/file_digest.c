/* SPDX-License-Identifier: Apache-2.0 */
/* Makes digests of files, and keeps them as long as the file is unchanged. */
#include "fs/request/file_digest.h"

#include <errno.h>
#include <fcntl.h>
#include <nettle/sha2.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"
#include "fs/kernel/backing.h"

#define CHUNK ((size_t)256 << 10)
/*
 * Time stamps of the backing come in steps (a jiffy on most file systems, two seconds at worst): a
 * change this soon after the digest may have left them as they were.
 */
#define TICK_NS (UINT64_C(2) * WARD_NS_PER_SEC)

struct ward_node_digest {
	uint8_t sha256[WARD_DIGEST_BYTES];
	uint64_t size, mtime_ns, ctime_ns;
};

static uint64_t ns_of(const struct timespec *t)
{
	return (uint64_t)t->tv_sec * WARD_NS_PER_SEC + (uint64_t)t->tv_nsec;
}

bool ward_digest_wanted(const struct ward_fs *fs, int acc)
{
	switch (fs->hash) {
	case WARD_HASH_ALL:
		return true;
	case WARD_HASH_WRITES:
		return acc != O_RDONLY;
	case WARD_HASH_NONE:
		return false;
	}
	return true;
}

static bool same(const struct ward_node_digest *d, const struct stat *st)
{
	return d->size == (uint64_t)st->st_size && d->mtime_ns == ns_of(&st->st_mtim) &&
	       d->ctime_ns == ns_of(&st->st_ctim);
}

static bool recall(struct ward_fs_tree *tree, const struct ward_handle *h, const struct stat *st,
	struct ward_digest *ret)
{
	bool known;

	pthread_mutex_lock(&tree->nodes->lock);
	known = h->node->digest && same(h->node->digest, st);
	if (known)
		memcpy(ret->sha256, h->node->digest->sha256, sizeof(ret->sha256));
	pthread_mutex_unlock(&tree->nodes->lock);
	return known;
}

static void keep(struct ward_fs_tree *tree, const struct ward_handle *h, const struct stat *st,
	const uint8_t sha256[WARD_DIGEST_BYTES])
{
	struct ward_node_digest *d;

	pthread_mutex_lock(&tree->nodes->lock);
	d = h->node->digest;
	if (!d)
		d = h->node->digest = malloc(sizeof(*d));
	/* Without memory it will be made again. */
	if (d) {
		*d = (struct ward_node_digest){.size = (uint64_t)st->st_size,
			.mtime_ns = ns_of(&st->st_mtim),
			.ctime_ns = ns_of(&st->st_ctim)};
		memcpy(d->sha256, sha256, sizeof(d->sha256));
	}
	pthread_mutex_unlock(&tree->nodes->lock);
}

/* The file of fd, up to WARD_DIGEST_MAX bytes: it may grow meanwhile. */
static int pass(int fd, uint8_t ret[WARD_DIGEST_BYTES])
{
	ward_cleanup_free uint8_t *buf = malloc(CHUNK);
	struct sha256_ctx ctx;
	uint64_t at = 0;

	if (!buf)
		return -ENOMEM;
	sha256_init(&ctx);
	for (;;) {
		ssize_t n = pread(fd, buf, CHUNK, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		at += (uint64_t)n;
		if (at > WARD_DIGEST_MAX)
			return -EFBIG;
		sha256_update(&ctx, (size_t)n, buf);
	}
	sha256_digest(&ctx, WARD_DIGEST_BYTES, ret);
	return 0;
}

static const char *reason(int r)
{
	switch (r) {
	case -EFBIG:
		return "no digest: larger than 1 GiB";
	case -EACCES:
	case -EPERM:
		return "no digest: the owner may not read the file";
	default:
		return "no digest: the file could not be read";
	}
}

void ward_digest_make(
	struct ward_fs_tree *tree, const struct ward_handle *h, struct ward_digest *ret)
{
	struct ward_digest d = {.asked = true};
	ward_cleanup_fd int own = -1;
	uint64_t before;
	struct stat st, after;
	int r = fstat(h->fd, &st) < 0 ? -errno : 0;

	d.size = r == 0 ? (uint64_t)st.st_size : 0;
	d.sized = r == 0;
	if (r == 0 && recall(tree, h, &st, &d)) {
		d.known = true;
		*ret = d;
		return;
	}
	if (r == 0 && d.size > WARD_DIGEST_MAX)
		r = -EFBIG;
	if (r == 0 && (h->flags & O_ACCMODE) == O_WRONLY)
		r = ward_backing_reopen(h->fd, O_RDONLY, &own);
	before = ward_clock_real_ns();
	if (r == 0)
		r = pass(own >= 0 ? own : h->fd, d.sha256);
	d.known = r == 0;
	d.why = r == 0 ? NULL : reason(r);
	/* Kept only if nothing changed while it was made, nor could without a trace. */
	if (r == 0 && ns_of(&st.st_ctim) + TICK_NS < before && fstat(h->fd, &after) == 0 &&
		st.st_size == after.st_size && ns_of(&st.st_ctim) == ns_of(&after.st_ctim) &&
		ns_of(&st.st_mtim) == ns_of(&after.st_mtim))
		keep(tree, h, &st, d.sha256);
	*ret = d;
}
