/* SPDX-License-Identifier: Apache-2.0 */
/* Escapes foreign text for records. */
#include "enforcer/session/records/record_text.h"

#include <string.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/escape.h"

json_t *ward_record_text(const char *s)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	ward_escape(&b, s, strlen(s));
	return json_string(ward_buf_str(&b));
}
