/* SPDX-License-Identifier: Apache-2.0 */
/* A trail in figures. */
#pragma once

#include <jansson.h>

#include "audit/log/log.h"
#include "audit/query/record_filter.h"
#include "enforcer/base/err.h"

/* Different paths, programs and rules that are counted by name; the rest is counted together. */
#define WARD_SUMMARY_NAMES_MAX 100000

/*
 * *ret (one reference) is an object:
 *   records, first, last (times)
 *   kinds     {kind: count}
 *   programs  {comm: count}   records by the name of the process
 *   executed  {path: count}   programs that were executed, also one after the other in one process
 *   refusals  {"count": n, "expected": how many of them [expect] names,
 *             "rules": {"FILE:LINE text": count},
 *             "hidden": {path: count}}   looks for secrets that were there and are hidden
 *   files     {"read": n, "written": n, "created": n, "removed": n, "refused": n}   different paths
 *   bytes     {"read": n, "written": n, "unseen": handles whose bytes the guard could not see};
 *             null where sel asks for something that the close of a handle does not tell
 *   not_counted  names beyond the limit
 * sel: of these records; NULL: of all.
 */
int ward_query_summary(struct ward_log *log, const struct ward_select *sel, json_t **ret,
	struct ward_err *err) ward_must_check;
