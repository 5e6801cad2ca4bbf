/* SPDX-License-Identifier: Apache-2.0 */
/* For the unit tests of quotas as numbers. Failures abort the test. */
#pragma once

#include "fs/quota/quota.h"

/* A policy with one tree, /w, to be written; [quota] sections follow. */
#define QUOTAS_HEAD "[policy]\nversion = 1\n[tree /w]\nsource = .\n[files]\nwrite = /w\n"

/* Those of a policy's text, for ward_quotas_free(). */
struct ward_quotas *quotas_of(const char *text);
/* The domain of a path of names of one letter each; ret_splits may be NULL. */
struct ward_quota_domain *quotas_at(struct ward_quotas *q, const char *letters, bool *ret_splits);
/* The file with this number, for ward_quota_put(). */
struct ward_quota_file *quotas_get(
	struct ward_quotas *q, struct ward_quota_domain *d, uint64_t ino);
