/* SPDX-License-Identifier: Apache-2.0 */
/* Computes the hash tree over the lines of a trail, and checks proofs in it. */
#include "audit/log/merkle.h"

#include <assert.h>
#include <errno.h>
#include <nettle/sha2.h>
#include <string.h>

static_assert(WARD_HASH_BYTES == SHA256_DIGEST_SIZE, "SHA-256");

void ward_merkle_leaf(const void *data, size_t len, uint8_t ret[WARD_HASH_BYTES])
{
	static const uint8_t prefix = 0;
	struct sha256_ctx st;
	sha256_init(&st);
	sha256_update(&st, 1, &prefix);
	sha256_update(&st, len, data);
	sha256_digest(&st, WARD_HASH_BYTES, ret);
}

static void hash(const uint8_t *p, size_t len, uint8_t ret[WARD_HASH_BYTES])
{
	struct sha256_ctx st;
	sha256_init(&st);
	sha256_update(&st, len, p);
	sha256_digest(&st, WARD_HASH_BYTES, ret);
}

/* ret may be one of the two. */
static void node(const uint8_t left[WARD_HASH_BYTES], const uint8_t right[WARD_HASH_BYTES],
	uint8_t ret[WARD_HASH_BYTES])
{
	uint8_t in[1 + 2 * WARD_HASH_BYTES] = {1};
	memcpy(in + 1, left, WARD_HASH_BYTES);
	memcpy(in + 1 + WARD_HASH_BYTES, right, WARD_HASH_BYTES);
	hash(in, sizeof(in), ret);
}

void ward_merkle_add_seen(struct ward_merkle *m, const uint8_t leaf[WARD_HASH_BYTES],
	ward_merkle_seen_fn *fn, void *ctx)
{
	uint8_t h[WARD_HASH_BYTES];
	unsigned k = 0;
	memcpy(h, leaf, sizeof(h));
	for (;; k++) {
		if (fn)
			fn(ctx, m->n + 1 - (UINT64_C(1) << k), m->n + 1, h);
		if (!(m->n >> k & 1))
			break;
		node(m->h[k], h, h);
	}
	memcpy(m->h[k], h, sizeof(h));
	m->n++;
}

void ward_merkle_add(struct ward_merkle *m, const uint8_t leaf[WARD_HASH_BYTES])
{
	ward_merkle_add_seen(m, leaf, NULL, NULL);
}

void ward_merkle_tail(const struct ward_merkle *m, uint64_t from, uint8_t ret[WARD_HASH_BYTES])
{
	/* Behind such a leaf come the subtrees of the lower bits of n. */
	struct ward_merkle tail = *m;
	tail.n = m->n - from;
	ward_merkle_root(&tail, ret);
}

void ward_merkle_root(const struct ward_merkle *m, uint8_t ret[WARD_HASH_BYTES])
{
	bool any = false;
	hash(NULL, 0, ret);
	for (unsigned k = 0; k < 64; k++) {
		if (!(m->n >> k & 1))
			continue;
		if (any)
			node(m->h[k], ret, ret);
		else
			memcpy(ret, m->h[k], WARD_HASH_BYTES);
		any = true;
	}
}

/* --- which nodes --- */

/* The largest power of two below n, n > 1: where RFC 6962 splits a tree. */
static uint64_t split(uint64_t n)
{
	return UINT64_C(1) << (63 - __builtin_clzll(n - 1));
}

static void push(struct ward_merkle_plan *p, uint64_t from, uint64_t to)
{
	/* Each step halves the tree: WARD_PROOF_MAX cannot be exceeded. */
	p->v[p->n++] = (struct ward_merkle_range){.from = from, .to = to};
}

/* The steps went from the root down; proofs are written from the leaf up. */
static void turn(struct ward_merkle_plan *p)
{
	for (size_t i = 0, j = p->n; i + 1 < j; i++) {
		struct ward_merkle_range x = p->v[i];
		p->v[i] = p->v[--j];
		p->v[j] = x;
	}
}

int ward_merkle_plan_inclusion(uint64_t index, uint64_t n, struct ward_merkle_plan *ret)
{
	struct ward_merkle_plan p = {.n = 0};
	uint64_t from = 0;
	uint64_t to = n;
	if (index >= n)
		return -EINVAL;
	while (to - from > 1) {
		uint64_t middle = from + split(to - from);
		if (index < middle) {
			push(&p, middle, to);
			to = middle;
		} else {
			push(&p, from, middle);
			from = middle;
		}
	}
	turn(&p);
	*ret = p;
	return 0;
}

int ward_merkle_plan_consistency(uint64_t from, uint64_t to, struct ward_merkle_plan *ret)
{
	struct ward_merkle_plan p = {.n = 0};
	uint64_t low = 0;
	uint64_t high = to;
	if (from > to)
		return -EINVAL;
	/* Down to the subtree that ends where the smaller tree ends. */
	while (from > 0 && from < high) {
		uint64_t middle = low + split(high - low);
		if (from <= middle) {
			push(&p, middle, high);
			high = middle;
		} else {
			push(&p, low, middle);
			low = middle;
		}
	}
	/* That subtree is the smaller tree itself if it begins with it: then it is known. */
	if (from > 0 && low > 0)
		push(&p, low, high);
	turn(&p);
	*ret = p;
	return 0;
}

/* --- checks --- */

bool ward_merkle_check_inclusion(const uint8_t leaf[WARD_HASH_BYTES], uint64_t index, uint64_t n,
	const uint8_t (*path)[WARD_HASH_BYTES], size_t path_n, const uint8_t root[WARD_HASH_BYTES])
{
	uint8_t h[WARD_HASH_BYTES];
	if (index >= n)
		return false;
	uint64_t fn = index;
	uint64_t sn = n - 1;
	memcpy(h, leaf, sizeof(h));
	for (size_t i = 0; i < path_n; i++) {
		if (sn == 0)
			return false;
		if (fn & 1 || fn == sn) {
			node(path[i], h, h);
			for (; !(fn & 1) && fn != 0; fn >>= 1)
				sn >>= 1;
		} else {
			node(h, path[i], h);
		}
		fn >>= 1;
		sn >>= 1;
	}
	return sn == 0 && memcmp(h, root, sizeof(h)) == 0;
}

bool ward_merkle_check_consistency(uint64_t from, const uint8_t first[WARD_HASH_BYTES], uint64_t to,
	const uint8_t second[WARD_HASH_BYTES], const uint8_t (*path)[WARD_HASH_BYTES],
	size_t path_n)
{
	uint8_t a[WARD_HASH_BYTES];
	uint8_t b[WARD_HASH_BYTES];
	size_t i = 0;
	if (from > to)
		return false;
	if (from == 0 || from == to)
		return path_n == 0 && (from == 0 || memcmp(first, second, sizeof(a)) == 0);
	uint64_t fn = from - 1;
	uint64_t sn = to - 1;
	for (; fn & 1; fn >>= 1)
		sn >>= 1;
	/* A whole subtree is its own first node. */
	if ((from & (from - 1)) == 0)
		memcpy(a, first, sizeof(a));
	else if (path_n > 0)
		memcpy(a, path[i++], sizeof(a));
	else
		return false;
	memcpy(b, a, sizeof(b));
	for (; i < path_n; i++) {
		if (sn == 0)
			return false;
		if (fn & 1 || fn == sn) {
			node(path[i], a, a);
			node(path[i], b, b);
			for (; !(fn & 1) && fn != 0; fn >>= 1)
				sn >>= 1;
		} else {
			node(b, path[i], b);
		}
		fn >>= 1;
		sn >>= 1;
	}
	return sn == 0 && memcmp(a, first, sizeof(a)) == 0 && memcmp(b, second, sizeof(b)) == 0;
}
