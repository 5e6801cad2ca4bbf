/* SPDX-License-Identifier: Apache-2.0 */
/* Writes records as OTLP/JSON: ExportLogsServiceRequest of opentelemetry-proto 1.5. */
#include "audit/export/export_otel.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "audit/query/parse.h"
#include "audit/query/query.h"
#include "audit/record_table.h"
#include "enforcer/base/cleanup.h"

static json_t *otel_value(const json_t *v)
{
	if (json_is_string(v))
		return json_pack("{s:O}", "stringValue", v);
	if (json_is_integer(v)) {
		/* 64-bit numbers are strings in the JSON form of protocol buffers. */
		char text[32];
		snprintf(text, sizeof(text), "%" JSON_INTEGER_FORMAT, json_integer_value(v));
		return json_pack("{s:s}", "intValue", text);
	}
	if (json_is_boolean(v))
		return json_pack("{s:b}", "boolValue", json_is_true(v));
	if (json_is_array(v)) {
		size_t i = 0;
		json_t *e = NULL;
		json_t *values = json_array();
		json_array_foreach(v, i, e)
		{
			if (json_is_string(e))
				json_array_append_new(values, json_pack("{s:O}", "stringValue", e));
		}
		return json_pack("{s:{s:o}}", "arrayValue", "values", values);
	}
	if (json_is_object(v)) {
		char *text = ward_json_ascii(v, JSON_COMPACT);
		json_t *o = json_pack("{s:s?}", "stringValue", text);
		free(text);
		return o;
	}
	return json_object(); /* null: an empty value */
}

/* A record as a LogRecord; the other side takes two with the same log.record.uid for one. */
static json_t *otel_record(const struct ward_export_record *r)
{
	const json_t *record = r->json;
	const char *session = ward_query_text(record, "session");
	const char *kind = ward_query_text(record, "kind");
	bool deny = ward_record_kind_is(ward_query_kind(record), WARD_KIND_REFUSAL);
	char time[32], uid[160], event[64];
	snprintf(time, sizeof(time), "%llu",
		(unsigned long long)ward_export_time_ns(record, "time"));
	snprintf(uid, sizeof(uid), "%s:%" JSON_INTEGER_FORMAT, session ? session : "?",
		json_integer_value(json_object_get(record, "seq")));
	snprintf(event, sizeof(event), "wardfs.%s", kind ? kind : "?");
	json_t *attributes = json_array();
	json_array_append_new(attributes,
		json_pack("{s:s,s:{s:s}}", "key", "log.record.uid", "value", "stringValue", uid));
	const char *name = NULL;
	json_t *v = NULL;
	json_object_foreach((json_t *)(uintptr_t)record, name, v)
	{
		char key[64];
		snprintf(key, sizeof(key), "wardfs.%s", name);
		json_array_append_new(
			attributes, json_pack("{s:s,s:o}", "key", key, "value", otel_value(v)));
	}
	/* Severity: 13 is WARN, 9 INFO. Seen is what was done: nobody is in between. */
	return json_pack("{s:s,s:s,s:i,s:s,s:s,s:{s:s%},s:o}", "timeUnixNano", time,
		"observedTimeUnixNano", time, "severityNumber", deny ? 13 : 9, "severityText",
		deny ? "WARN" : "INFO", "eventName", event, "body", "stringValue", r->line, r->len,
		"attributes", attributes);
}

void ward_export_otel_record(struct ward_buf *b, const struct ward_export_record *r)
{
	ward_export_object(b, otel_record(r));
}

void ward_export_otel_head(struct ward_buf *b, const char *host)
{
	json_t *name = json_string(host);
	ward_cleanup_free char *text =
		name ? ward_json_ascii(name, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;
	json_decref(name);
	if (!text) {
		b->error = b->error ? b->error : -ENOMEM;
		return;
	}
	ward_buf_printf(b,
		"{\"resourceLogs\":[{\"resource\":{\"attributes\":["
		"{\"key\":\"service.name\",\"value\":{\"stringValue\":\"wardfs\"}},"
		"{\"key\":\"host.name\",\"value\":{\"stringValue\":%s}}]},"
		"\"scopeLogs\":[{\"scope\":{\"name\":\"wardfs.audit\"},\"logRecords\":[",
		text);
}

const char *ward_export_otel_tail(void)
{
	return "]}]}]}";
}

void ward_export_otel(struct ward_buf *b, const struct ward_export_record *r)
{
	ward_export_otel_head(b, r->host);
	ward_export_otel_record(b, r);
	/* Its newline ends the line. */
	if (ward_buf_error(b) == 0)
		b->data[--b->len] = '\0';
	ward_buf_puts(b, ward_export_otel_tail());
	ward_buf_putc(b, '\n');
}
