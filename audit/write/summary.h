/* SPDX-License-Identifier: Apache-2.0 */
/* What the end of a run says of refusals: their number, and the first of them. */
#pragma once

#include <stdint.h>

#include "audit/event.h"

#define WARD_WRITER_FIRST 3
struct ward_writer_refusal {
	char verdict[16];
	char *action; /* owned by the writer */
	char *path;   /* escaped */
	char *rule;
};
struct ward_summary {
	uint64_t records;
	uint64_t refusals; /* all of them */
	uint64_t expected; /* of them those that [expect] says; none of them is in first */
	char *hidden;	   /* owned: the path of the first look among the expected; NULL: none */
	char *unreached;   /* owned: the first allowed connection that failed, and why; or NULL */
	uint32_t n;
	struct ward_writer_refusal first[WARD_WRITER_FIRST];
};
/* Frees what it has. */
void ward_summary_clear(struct ward_summary *s);

/* A record of a refusal. */
void ward_summary_refusal(struct ward_summary *s, const struct ward_event_fields *fields);
/* A record of kind connect: the first that the policy allowed and that was not made. */
void ward_summary_unreached(struct ward_summary *s, const struct ward_event_fields *fields);
