/* SPDX-License-Identifier: Apache-2.0 */
/* Counts limits and failed probes for session.end. */
#include "audit/write/counts.h"

#include <stdbool.h>
#include <string.h>

#include "audit/record_table.h"

static bool is_text(const struct ward_event_field *f, const char *text)
{
	return f->p && f->len == strlen(text) && memcmp(f->p, text, f->len) == 0;
}

void ward_counts_note(
	struct ward_counts *c, enum ward_event_kind kind, const struct ward_event_fields *fields)
{
	const struct ward_event_field *done = &fields->of[WARD_TAG_DONE];
	if (kind == WARD_EVENT_PROBE)
		c->probes_failed += is_text(&fields->of[WARD_TAG_RESULT], "failed");
	if (kind == WARD_EVENT_LIMIT)
		c->limits += is_text(done, "refused") || is_text(done, "killed") ||
			     is_text(done, "ended");
}

void ward_counts_put(const struct ward_counts *c, struct ward_event_fields *fields)
{
	const struct {
		enum ward_event_tag tag;
		uint64_t n;
	} counts[] = {{WARD_TAG_REFUSALS, c->refusals}, {WARD_TAG_LIMITS, c->limits},
		{WARD_TAG_PROBES_FAILED, c->probes_failed}};
	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
		fields->of[counts[i].tag] = (struct ward_event_field){.u64 = counts[i].n};
		ward_member_set_add(&fields->members, counts[i].tag);
	}
}
