/* SPDX-License-Identifier: Apache-2.0 */
/* What a format is given of a record, and what the formats share. */
#pragma once

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "enforcer/base/buf.h"

/* One record, borrowed. */
struct ward_export_record {
	const json_t *json;
	const char *line; /* as it stands in the trail, without its newline */
	size_t len;
	const char *host; /* the host whose trail this is */
};

/* Nanoseconds since the epoch of a time of the record ("time", "until"); 0 if it has none. */
uint64_t ward_export_time_ns(const json_t *record, const char *member);
/* "read,write" of an array of strings. */
void ward_export_join(struct ward_buf *b, const json_t *array);
/* Appends an object in printable ASCII, and a newline. Takes the reference. */
void ward_export_object(struct ward_buf *b, json_t *o);
