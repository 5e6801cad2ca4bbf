/* SPDX-License-Identifier: Apache-2.0 */
/* Positions in a directory under a key. */
#include "fs/node/dir_cookie.h"

#include <errno.h>
#include <sys/random.h>

#include "fs/kernel/backing.h"

#define ROUNDS 8U
#define LOW_BITS 31
#define LOW_MASK ((UINT32_C(1) << LOW_BITS) - 1)
#define SIGN (UINT64_C(1) << 63)

int ward_dir_key_new(struct ward_dir_key *ret)
{
	struct ward_dir_key key;

	if (getrandom(&key, sizeof(key), 0) != (ssize_t)sizeof(key))
		return -EIO;
	*ret = key;
	return 0;
}

static uint64_t rotate(uint64_t x, unsigned by)
{
	return x << by | x >> (64 - by);
}

static void sip_rounds(uint64_t v[4], unsigned n)
{
	while (n--) {
		v[0] += v[1];
		v[1] = rotate(v[1], 13) ^ v[0];
		v[0] = rotate(v[0], 32);
		v[2] += v[3];
		v[3] = rotate(v[3], 16) ^ v[2];
		v[0] += v[3];
		v[3] = rotate(v[3], 21) ^ v[0];
		v[2] += v[1];
		v[1] = rotate(v[1], 17) ^ v[2];
		v[2] = rotate(v[2], 32);
	}
}

static void sip_word(uint64_t v[4], uint64_t word)
{
	v[3] ^= word;
	sip_rounds(v, 2);
	v[0] ^= word;
}

uint64_t ward_dir_siphash(const struct ward_dir_key *key, const uint64_t *words, size_t n)
{
	/* "somepseudorandomlygeneratedbytes" */
	uint64_t v[4] = {key->k[0] ^ UINT64_C(0x736f6d6570736575),
		key->k[1] ^ UINT64_C(0x646f72616e646f6d), key->k[0] ^ UINT64_C(0x6c7967656e657261),
		key->k[1] ^ UINT64_C(0x7465646279746573)};

	for (size_t i = 0; i < n; i++)
		sip_word(v, words[i]);
	sip_word(v, (uint64_t)n * sizeof(*words) << 56);
	v[2] ^= 0xff;
	sip_rounds(v, 4);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

struct ward_dir_key ward_dir_key_for(
	const struct ward_dir_key *mount, const struct ward_file_id *dir)
{
	const uint64_t one[3] = {dir->ino, dir->btime_ns, 0};
	const uint64_t two[3] = {dir->ino, dir->btime_ns, 1};

	return (struct ward_dir_key){
		.k = {ward_dir_siphash(mount, one, 3), ward_dir_siphash(mount, two, 3)}};
}

static uint32_t mix(const struct ward_dir_key *dir, unsigned round, uint32_t half)
{
	const uint64_t word = (uint64_t)round << 32 | half;

	return (uint32_t)ward_dir_siphash(dir, &word, 1);
}

static uint64_t permute(const struct ward_dir_key *dir, uint64_t x)
{
	uint32_t high = (uint32_t)(x >> LOW_BITS), low = (uint32_t)x & LOW_MASK;

	for (unsigned i = 0; i < ROUNDS; i += 2) {
		high ^= mix(dir, i, low);
		low ^= mix(dir, i + 1, high) & LOW_MASK;
	}
	return (uint64_t)high << LOW_BITS | low;
}

static uint64_t unpermute(const struct ward_dir_key *dir, uint64_t x)
{
	uint32_t high = (uint32_t)(x >> LOW_BITS), low = (uint32_t)x & LOW_MASK;

	for (unsigned i = ROUNDS; i > 0; i -= 2) {
		low ^= mix(dir, i - 1, high) & LOW_MASK;
		high ^= mix(dir, i - 2, low);
	}
	return (uint64_t)high << LOW_BITS | low;
}

int64_t ward_dir_cookie(const struct ward_dir_key *dir, int64_t position)
{
	const uint64_t sign = (uint64_t)position & SIGN, x = (uint64_t)position & ~SIGN;
	uint64_t y;

	if (!x)
		return position;
	y = permute(dir, x);
	/* A position that would become the start takes the place that the start gave up. */
	return (int64_t)(sign | (y ? y : permute(dir, 0)));
}

int64_t ward_dir_position(const struct ward_dir_key *dir, int64_t cookie)
{
	const uint64_t sign = (uint64_t)cookie & SIGN, y = (uint64_t)cookie & ~SIGN;
	uint64_t x;

	if (!y)
		return cookie;
	x = unpermute(dir, y);
	return (int64_t)(sign | (x ? x : unpermute(dir, 0)));
}
