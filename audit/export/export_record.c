/* SPDX-License-Identifier: Apache-2.0 */
/* Takes times and lists of a record, for all formats. */
#include "audit/export/export_record.h"

#include <errno.h>

#include "audit/query/parse.h"
#include "audit/query/query.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/timestamp.h"

uint64_t ward_export_time_ns(const json_t *record, const char *member)
{
	return ward_timestamp_ns(ward_query_text(record, member));
}

void ward_export_join(struct ward_buf *b, const json_t *array)
{
	size_t i = 0;
	json_t *v = NULL;
	json_array_foreach(array, i, v)
	{
		if (i > 0)
			ward_buf_putc(b, ',');
		if (json_is_string(v))
			ward_buf_puts(b, json_string_value(v));
	}
}

void ward_export_object(struct ward_buf *b, json_t *o)
{
	ward_cleanup_free char *text = o ? ward_json_ascii(o, JSON_COMPACT) : NULL;
	if (text)
		ward_buf_puts(b, text);
	else
		b->error = b->error ? b->error : -ENOMEM;
	ward_buf_putc(b, '\n');
	json_decref(o);
}
