/* SPDX-License-Identifier: Apache-2.0 */
/* OCSF: appends the record as an event of the class that fits, with a newline. */
#pragma once

#include "audit/export/export_record.h"

void ward_export_ocsf(struct ward_buf *b, const struct ward_export_record *r);
