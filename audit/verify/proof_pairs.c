/* SPDX-License-Identifier: Apache-2.0 */
/* Records beside their proofs, as JSON. Who reads the record must read what is proved. */
#include "audit/verify/proof.h"

#include <jansson.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "audit/query/parse.h"
#include "enforcer/base/cleanup.h"

#define EXTRA "\nextra "
/* In front of integers that are strings here: such a string in a pair must not be taken for one. */
#define MARK_BYTES 16U

bool ward_proof_pairs_are(const char *text, size_t len)
{
	static const char *const first[] = {"\"record\"", "\"proof\""};
	size_t at = 1;
	if (len == 0 || text[0] != '{')
		return false;
	while (at < len && text[at] == ' ')
		at++;
	for (size_t i = 0; i < sizeof(first) / sizeof(*first); i++)
		if (len - at >= strlen(first[i]) &&
			memcmp(text + at, first[i], strlen(first[i])) == 0)
			return true;
	return false;
}

/* The record that a proof holds, parsed; NULL. One reference. */
static json_t *record_of(const char *proof, const char *mark)
{
	const char *from = strstr(proof, EXTRA);
	const char *to = from ? strchr(from + 1, '\n') : NULL;
	size_t n = 0;
	if (!to)
		return NULL;
	from += strlen(EXTRA);
	ward_cleanup_free char *out = malloc((size_t)(to - from) + 1);
	if (!out ||
		sodium_base642bin((unsigned char *)out, (size_t)(to - from), from,
			(size_t)(to - from), NULL, &n, NULL, sodium_base64_VARIANT_ORIGINAL) != 0)
		return NULL;
	return ward_parse((const char *)out, n, JSON_REJECT_DUPLICATES, mark);
}

static bool take_pair(const char *line, size_t len, const char *mark, struct ward_buf *ret)
{
	json_t *pair = ward_parse(line, len, JSON_REJECT_DUPLICATES, mark);
	const json_t *record = json_object_get(pair, "record");
	const char *proof = json_string_value(json_object_get(pair, "proof"));
	/* One proof of one record, not several proofs with this record first. */
	bool good = proof && json_object_size(pair) == 2 && ward_proof_is(proof, strlen(proof)) &&
		    ward_proof_length(proof, strlen(proof)) == strlen(proof);
	json_t *proved = good ? record_of(proof, mark) : NULL;
	good = proved && json_equal(proved, record);
	if (good)
		ward_buf_puts(ret, proof);
	json_decref(proved);
	json_decref(pair);
	return good;
}

bool ward_proof_pairs_take(const char *text, size_t len, struct ward_buf *ret)
{
	const char *end = text + len;
	uint8_t random[MARK_BYTES];
	char mark[2 * MARK_BYTES + 1];
	randombytes_buf(random, sizeof(random));
	(void)sodium_bin2hex(mark, sizeof(mark), random, sizeof(random));
	while (text < end) {
		const char *nl = memchr(text, '\n', (size_t)(end - text));
		if (!nl || !take_pair(text, (size_t)(nl - text), mark, ret))
			return false;
		text = nl + 1;
	}
	return ward_buf_error(ret) == 0;
}
