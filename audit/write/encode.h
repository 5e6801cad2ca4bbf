/* SPDX-License-Identifier: Apache-2.0 */
/* From an event to a record's text, all but its mac. */
#pragma once

#include "audit/event.h"
#include "enforcer/base/buf.h"

struct ward_record_place {
	uint64_t seq;
	const char *session;
	int ring; /* -1: the writer's own */
	uint64_t pos;
	uint64_t mono_ns; /* CLOCK_MONOTONIC: when the writer took it */
};

/*
 * Appends the record of a decoded event, an object without its closing brace. A field whose value
 * has no text (an unknown verdict, a description that is no JSON object) marks the record "cut".
 */
void ward_encode_record(struct ward_buf *b, const struct ward_record_place *place,
	const struct ward_event_head *head, const struct ward_event_fields *fields);
