/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as a policy, of any kind of source: compiled or refused with a place. What compiles is
 * shown, loads again from that, means the same, and survives the blob. A source that only takes
 * away never widens.
 */
#include <errno.h>
#include <string.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/policy/check.h"
#include "enforcer/policy/explain.h"
#include "enforcer/policy/policy.h"
#include "tests/fuzz/fuzz.h"

/* An automaton of more rules takes longer than a fuzzer waits. */
#define TEXT_MAX 4096

static const char all[] = "[policy]\nversion = 1\n[files]\nwrite = /\n";

static void on_finding(void *user, const struct ward_finding *f)
{
	(void)user;
	fuzz_insist(f->file && f->line && f->what && f->why);
}

static void again(struct ward_policy *p)
{
	ward_cleanup(ward_buf_clear) struct ward_buf text = WARD_BUF_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf blob = WARD_BUF_INIT;
	struct ward_policy *q = NULL;
	fuzz_insist(ward_policy_show(p, &text) == 0);
	const struct ward_source_text s = {WARD_SOURCE_BASE, "f", ward_buf_str(&text), text.len};
	fuzz_insist(ward_policy_compile(&s, 1, &q, NULL) == 0);
	fuzz_insist(strcmp(ward_policy_digest(p), ward_policy_digest(q)) == 0);
	ward_policy_unref(q);
	q = NULL;
	fuzz_insist(ward_policy_encode(p, &blob) == 0);
	fuzz_insist(ward_policy_decode(blob.data, blob.len, &q, NULL) == 0);
	fuzz_insist(strcmp(ward_policy_digest(p), ward_policy_digest(q)) == 0);
	ward_policy_unref(q);
	fuzz_insist(ward_policy_check(p, on_finding, NULL) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 1 || size > TEXT_MAX)
		return 0;
	static const enum ward_source_kind kinds[] = {
		WARD_SOURCE_BASE, WARD_SOURCE_PROJECT, WARD_SOURCE_FLOOR, WARD_SOURCE_RUN};
	enum ward_source_kind kind = kinds[data[0] % 4];
	struct ward_source_text s[2] = {{WARD_SOURCE_BASE, "all", all, sizeof(all) - 1},
		{kind, "f", (const char *)data + 1, size - 1}};
	bool base = kind == WARD_SOURCE_BASE;
	struct ward_policy *p = NULL;
	struct ward_err err = WARD_ERR_INIT;
	int r = ward_policy_compile(s + base, base ? 1 : 2, &p, &err);
	fuzz_insist((r == 0) == (p != NULL));
	if (r < 0) {
		fuzz_insist(r == -EINVAL && strchr(err.text, ':'));
		return 0;
	}
	again(p);
	ward_policy_unref(p);
	return 0;
}
