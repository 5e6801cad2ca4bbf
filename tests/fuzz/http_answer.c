/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as what a collector answers: an answer is whole, waited for, or none; its body lies in
 * what came, and what follows does not change it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "enforcer/send/http_answer.h"
#include "tests/fuzz/fuzz.h"

#define NOW INT64_C(1700000000)

static int take(const uint8_t *data, size_t size, struct send_answer *a, char **ret)
{
	char *copy = malloc(size + 1);
	fuzz_insist(copy);
	if (size > 0)
		memcpy(copy, data, size);
	*ret = copy;
	return send_answer_take(copy, size, NOW, a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct send_answer a = {0}, less = {0};
	char *text = NULL, *shorter = NULL;
	const int r = take(data, size, &a, &text);
	fuzz_insist(r == 0 || r == 1 || r == -EBADMSG);
	if (r == 1) {
		fuzz_insist(a.status >= 200 && a.status <= 599);
		fuzz_insist(a.body <= size && a.len <= size - a.body && a.retry_after >= -1);
	}
	/* Without its last byte: the same, or not there yet. What is none becomes none at some
	 * byte. */
	if (size > 0 && r == 1) {
		const int before = take(data, size - 1, &less, &shorter);
		fuzz_insist(before == 0 || before == 1);
		if (before == 1 && !a.until_end)
			fuzz_insist(less.len == a.len && less.status == a.status &&
				    memcmp(text + a.body, shorter + less.body, a.len) == 0);
	}
	free(shorter);
	free(text);
	return 0;
}
