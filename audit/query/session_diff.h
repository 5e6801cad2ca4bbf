/* SPDX-License-Identifier: Apache-2.0 */
/* What two sessions did to files, compared. */
#pragma once

#include <jansson.h>

#include "audit/log/log.h"
#include "audit/query/record_filter.h"
#include "enforcer/base/err.h"

/* Different paths of a session that are compared; more are refused (-E2BIG). */
#define WARD_DIFF_PATHS_MAX 1000000

/*
 * *ret (one reference) is an object {PATH: {VERB: count}} over these records of a trail, or (sel
 * NULL) all. VERB: read, write,
 * create, remove, rename, link, attr, xattr, lock; "refused VERB" for what was denied, with the
 * action that was tried. A rename and a link count for both of their paths; what failed does not.
 */
int ward_diff_collect(struct ward_log *log, const struct ward_select *sel, json_t **ret,
	struct ward_err *err) ward_must_check;

/*
 * *ret is an array of {"path": PATH, "only": 1|2, "verb": VERB, "count": n}, sorted by path: what
 * only one of the two did.
 */
int ward_diff_compare(const json_t *first, const json_t *second, json_t **ret,
	struct ward_err *err) ward_must_check;
