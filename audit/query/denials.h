/* SPDX-License-Identifier: Apache-2.0 */
/* The refusals of a trail, grouped, with what would permit them. */
#pragma once

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "audit/log/log.h"
#include "audit/query/record_filter.h"
#include "enforcer/base/err.h"

/* Refusals that are alike: same action, path, rights, rule. */
struct ward_denial {
	uint64_t count;
	uint64_t first_seq;
	json_t *record; /* the first of them; one reference */
	/*
	 * What to do about it, each owned or NULL:
	 * line in the section of file permits it (file NULL: the owner's policy file is not known;
	 * section: static, without brackets); or
	 * forbidden_by says which rule takes it away, whatever the owner writes; or neither, and
	 * reason says why.
	 */
	char *line;
	const char *section;
	char *file;
	char *forbidden_by;
	const char *reason; /* static */
	/* With a reason: "read" or "write", static. `wardfs policy add --lift-guard` with this verb
	 * and the path of the record permits it; NULL: nothing of that kind does. */
	const char *lift;
	/* Where a person was asked, the last time: its name and what became of it ("granted",
	 * "refused", "expired", "ended"; NULL: nothing yet), by whom and how. References, or NULL.
	 */
	json_t *question, *result, *by, *how;
	/* Of a guard that lets a file be read: its name on the host, where its owner may change it;
	 * owned or NULL. */
	char *host_file;
};
struct ward_denials {
	struct ward_denial *v; /* in the order of their first record */
	size_t n;
	uint64_t total;
	uint64_t expected; /* of total: what [expect] says is no news */
	uint64_t left_out; /* refusals beyond WARD_DENIALS_MAX groups */
	bool ended;	   /* the session has */
};
/* Groups that are counted separately. */
#define WARD_DENIALS_MAX 10000

/* sel: of these records (audit/query/record_filter.h); NULL: of all. */
int ward_query_denials(struct ward_log *log, const struct ward_select *sel,
	struct ward_denials *ret, struct ward_err *err) ward_must_check;
/* The line would permit nothing, since another rule takes it away: forbidden_by (owned) says which.
 */
void ward_denial_forbid(struct ward_denial *d, char *forbidden_by);
void ward_denials_free(struct ward_denials *d);
