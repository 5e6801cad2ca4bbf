/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as records beside their proofs. What is taken for pairs is, record by record, what its
 * proof holds (looked at here by another way), a line more or less of the one is one of the other,
 * and nothing that nobody signed is intact. The corpus is real pairs, whole and spoiled.
 */
#include <jansson.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "audit/log/chain.h"
#include "audit/query/parse.h"
#include "audit/verify/proof.h"
#include "tests/fuzz/fuzz.h"

/* What the line "extra" of a proof says, as text; the caller's. */
static char *extra_of(const char *proof, size_t len)
{
	static const char mark[] = "extra ";
	size_t n = 0;
	const char *from = memchr(proof, '\n', len);
	fuzz_insist(from && len - (size_t)(++from - proof) > strlen(mark) &&
		    memcmp(from, mark, strlen(mark)) == 0);
	from += strlen(mark);
	const char *to = memchr(from, '\n', len - (size_t)(from - proof));
	fuzz_insist(to);
	char *out = calloc(1, (size_t)(to - from) + 1);
	fuzz_insist(out && sodium_base642bin((unsigned char *)out, (size_t)(to - from), from,
				   (size_t)(to - from), NULL, &n, NULL,
				   sodium_base64_VARIANT_ORIGINAL) == 0);
	return out;
}

/* One line that was taken, beside the proof that was made of it. */
static void compare(const char *line, size_t len, const char *proof, size_t proof_len)
{
	json_t *pair = ward_parse(line, len, 0, "");
	fuzz_insist(pair && json_object_size(pair) == 2);
	const char *text = json_string_value(json_object_get(pair, "proof"));
	fuzz_insist(text && strlen(text) == proof_len && memcmp(text, proof, proof_len) == 0);
	char *extra = extra_of(proof, proof_len);
	json_t *proved = ward_parse(extra, strlen(extra), 0, "");
	fuzz_insist(proved && json_equal(proved, json_object_get(pair, "record")));
	json_decref(proved);
	free(extra);
	json_decref(pair);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	struct ward_buf proofs = {.max = WARD_PROOFS_TEXT_MAX};
	struct ward_public_key nobody = {.name = "wardfs/0000000000000000"};
	struct ward_verify_result r;
	if (ward_chain_setup() < 0)
		return 0;
	bool pairs = ward_proof_pairs_are(text, size);
	/* Of what is a proof by itself nothing is taken for pairs, and the other way round. */
	fuzz_insist(!pairs || !ward_proof_is(text, size));
	if (ward_proof_pairs_take(text, size, &proofs)) {
		size_t at = 0;
		for (const char *line = text, *nl = NULL; line < text + size; line = nl + 1) {
			nl = memchr(line, '\n', (size_t)(text + size - line));
			fuzz_insist(nl && at < proofs.len);
			size_t n = ward_proof_length(proofs.data + at, proofs.len - at);
			fuzz_insist(n > 0);
			compare(line, (size_t)(nl - line), proofs.data + at, n);
			at += n;
		}
		fuzz_insist(at == proofs.len);
		ward_proof_check(ward_buf_str(&proofs), proofs.len, &nobody, 1, &r, NULL);
		fuzz_insist(r.state == WARD_VERIFY_EDITED || r.state == WARD_VERIFY_FOREIGN);
	}
	ward_buf_clear(&proofs);
	return 0;
}
