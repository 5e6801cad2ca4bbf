/* SPDX-License-Identifier: Apache-2.0 */
/* Writes records as CSV and CEF. */
#include "audit/export/export_text.h"

#include <string.h>

#include "audit/export/member_names.h"
#include "audit/query/parse.h"
#include "audit/query/query.h"
#include "audit/record_table.h"
#include "enforcer/base/cleanup.h"

/* --- CSV: RFC 4180 --- */

void ward_export_csv_head(struct ward_buf *b)
{
	for (size_t i = 1; i <= WARD_EXPORT_MEMBERS; i++) {
		ward_buf_puts(b, i > 1 ? "," : "");
		ward_buf_puts(b, ward_export_csv_column(i));
	}
	ward_buf_puts(b, "\r\n");
}

static void csv_text(struct ward_buf *b, const char *s)
{
	ward_buf_putc(b, '"');
	/* Spreadsheets take such a field for a formula: an apostrophe in front makes it text. */
	if (*s && strchr("=+-@", *s))
		ward_buf_putc(b, '\'');
	for (; *s; s++) {
		if (*s == '"')
			ward_buf_putc(b, '"');
		ward_buf_putc(b, *s);
	}
	ward_buf_putc(b, '"');
}

static void csv_value(struct ward_buf *b, const json_t *v)
{
	if (json_is_string(v)) {
		csv_text(b, json_string_value(v));
	} else if (json_is_array(v)) {
		ward_cleanup(ward_buf_clear) struct ward_buf set = WARD_BUF_INIT;
		ward_export_join(&set, v);
		csv_text(b, ward_buf_str(&set));
	} else if (json_is_object(v)) {
		ward_cleanup_free char *text = ward_json_ascii(v, JSON_COMPACT);
		csv_text(b, text ? text : "");
	} else if (json_is_integer(v)) {
		ward_buf_printf(b, "%" JSON_INTEGER_FORMAT, json_integer_value(v));
	} else if (json_is_true(v)) {
		ward_buf_puts(b, "true");
	}
}

void ward_export_csv(struct ward_buf *b, const struct ward_export_record *r)
{
	for (size_t i = 1; i <= WARD_EXPORT_MEMBERS; i++) {
		ward_buf_puts(b, i > 1 ? "," : "");
		csv_value(b, json_object_get(r->json, ward_export_csv_column(i)));
	}
	ward_buf_puts(b, "\r\n");
}

/* --- CEF: header fields escape | and \, extension values = and \ --- */

static void cef_escape(struct ward_buf *b, const char *s, char special)
{
	for (; s && *s; s++) {
		if (*s == '\\' || *s == special)
			ward_buf_putc(b, '\\');
		ward_buf_putc(b, *s);
	}
}

static void cef_field(struct ward_buf *b, const char *key, const char *value)
{
	if (!value)
		return;
	ward_buf_printf(b, "%s=", key);
	cef_escape(b, value, '=');
	ward_buf_putc(b, ' ');
}

/*
 * One member. Each key comes once: of two members with the same key (bytes of a file and of a
 * connection) the later one stands.
 */
static bool cef_given_later(const struct ward_export_member *m, const json_t *record)
{
	const struct ward_export_member *end = ward_export_members + WARD_EXPORT_MEMBERS;
	for (const struct ward_export_member *o = m + 1; o < end; o++)
		if (o->cef && strcmp(o->cef, m->cef) == 0 && json_object_get(record, o->name))
			return true;
	return false;
}

static void cef_member(struct ward_buf *b, const struct ward_export_member *m, const json_t *record)
{
	const json_t *v = json_object_get(record, m->name);
	const char *text = json_string_value(v);
	const char *key = m->cef;
	const char *label = m->cef_label;
	ward_cleanup(ward_buf_clear) struct ward_buf joined = WARD_BUF_INIT;
	if (!v || json_is_null(v) || cef_given_later(m, record))
		return;
	/* Without a port `proto` is the type of a question. */
	if (m->tag == WARD_TAG_PROTO && !json_object_get(record, "port"))
		return;
	if (m->tag == WARD_TAG_ADDR && text && strchr(text, ':')) {
		key = "c6a3";
		label = "Destination IPv6 Address";
	}
	if (label) {
		ward_buf_puts(b, key);
		cef_field(b, "Label", label);
	}
	if (m->tag == WARD_TAG_UNTIL && text) {
		ward_buf_printf(b, "%s=%llu ", key,
			(unsigned long long)(ward_export_time_ns(record, m->name) / 1000000));
	} else if (json_is_array(v)) {
		ward_export_join(&joined, v);
		cef_field(b, key, ward_buf_str(&joined));
	} else if (json_is_integer(v)) {
		ward_buf_printf(b, "%s=%" JSON_INTEGER_FORMAT " ", key, json_integer_value(v));
	} else {
		cef_field(b, key, text);
	}
}

void ward_export_cef(struct ward_buf *b, const struct ward_export_record *r)
{
	const json_t *record = r->json;
	const char *kind = ward_query_text(record, "kind");
	const char *action = ward_query_text(record, "action");
	const char *session = ward_query_text(record, "session");
	bool deny = ward_record_named_is(kind, WARD_KIND_REFUSAL);
	ward_buf_puts(b, "CEF:0|wardfs|wardfs|1|");
	cef_escape(b, kind, '|');
	ward_buf_puts(b, deny ? "|refused " : "|");
	cef_escape(b, action ? action : kind, '|');
	ward_buf_printf(b, "|%d|", deny ? 6 : 2);
	ward_buf_printf(
		b, "rt=%llu ", (unsigned long long)(ward_export_time_ns(record, "time") / 1000000));
	cef_field(b, "dvchost", r->host);
	ward_buf_puts(b, "externalId=");
	cef_escape(b, session ? session : "?", '=');
	ward_buf_printf(b, ":%" JSON_INTEGER_FORMAT " ",
		json_integer_value(json_object_get(record, "seq")));
	for (size_t i = 0; i < WARD_EXPORT_MEMBERS; i++)
		if (ward_export_members[i].cef)
			cef_member(b, &ward_export_members[i], record);
	cef_field(b, "cs3Label", "mac");
	ward_buf_puts(b, "cs3=");
	cef_escape(b, ward_query_text(record, "mac"), '=');
	ward_buf_putc(b, '\n');
}
