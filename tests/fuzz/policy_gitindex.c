/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as git's index: read to an end within bounds. The first byte chooses the length of
 * digests; names are whole and no longer than what was there; a bitmap sets no bit beyond its end.
 */
#include <stdlib.h>
#include <string.h>

#include "enforcer/policy/gitindex.h"
#include "tests/fuzz/fuzz.h"

#define BITS 512

static int on_entry(void *user, uint32_t mode, const unsigned char *digest, const char *name)
{
	size_t *n = user;
	fuzz_insist(strlen(name) <= 1U << 20);
	return ++*n > 1U << 20 ? -1 : 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0)
		return 0;
	/* A copy of exactly this size: reading past its end is seen. */
	unsigned char *text = malloc(size - 1 ? size - 1 : 1);
	bool bits[BITS + 1] = {false};
	struct ward_git_link link = {0};
	size_t n = 0;
	fuzz_insist(text != NULL);
	memcpy(text, data + 1, size - 1);
	int r = ward_git_index_read(text, size - 1, data[0] & 1 ? 32 : 20, on_entry, &n, &link);
	fuzz_insist(n * 62 <= size || n <= 1);
	if (r == 0 && link.there && link.deleted)
		(void)!ward_git_bitmap_read(link.deleted, link.deleted_len, bits, BITS);
	(void)!ward_git_bitmap_read(text, size - 1, bits, BITS);
	fuzz_insist(!bits[BITS]);
	free(text);
	return 0;
}
