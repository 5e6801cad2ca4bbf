/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as a token. One that is read is whole: it gives a right that lies beneath that of its
 * first block, and narrowing it by nothing gives a token that is read as well.
 */
#include <stdlib.h>
#include <string.h>

#include "audit/log/chain.h"
#include "enforcer/session/grants/grant_token.h"
#include "tests/fuzz/fuzz.h"

static void check(const char *text, size_t size, const struct ward_grant_token *t)
{
	const struct ward_token_block nothing = {.right = WARD_TOKEN_NOTHING};
	const struct ward_token_block *first = &t->blocks[0];
	struct ward_buf out = WARD_BUF_INIT;
	struct ward_err err = WARD_ERR_INIT;
	const bool host = first->right == WARD_TOKEN_CONNECT;
	fuzz_insist(t->n >= 1 && t->n <= WARD_GRANT_TOKEN_BLOCKS);
	fuzz_insist(t->gives.right && t->gives.right <= first->right);
	fuzz_insist(host ? t->gives.right == WARD_TOKEN_CONNECT
			 : ward_token_pattern_beneath(first->what, t->gives.what));
	fuzz_insist(t->gives.until_s <= first->until_s && t->gives.from_s >= first->from_s);
	fuzz_insist(!first->uses || (t->gives.uses && t->gives.uses <= first->uses));
	int r = ward_grant_token_narrow(text, size, &nothing, &out, &err);
	fuzz_insist((r == 0) == (t->n < WARD_GRANT_TOKEN_BLOCKS));
	ward_buf_clear(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ward_grant_token t = {.n = 0};
	struct ward_err err = WARD_ERR_INIT;
	/* A copy of exactly this size: reading past its end is seen. */
	char *text = malloc(size ? size : 1);
	fuzz_insist(text && ward_chain_setup() == 0);
	if (size)
		memcpy(text, data, size);
	if (ward_grant_token_read(text, size, &t, &err) == 0)
		check(text, size, &t);
	ward_grant_token_clear(&t);
	free(text);
	return 0;
}
