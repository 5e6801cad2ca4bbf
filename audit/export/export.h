/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records in the formats of others. Each record becomes one line; seq, session and mac go along,
 * so that what was exported can be found again in the trail and the other way round. Names stay in
 * their escaped form: no byte of a file's name can end a line or a field.
 */
#pragma once

#include "audit/export/export_record.h"

struct ward_export {
	const char *name;
	/* Appends what is written once in front, with its newline; NULL: nothing is. */
	void (*head)(struct ward_buf *b);
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
