/* SPDX-License-Identifier: Apache-2.0 */
/* OCSF and OTLP/JSON: each appends the record with a newline. */
#pragma once

#include "audit/export/export_record.h"

void ward_export_ocsf(struct ward_buf *b, const struct ward_export_record *r);
void ward_export_otel(struct ward_buf *b, const struct ward_export_record *r);
