/* SPDX-License-Identifier: Apache-2.0 */
/* Writes records as OCSF and OTLP/JSON. */
#include "audit/export/export_json.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/export/member_names.h"
#include "audit/query/parse.h"
#include "audit/query/query.h"
#include "audit/record_table.h"
#include "enforcer/base/cleanup.h"

static void put_object(struct ward_buf *b, json_t *o)
{
	char *text = ward_json_ascii(o, JSON_COMPACT);
	if (text)
		ward_buf_puts(b, text);
	else
		b->error = -ENOMEM;
	ward_buf_putc(b, '\n');
	free(text);
	json_decref(o);
}

static bool is(const char *s, const char *what)
{
	return s && strcmp(s, what) == 0;
}

static bool asks(const json_t *record, const char *right)
{
	size_t i = 0;
	json_t *v = NULL;
	json_array_foreach(json_object_get(record, "asked"), i, v)
	{
		if (is(json_string_value(v), right))
			return true;
	}
	return false;
}

/* --- OCSF (https://schema.ocsf.io/1.3.0/) --- */

enum ocsf_class {
	OCSF_BASE_EVENT = 0,
	OCSF_FILE_ACTIVITY = 1001,
	OCSF_PROCESS_ACTIVITY = 1007,
	OCSF_NETWORK_ACTIVITY = 4001,
	OCSF_DNS_ACTIVITY = 4003,
	OCSF_LIFECYCLE = 6002,
};

/* Values of activity_id of class 1001, File System Activity. */
enum ocsf_activity {
	OCSF_CREATE = 1,
	OCSF_READ = 2,
	OCSF_UPDATE = 3,
	OCSF_DELETE = 4,
	OCSF_RENAME = 5,
	OCSF_SET_ATTRIBUTES = 6,
	OCSF_OPEN = 14,
	OCSF_OTHER = 99,
};

static int file_activity(const json_t *record, const char *what)
{
	if (is(what, "create") || is(what, "mkdir") || is(what, "mknod") || is(what, "symlink") ||
		is(what, "link"))
		return OCSF_CREATE;
	if (is(what, "remove") || is(what, "unlink") || is(what, "rmdir"))
		return OCSF_DELETE;
	if (is(what, "rename"))
		return OCSF_RENAME;
	if (is(what, "attr") || is(what, "xattr") || is(what, "setattr") || is(what, "truncate"))
		return OCSF_SET_ATTRIBUTES;
	if (asks(record, "write") || asks(record, "append"))
		return OCSF_UPDATE;
	if (asks(record, "read"))
		return OCSF_READ;
	return is(what, "open") ? OCSF_OPEN : OCSF_OTHER;
}

/* Sets an attribute of an object within objects: "actor.process.pid". Steals v. */
static void put_at(json_t *o, const char *at, json_t *v)
{
	char name[32];
	for (const char *dot = NULL; (dot = strchr(at, '.')); at = dot + 1) {
		snprintf(name, sizeof(name), "%.*s", (int)(dot - at), at);
		if (!json_object_get(o, name))
			json_object_set_new(o, name, json_object());
		o = json_object_get(o, name);
	}
	json_object_set_new(o, at, v);
}

/* The value of a member, as the attribute wants it. */
static json_t *ocsf_value(const struct ward_export_member *m, json_t *v)
{
	char number[32];
	size_t i = 0;
	json_t *item = NULL;
	if (m->tag == WARD_TAG_UID) {
		snprintf(number, sizeof(number), "%" JSON_INTEGER_FORMAT, json_integer_value(v));
		return json_string(number);
	}
	if (m->tag == WARD_TAG_ARGV) {
		ward_cleanup(ward_buf_clear) struct ward_buf line = WARD_BUF_INIT;
		json_array_foreach(v, i, item)
		{
			ward_buf_puts(&line, i ? " " : "");
			ward_buf_puts(&line, json_is_string(item) ? json_string_value(item) : "?");
		}
		return line.len > 0 ? json_string(ward_buf_str(&line)) : NULL;
	}
	if (m->tag == WARD_TAG_ANSWERS) {
		json_t *found = json_array();
		json_array_foreach(v, i, item)
		{
			json_array_append_new(found, json_pack("{s:O}", "rdata", item));
		}
		if (json_array_size(found) > 0)
			return found;
		json_decref(found);
		return NULL;
	}
	return json_incref(v);
}

static const char *ocsf_place(const struct ward_export_ocsf_names *n, int class_uid)
{
	switch (class_uid) {
	case OCSF_FILE_ACTIVITY:
		return n->actor ? n->actor : n->file;
	case OCSF_PROCESS_ACTIVITY:
		return n->actor ? n->actor : n->process;
	case OCSF_NETWORK_ACTIVITY:
		return n->actor ? n->actor : n->network;
	case OCSF_DNS_ACTIVITY:
		return n->actor ? n->actor : n->dns;
	default:
		return NULL;
	}
}

/* A file is its path, with its last name. type_id 0: the record does not tell files from others. */
static void ocsf_finish_file(json_t *file)
{
	const char *path = ward_query_text(file, "path");
	const char *slash = path ? strrchr(path, '/') : NULL;
	if (!file)
		return;
	if (!path)
		json_object_set_new(file, "path", json_string("?"));
	json_object_set_new(file, "name",
		json_string(slash && slash[1] ? slash + 1
			    : path	      ? path
					      : "?"));
	json_object_set_new(file, "type_id", json_integer(0));
}

/* Every member of the record that the class has a place for. */
static void ocsf_put_members(json_t *o, const json_t *record, int class_uid, int activity)
{
	const bool question = ward_record_kind_is(ward_query_kind(record), WARD_KIND_QUESTION);
	for (size_t i = 0; i < WARD_EXPORT_MEMBERS; i++) {
		const struct ward_export_member *m = &ward_export_members[i];
		json_t *v = json_object_get(record, m->name);
		const char *at = ocsf_place(&m->ocsf, class_uid);
		at = at ? at : m->ocsf.any;
		if (question && m->ocsf.question)
			at = m->ocsf.question;
		/* Elsewhere it is another name of the same file. */
		if (m->tag == WARD_TAG_PATH2 && activity != OCSF_RENAME)
			continue;
		json_t *value = v && at && !json_is_null(v) ? ocsf_value(m, v) : NULL;
		if (value)
			put_at(o, at, value);
	}
}

/*
 * Attributes that a profile brings to a class: action_id and what goes with it; actor and device,
 * in the classes that have none by themselves.
 */
static json_t *ocsf_profiles(int class_uid)
{
	json_t *profiles = json_array();
	if (class_uid == OCSF_FILE_ACTIVITY || class_uid == OCSF_NETWORK_ACTIVITY ||
		class_uid == OCSF_DNS_ACTIVITY)
		json_array_append_new(profiles, json_string("security_control"));
	if (class_uid == OCSF_NETWORK_ACTIVITY || class_uid == OCSF_DNS_ACTIVITY ||
		class_uid == OCSF_LIFECYCLE)
		json_array_append_new(profiles, json_string("host"));
	return profiles;
}

/* Of status_id, and of disposition_id and action_id of the profile security_control. */
struct ocsf_outcome {
	int status;	 /* 0 unknown, 1 success, 2 failure */
	int disposition; /* 1 allowed, 2 blocked, 8 approved, 23 challenge */
	int action;	 /* 0 unknown, 1 allowed, 2 denied */
};

static struct ocsf_outcome ocsf_outcome(const json_t *record)
{
	const enum ward_event_kind kind = ward_query_kind(record);
	if (kind == WARD_EVENT_ASK)
		return (struct ocsf_outcome){0, 23, 0};
	if (kind == WARD_EVENT_GRANT && is(ward_query_text(record, "result"), "granted"))
		return (struct ocsf_outcome){1, 8, 1};
	if (kind == WARD_EVENT_GRANT || ward_record_kind_is(kind, WARD_KIND_REFUSAL))
		return (struct ocsf_outcome){2, 2, 2};
	return (struct ocsf_outcome){1, 1, 1};
}

static void ocsf_put_control(json_t *o, const json_t *record)
{
	const struct ocsf_outcome x = ocsf_outcome(record);
	json_object_set_new(o, "disposition_id", json_integer(x.disposition));
	json_object_set_new(o, "action_id", json_integer(x.action));
}

/* What every class requires. */
static json_t *ocsf_base(
	const struct ward_export_record *r, int class_uid, int category, int activity)
{
	const json_t *record = r->json;
	const char *session = ward_query_text(record, "session");
	bool deny = ward_record_kind_is(ward_query_kind(record), WARD_KIND_REFUSAL);
	char uid[160];
	snprintf(uid, sizeof(uid), "%s:%" JSON_INTEGER_FORMAT, session ? session : "?",
		json_integer_value(json_object_get(record, "seq")));
	json_t *metadata = json_pack("{s:s,s:{s:s,s:s},s:s,s:O?,s:s,s:s?,s:o}", "version", "1.3.0",
		"product", "name", "wardfs", "vendor_name", "wardfs", "uid", uid, "sequence",
		json_object_get(record, "seq"), "log_name", "trail", "correlation_uid", session,
		"profiles", ocsf_profiles(class_uid));
	json_t *o = json_pack("{s:i,s:i,s:i,s:I,s:i,s:I,s:i,s:o,s:s%}", "class_uid", class_uid,
		"category_uid", category, "activity_id", activity, "type_uid",
		(json_int_t)class_uid * 100 + activity, "severity_id", deny ? 3 : 1, "time",
		(json_int_t)(ward_export_time_ns(record, "time") / 1000000), "status_id",
		ocsf_outcome(record).status, "metadata", metadata, "raw_data", r->line, r->len);
	if (class_uid != OCSF_BASE_EVENT)
		json_object_set_new(
			o, "device", json_pack("{s:i,s:s}", "type_id", 0, "hostname", r->host));
	if (class_uid != OCSF_BASE_EVENT && class_uid != OCSF_LIFECYCLE &&
		!json_object_get(record, "pid"))
		put_at(o, "actor.process.pid", json_integer(0));
	ocsf_put_members(o, record, class_uid, activity);
	return o;
}

static json_t *ocsf_file_event(const struct ward_export_record *r)
{
	const json_t *record = r->json;
	const enum ward_event_kind kind = ward_query_kind(record);
	/* Of what was not done, what was tried. */
	const bool tried = ward_record_kind_is(kind, WARD_KIND_REFUSAL) ||
			   ward_record_kind_is(kind, WARD_KIND_QUESTION);
	int activity = file_activity(record, ward_query_text(record, tried ? "action" : "kind"));
	json_t *o = ocsf_base(r, OCSF_FILE_ACTIVITY, 1, activity);
	ocsf_finish_file(json_object_get(o, "file"));
	ocsf_finish_file(json_object_get(o, "file_result"));
	ocsf_put_control(o, record);
	return o;
}

/* 1 launch. The actor is who asked for it. */
static json_t *ocsf_process_event(const struct ward_export_record *r)
{
	json_t *o = ocsf_base(r, OCSF_PROCESS_ACTIVITY, 1, 1);
	if (!ward_query_text(r->json, "path"))
		put_at(o, "process.file.path", json_string("?"));
	json_t *process = json_object_get(o, "process");
	json_t *file = json_object_get(process, "file");
	/* The kernel puts the program into the process that asks. */
	json_t *pid =
		json_object_get(json_object_get(json_object_get(o, "actor"), "process"), "pid");
	json_object_set(process, "pid", pid);
	ocsf_finish_file(file);
	json_object_set(process, "name", json_object_get(file, "name"));
	return o;
}

/* 1 open, 5 refuse. */
static json_t *ocsf_network_event(const struct ward_export_record *r, bool deny)
{
	const bool question = ward_record_kind_is(ward_query_kind(r->json), WARD_KIND_QUESTION);
	json_t *o = ocsf_base(r, OCSF_NETWORK_ACTIVITY, 4, question ? OCSF_OTHER : deny ? 5 : 1);
	const json_t *to = json_object_get(o, "dst_endpoint");
	/* Neither name nor address came to be known. */
	if (!json_object_get(to, "hostname") && !json_object_get(to, "ip"))
		put_at(o, "dst_endpoint.hostname", json_string("?"));
	put_at(o, "src_endpoint.hostname", json_string(r->host));
	const char *action = ward_query_text(r->json, "action");
	const bool inbound = action && strcmp(action, "accept") == 0;
	put_at(o, "connection_info.direction_id", json_integer(inbound ? 1 : 2));
	if (json_object_get(o, "tls"))
		put_at(o, "tls.version", json_string("unknown"));
	ocsf_put_control(o, r->json);
	return o;
}

/* 1 query, 2 response. */
static json_t *ocsf_dns_event(const struct ward_export_record *r)
{
	bool answered = json_array_size(json_object_get(r->json, "answers")) > 0;
	json_t *o = ocsf_base(r, OCSF_DNS_ACTIVITY, 4, answered ? 2 : 1);
	if (!json_object_get(json_object_get(o, "query"), "hostname"))
		put_at(o, "query.hostname", json_string("?"));
	put_at(o, "src_endpoint.hostname", json_string(r->host));
	ocsf_put_control(o, r->json);
	return o;
}

static bool has_host(const json_t *record)
{
	return ward_query_text(record, "host") || ward_query_text(record, "addr");
}

void ward_export_ocsf(struct ward_buf *b, const struct ward_export_record *r)
{
	const json_t *record = r->json;
	const enum ward_event_kind kind = ward_query_kind(record);
	const char *name = ward_query_text(record, "kind");
	const bool start = kind == WARD_EVENT_SESSION_START;
	const bool deny = kind == WARD_EVENT_DENY;
	const bool question = ward_record_kind_is(kind, WARD_KIND_QUESTION);
	const char *what = deny ? ward_query_text(record, "action") : name;
	json_t *o = NULL;
	if (kind == WARD_EVENT_EXEC) {
		o = ocsf_process_event(r);
	} else if (is(what, "connect") || (question && has_host(record))) {
		o = ocsf_network_event(r, deny);
	} else if (is(what, "dns") || is(what, "resolve")) {
		o = ocsf_dns_event(r);
	} else if (ward_query_text(record, "path")) {
		o = ocsf_file_event(r);
	} else if (start || kind == WARD_EVENT_SESSION_END) {
		/* 3 start, 4 stop. */
		o = ocsf_base(r, OCSF_LIFECYCLE, 6, start ? 3 : 4);
		put_at(o, "app.name", json_string("wardfs"));
		put_at(o, "app.vendor_name", json_string("wardfs"));
	} else {
		o = ocsf_base(r, OCSF_BASE_EVENT, 0, OCSF_OTHER);
	}
	if (question || json_integer_value(json_object_get(o, "class_uid")) == OCSF_BASE_EVENT)
		json_object_set_new(o, "activity_name", json_string(name ? name : "?"));
	put_object(b, o);
}

/* --- OTLP/JSON: an ExportLogsServiceRequest a line, as its file exporter writes them --- */

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
	put_object(b, otel_record(r));
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
