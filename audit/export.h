/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records in the formats of others. Each record becomes one line; seq, session and mac go along,
 * so that what was exported can be found again in the trail and the other way round. Names stay in
 * their escaped form: no byte of a file's name can end a line or a field.
 */
#pragma once

#include <jansson.h>

#include "enforcer/base/buf.h"

/* One record, borrowed. */
struct ward_export_record {
	const json_t *json;
	const char *line; /* as it stands in the trail, without its newline */
	size_t len;
	const char *host; /* the host whose trail this is */
};

struct ward_export {
	const char *name;
	/* Written once in front, with its newline; NULL: nothing. */
	const char *head;
	/* Appends the record, with a newline. */
	void (*record)(struct ward_buf *b, const struct ward_export_record *r);
};

/*
 * "jsonl" the trail's own lines; "csv" (RFC 4180); "cef" (ArcSight Common Event Format 0); "ocsf"
 * (Open Cybersecurity Schema Framework 1.3: File System Activity, Application Lifecycle, base
 * event); "otel" (OTLP/JSON, a request a line). NULL for another name.
 */
const struct ward_export *ward_export_find(const char *name);
/* The i-th, NULL past the end. */
const struct ward_export *ward_export_get(size_t i);

/* The formats' functions, each in a file of its own. */
void ward_export_csv(struct ward_buf *b, const struct ward_export_record *r);
extern const char ward_export_csv_head[];
void ward_export_cef(struct ward_buf *b, const struct ward_export_record *r);
void ward_export_ocsf(struct ward_buf *b, const struct ward_export_record *r);
void ward_export_otel(struct ward_buf *b, const struct ward_export_record *r);

/* Nanoseconds since the epoch of a time of the record ("time", "until"); 0 if it has none. */
uint64_t ward_export_time_ns(const json_t *record, const char *member);
/* "read,write" of an array of strings. */
void ward_export_join(struct ward_buf *b, const json_t *array);
