/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/policies.h"

#include <check.h>
#include <string.h>

struct ward_policy *policy_of(const char *text)
{
	const struct ward_source_text s = {WARD_SOURCE_BASE, "f", text, strlen(text)};
	struct ward_policy *p = NULL;
	struct ward_err err = WARD_ERR_INIT;
	ck_assert_msg(ward_policy_compile(&s, 1, &p, &err) == 0, "%s: %s", text, err.text);
	return p;
}

const struct ward_state *policy_walk(const struct ward_policy *p, const char *path)
{
	const struct ward_state *s = NULL;
	ck_assert_int_eq(ward_policy_walk(p, path, strlen(path), &s), 0);
	return s;
}

uint32_t policy_rights(const struct ward_policy *p, const char *path)
{
	const struct ward_state *s = policy_walk(p, path);
	uint32_t r = ward_policy_rights(p, s);
	ward_policy_state_put(p, s);
	return r;
}

/* xorshift64* */
static uint64_t rnd_state = UINT64_C(0x9e3779b97f4a7c15);

unsigned rnd(unsigned n)
{
	rnd_state ^= rnd_state >> 12;
	rnd_state ^= rnd_state << 25;
	rnd_state ^= rnd_state >> 27;
	return (unsigned)((rnd_state * UINT64_C(2685821657736338717)) >> 33) % n;
}
