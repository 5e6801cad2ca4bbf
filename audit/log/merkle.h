/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hash tree of RFC 6962 (section 2.1) over the lines of a trail, with SHA-256: its root, the
 * nodes that a proof consists of, and the checks of proofs (RFC 9162, sections 2.1.3.2
 * and 2.1.4.2). Pure; memory does not grow with the tree.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "enforcer/base/err.h"

#define WARD_HASH_BYTES 32U

/* A tree that leaves are added to: [k] is the root of 2^k leaves, where bit k of n is set. */
struct ward_merkle {
	uint64_t n;
	uint8_t h[64][WARD_HASH_BYTES];
};

/* SHA-256(0x00 || data): what stands in the tree for a line (without its newline). */
void ward_merkle_leaf(const void *data, size_t len, uint8_t ret[WARD_HASH_BYTES]);
void ward_merkle_add(struct ward_merkle *m, const uint8_t leaf[WARD_HASH_BYTES]);
/* Told of each whole subtree, once, when its last leaf was added: leaves [from, to), a leaf too. */
typedef void ward_merkle_seen_fn(
	void *ctx, uint64_t from, uint64_t to, const uint8_t root[WARD_HASH_BYTES]);
void ward_merkle_add_seen(struct ward_merkle *m, const uint8_t leaf[WARD_HASH_BYTES],
	ward_merkle_seen_fn *fn, void *ctx);
/* The root of leaves [from, n), where from is one at which RFC 6962 splits the tree of n leaves. */
void ward_merkle_tail(const struct ward_merkle *m, uint64_t from, uint8_t ret[WARD_HASH_BYTES]);
/* The root over all leaves so far; of none: SHA-256 of nothing. */
void ward_merkle_root(const struct ward_merkle *m, uint8_t ret[WARD_HASH_BYTES]);

/* Leaves [from, to), whose root is one node of a proof. */
struct ward_merkle_range {
	uint64_t from;
	uint64_t to;
};
/* A path has at most 64 nodes, a consistency proof one more. */
#define WARD_PROOF_MAX 65U
struct ward_merkle_plan {
	struct ward_merkle_range v[WARD_PROOF_MAX];
	size_t n;
};
/* Which nodes prove that leaf `index` (from 0) is in the tree of n leaves. -EINVAL: it is not. */
int ward_merkle_plan_inclusion(
	uint64_t index, uint64_t n, struct ward_merkle_plan *ret) ward_must_check;
/* Which nodes prove that the tree of `from` leaves is the beginning of that of `to`. */
int ward_merkle_plan_consistency(
	uint64_t from, uint64_t to, struct ward_merkle_plan *ret) ward_must_check;

/* True if the path leads from the leaf to the root. */
bool ward_merkle_check_inclusion(const uint8_t leaf[WARD_HASH_BYTES], uint64_t index, uint64_t n,
	const uint8_t (*path)[WARD_HASH_BYTES], size_t path_n, const uint8_t root[WARD_HASH_BYTES]);
/* True if the tree (from, first) is the beginning of the tree (to, second). */
bool ward_merkle_check_consistency(uint64_t from, const uint8_t first[WARD_HASH_BYTES], uint64_t to,
	const uint8_t second[WARD_HASH_BYTES], const uint8_t (*path)[WARD_HASH_BYTES],
	size_t path_n);
