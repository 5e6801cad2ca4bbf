/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any three texts, divided by NULs: the changes of one make the other one, taken in any part they
 * end; a merge with what did not change is the other side, and it has no preferred side.
 */
#include <string.h>

#include "enforcer/review/text_hunks.h"
#include "tests/fuzz/fuzz.h"

struct text {
	const char *p;
	size_t len;
};

static bool is(const struct ward_buf *b, const struct text *t)
{
	return b->len == t->len && (!t->len || memcmp(b->data, t->p, t->len) == 0);
}

static void take(const struct text *a, const struct text *b)
{
	struct ward_text_pair p;
	struct ward_buf all = WARD_BUF_INIT, none = WARD_BUF_INIT, some = WARD_BUF_INIT,
			hunks = WARD_BUF_INIT;
	fuzz_insist(ward_text_pair_make(a->p, a->len, b->p, b->len, &p) == 0);
	bool *taken = calloc(p.n + 1, sizeof(*taken));
	fuzz_insist(taken != NULL);
	fuzz_insist(ward_text_take(&p, taken, &none) == 0 && is(&none, a));
	for (size_t i = 0; i < p.n; i++)
		taken[i] = i % 2;
	fuzz_insist(ward_text_take(&p, taken, &some) == 0);
	memset(taken, true, p.n);
	fuzz_insist(ward_text_take(&p, taken, &all) == 0 && is(&all, b));
	for (size_t i = 0, end; i < p.n; i = end) {
		end = ward_text_hunk_end(&p, i);
		fuzz_insist(end > i && end <= p.n);
		ward_text_hunk_put(&p, i, end, &hunks);
	}
	/* Split, each by itself. */
	for (size_t i = 0; i < p.n; i++)
		ward_text_hunk_put(&p, i, i + 1, &hunks);
	free(taken);
	ward_text_pair_clear(&p);
	ward_buf_clear(&all);
	ward_buf_clear(&none);
	ward_buf_clear(&some);
	ward_buf_clear(&hunks);
}

static int merge(
	const struct text *base, const struct text *a, const struct text *b, struct ward_buf *ret)
{
	return ward_text_merge(base->p, base->len, a->p, a->len, b->p, b->len, ret);
}

static void merge_is(const struct text *base, const struct text *a, const struct text *b,
	const struct text *result)
{
	struct ward_buf r = WARD_BUF_INIT;
	fuzz_insist(merge(base, a, b, &r) == 0 && is(&r, result));
	ward_buf_clear(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text t[3];
	struct ward_buf one = WARD_BUF_INIT, other = WARD_BUF_INIT;
	for (size_t i = 0; i < 3; i++) {
		const uint8_t *end = size ? memchr(data, 0, size) : NULL;
		t[i].len = end ? (size_t)(end - data) : size;
		t[i].p = size ? (const char *)data : "";
		data += t[i].len + (end != NULL);
		size -= t[i].len + (end != NULL);
	}
	take(&t[0], &t[1]);
	take(&t[1], &t[2]);
	merge_is(&t[0], &t[1], &t[0], &t[1]);
	merge_is(&t[0], &t[0], &t[1], &t[1]);
	merge_is(&t[0], &t[1], &t[1], &t[1]);
	const int r = merge(&t[0], &t[1], &t[2], &one);
	fuzz_insist(merge(&t[0], &t[2], &t[1], &other) == r);
	if (r == 0) {
		const struct text result = {ward_buf_str(&other), other.len};
		fuzz_insist(is(&one, &result));
	}
	ward_buf_clear(&one);
	ward_buf_clear(&other);
	return 0;
}
