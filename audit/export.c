/* SPDX-License-Identifier: Apache-2.0 */
#include "audit/export.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "audit/query.h"
#include "enforcer/base/clock.h"

static void export_jsonl(struct ward_buf *b, const struct ward_export_record *r)
{
	ward_buf_add(b, r->line, r->len);
	ward_buf_putc(b, '\n');
}

static const struct ward_export formats[] = {
	{"jsonl", NULL, export_jsonl},
	{"csv", ward_export_csv_head, ward_export_csv},
	{"cef", NULL, ward_export_cef},
	{"ocsf", NULL, ward_export_ocsf},
	{"otel", NULL, ward_export_otel},
};

const struct ward_export *ward_export_get(size_t i)
{
	return i < sizeof(formats) / sizeof(*formats) ? &formats[i] : NULL;
}

const struct ward_export *ward_export_find(const char *name)
{
	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++)
		if (strcmp(formats[i].name, name) == 0)
			return &formats[i];
	return NULL;
}

uint64_t ward_export_time_ns(const json_t *record, const char *member)
{
	const char *text = ward_query_text(record, member);
	struct tm tm = {0};
	unsigned ns = 0;
	if (!text || sscanf(text, "%4d-%2d-%2dT%2d:%2d:%2d.%9uZ", &tm.tm_year, &tm.tm_mon,
			     &tm.tm_mday, &tm.tm_hour, &tm.tm_min, &tm.tm_sec, &ns) != 7)
		return 0;
	tm.tm_year -= 1900;
	tm.tm_mon -= 1;
	time_t sec = timegm(&tm);
	return sec < 0 ? 0 : (uint64_t)sec * WARD_NS_PER_SEC + ns;
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
