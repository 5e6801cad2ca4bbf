/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A fast hash for tables inside one process. Names come from the agent, so a table that must not be
 * flooded bounds its chains' cost by its number of entries, not by this function; it is keyed with
 * a random value at start nevertheless.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t ward_hash_mix(uint64_t a, uint64_t b)
{
	__extension__ unsigned __int128 m = (unsigned __int128)(a ^ UINT64_C(0x9e3779b97f4a7c15)) *
					    (b ^ UINT64_C(0xd6e8feb86659fd93));
	return (uint64_t)m ^ (uint64_t)(m >> 64);
}

static inline uint64_t ward_hash_bytes(uint64_t seed, const void *data, size_t len)
{
	const unsigned char *p = data;
	uint64_t h = seed ^ (uint64_t)len * UINT64_C(0x9ddfea08eb382d69);
	uint64_t w;
	for (; len >= 8; len -= 8, p += 8) {
		memcpy(&w, p, 8);
		h = ward_hash_mix(h, w);
	}
	w = 0;
	if (len)
		memcpy(&w, p, len);
	return ward_hash_mix(h, w);
}
