/* SPDX-License-Identifier: Apache-2.0 */
/* CSV and CEF: each appends the record with a newline. */
#pragma once

#include "audit/export/export_record.h"

/* The row of names. */
void ward_export_csv_head(struct ward_buf *b);
void ward_export_csv(struct ward_buf *b, const struct ward_export_record *r);
void ward_export_cef(struct ward_buf *b, const struct ward_export_record *r);
