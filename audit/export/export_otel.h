/* SPDX-License-Identifier: Apache-2.0 */
/* OTLP/JSON: requests to a collector of logs. */
#pragma once

#include "audit/export/export_record.h"

/* A request with this record alone, on one line, as the file exporter of OTLP writes them. */
void ward_export_otel(struct ward_buf *b, const struct ward_export_record *r);

/*
 * A request with many records: the head, records with commas between them, the tail. host: that the
 * records are of. A record ends with a newline.
 */
void ward_export_otel_head(struct ward_buf *b, const char *host);
void ward_export_otel_record(struct ward_buf *b, const struct ward_export_record *r);
const char *ward_export_otel_tail(void);
