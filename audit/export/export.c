/* SPDX-License-Identifier: Apache-2.0 */
/* Picks the format of an export. */
#include "audit/export/export.h"

#include <string.h>

#include "audit/export/export_ocsf.h"
#include "audit/export/export_otel.h"
#include "audit/export/export_text.h"
#include "enforcer/base/escape.h"

static void export_jsonl(struct ward_buf *b, const struct ward_export_record *r)
{
	ward_escape_in_json(b, r->line, r->len);
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
