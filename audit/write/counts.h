/* SPDX-License-Identifier: Apache-2.0 */
/* Counts what later sessions want to know of a trail without reading all of it. */
#pragma once

#include <stdint.h>

#include "audit/event.h"

struct ward_counts {
	uint64_t refusals;	/* the caller's */
	uint64_t limits;	/* records in which a limit held or ended something */
	uint64_t probes_failed; /* records of probes that failed */
};

/* Counts limits and probes of a record of this kind. */
void ward_counts_note(
	struct ward_counts *c, enum ward_event_kind kind, const struct ward_event_fields *fields);

/* Adds the counts to the members of session.end. */
void ward_counts_put(const struct ward_counts *c, struct ward_event_fields *fields);
