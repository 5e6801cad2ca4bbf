/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/quotas.h"

#include <check.h>

#include "tests/support/policies.h"

struct ward_quotas *quotas_of(const char *text)
{
	struct ward_policy *p = policy_of(text);
	struct ward_quotas *q = NULL;
	/* The quotas outlive the policy, as over a reload. */
	ck_assert_int_eq(ward_quotas_new(ward_policy_settings(p), &q), 0);
	ward_policy_unref(p);
	return q;
}

struct ward_quota_domain *quotas_at(struct ward_quotas *q, const char *letters, bool *ret_splits)
{
	struct ward_name_bytes v[8];
	size_t n = 0;
	for (; *letters; letters++)
		v[n++] = (struct ward_name_bytes){.p = letters, .len = 1};
	return ward_quotas_find(q, v, n, ret_splits);
}

struct ward_quota_file *quotas_get(struct ward_quotas *q, struct ward_quota_domain *d, uint64_t ino)
{
	const struct ward_quota_id id = {.dev = 1, .ino = ino, .btime_ns = 7};
	struct ward_quota_file *f = NULL;
	ck_assert_int_eq(ward_quota_get(q, d, &id, &f), 0);
	return f;
}
