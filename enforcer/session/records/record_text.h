/* SPDX-License-Identifier: Apache-2.0 */
/* Foreign text in records. */
#pragma once

#include <jansson.h>

/* Escaped as base/escape.h says, as a JSON string; the caller's reference. */
json_t *ward_record_text(const char *s);
