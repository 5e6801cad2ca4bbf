/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Positions in a directory, as programs inside see them (d_off, telldir(3)). The backing's own
 * would tell of hidden names: on ext4 a position is the hash of the name that stands there, on
 * others it counts the names before it. So each is put through a permutation whose key is random
 * for each mount, and another one for each directory: nobody inside can make a table of it in a
 * directory of his own. There is no state; a position holds for every handle of the directory and
 * as long as the mount.
 *
 * The permutation: an alternating Feistel network of 8 rounds over 32 and 31 bits, whose rounds are
 * SipHash-2-4 (Aumasson, Bernstein, 2012) of the other half. 0, the start, stays 0, and nothing
 * else becomes 0. The sign stays, as the kernel seeks to nothing below 0.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "enforcer/base/err.h"

struct ward_file_id;

struct ward_dir_key {
	uint64_t k[2];
};

/* The key of a mount, from getrandom(2). -EIO. */
int ward_dir_key_new(struct ward_dir_key *ret) ward_must_check;
/* The key of one directory of the mount. */
struct ward_dir_key ward_dir_key_for(
	const struct ward_dir_key *mount, const struct ward_file_id *dir);

/* Converts a position of the backing to the one inside, and back. */
int64_t ward_dir_cookie(const struct ward_dir_key *dir, int64_t position);
int64_t ward_dir_position(const struct ward_dir_key *dir, int64_t cookie);

/* SipHash-2-4 of n words, as of their bytes in little-endian order. */
uint64_t ward_dir_siphash(const struct ward_dir_key *key, const uint64_t *words, size_t n);
