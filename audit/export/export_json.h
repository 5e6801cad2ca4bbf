/* SPDX-License-Identifier: Apache-2.0 */
/* OCSF and OTLP/JSON: each appends the record with a newline. */
#pragma once

#include "audit/export/export_record.h"

void ward_export_ocsf(struct ward_buf *b, const struct ward_export_record *r);
void ward_export_otel(struct ward_buf *b, const struct ward_export_record *r);

/*
 * OTLP/JSON with many records in one request: the head, records with commas between them, the tail.
 * host: that the records are of.
 */
void ward_export_otel_head(struct ward_buf *b, const char *host);
void ward_export_otel_record(struct ward_buf *b, const struct ward_export_record *r);
const char *ward_export_otel_tail(void);
