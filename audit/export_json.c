/* SPDX-License-Identifier: Apache-2.0 */
/* OCSF and OTLP/JSON. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/export.h"
#include "audit/query.h"
#include "enforcer/base/cleanup.h"

static void put_object(struct ward_buf *b, json_t *o)
{
	char *text = json_dumps(o, JSON_COMPACT | JSON_ENSURE_ASCII);
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

static json_t *ocsf_file(const char *path)
{
	const char *slash = strrchr(path, '/');
	/* type_id 0: unknown; the record does not tell a file from a directory. */
	return json_pack("{s:s,s:s,s:i}", "path", path, "name",
		slash && slash[1] ? slash + 1 : path, "type_id", 0);
}

static json_t *ocsf_actor(const json_t *record)
{
	json_t *process = json_object();
	json_t *user = json_object();
	const char *comm = ward_query_text(record, "comm");
	json_t *pid = json_object_get(record, "pid");
	json_t *uid = json_object_get(record, "uid");
	if (comm)
		json_object_set_new(process, "name", json_string(comm));
	json_object_set_new(process, "pid", pid ? json_incref(pid) : json_integer(0));
	/* A user is somebody, or is not told. */
	if (uid) {
		char text[32];
		snprintf(text, sizeof(text), "%" JSON_INTEGER_FORMAT, json_integer_value(uid));
		json_object_set_new(user, "uid", json_string(text));
		json_object_set(process, "user", user);
	}
	json_decref(user);
	return json_pack("{s:o}", "process", process);
}

/*
 * Attributes that a profile brings to a class: action_id and what goes with it; actor and device,
 * in the classes that have none by themselves.
 */
static json_t *ocsf_profiles(int class_uid)
{
	json_t *profiles = json_array();
	if (class_uid == 1001 || class_uid == 4001 || class_uid == 4003)
		json_array_append_new(profiles, json_string("security_control"));
	if (class_uid == 4001 || class_uid == 4003 || class_uid == 6002)
		json_array_append_new(profiles, json_string("host"));
	return profiles;
}

/* Of status_id, and of disposition_id and action_id of the profile security_control. */
struct ocsf_outcome {
	int status;	 /* 0 unknown, 1 success, 2 failure */
	int disposition; /* 1 allowed, 2 blocked, 8 approved, 23 challenge */
	int action;	 /* 0 unknown, 1 allowed, 2 denied */
};

static bool is_question(const char *kind)
{
	return is(kind, "ask") || is(kind, "grant");
}

static struct ocsf_outcome ocsf_outcome(const json_t *record)
{
	const char *kind = ward_query_text(record, "kind");
	if (is(kind, "ask"))
		return (struct ocsf_outcome){0, 23, 0};
	if (is(kind, "grant") && is(ward_query_text(record, "result"), "granted"))
		return (struct ocsf_outcome){1, 8, 1};
	if (is(kind, "grant") || (kind && ward_query_is_refusal(kind)))
		return (struct ocsf_outcome){2, 2, 2};
	return (struct ocsf_outcome){1, 1, 1};
}

static void ocsf_put_control(json_t *o, const json_t *record)
{
	const struct ocsf_outcome x = ocsf_outcome(record);
	json_object_set_new(o, "disposition_id", json_integer(x.disposition));
	json_object_set_new(o, "action_id", json_integer(x.action));
}

/* A question to a person, or its answer: members for which the schema has no place. */
static void ocsf_put_question(json_t *o, const json_t *record)
{
	static const char *const members[] = {"request", "result", "by", "scope", "until"};
	const char *kind = ward_query_text(record, "kind");
	json_t *unmapped = json_object();
	for (size_t i = 0; i < sizeof(members) / sizeof(*members); i++) {
		json_t *v = json_object_get(record, members[i]);
		if (v)
			json_object_set(unmapped, members[i], v);
	}
	json_object_set_new(o, "unmapped", unmapped);
	json_object_set_new(o, "activity_name", json_string(kind));
	if (ward_query_text(record, "text"))
		json_object_set_new(o, "message", json_string(ward_query_text(record, "text")));
}

/* What every class requires. */
static json_t *ocsf_base(
	const struct ward_export_record *r, int class_uid, int category, int activity)
{
	const json_t *record = r->json;
	const char *session = ward_query_text(record, "session");
	const char *kind = ward_query_text(record, "kind");
	bool deny = kind && ward_query_is_refusal(kind);
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
	/* The base class has no device. */
	if (class_uid)
		json_object_set_new(
			o, "device", json_pack("{s:i,s:s}", "type_id", 0, "hostname", r->host));
	return o;
}

static json_t *ocsf_file_event(const struct ward_export_record *r)
{
	const json_t *record = r->json;
	const char *kind = ward_query_text(record, "kind");
	const char *action = ward_query_text(record, "action");
	const char *path = ward_query_text(record, "path");
	const char *path2 = ward_query_text(record, "path2");
	const char *error = ward_query_text(record, "errno");
	bool deny = kind && ward_query_is_refusal(kind);
	int activity = file_activity(record, deny || is_question(kind) ? action : kind);
	json_t *o = ocsf_base(r, 1001, 1, activity);
	json_object_set_new(o, "actor", ocsf_actor(record));
	json_object_set_new(o, "file", ocsf_file(path));
	if (path2 && activity == OCSF_RENAME)
		json_object_set_new(o, "file_result", ocsf_file(path2));
	if (error)
		json_object_set_new(o, "status_code", json_string(error));
	ocsf_put_control(o, record);
	if (ward_query_text(record, "rule"))
		json_object_set_new(o, "firewall_rule",
			json_pack("{s:s,s:s?}", "name", ward_query_text(record, "rule"), "desc",
				ward_query_text(record, "rule_text")));
	return o;
}

/* Class 1007, Process Activity: 1 launch. The actor is who asked for it. */
static json_t *ocsf_process_event(const struct ward_export_record *r)
{
	const json_t *record = r->json;
	const char *path = ward_query_text(record, "path");
	json_t *pid = json_object_get(record, "pid");
	json_t *parent = json_object_get(record, "parent");
	json_t *o = ocsf_base(r, 1007, 1, 1);
	json_t *process = json_object();
	/* The kernel puts the program into the process that asks. */
	json_object_set_new(process, "pid", pid ? json_incref(pid) : json_integer(0));
	json_object_set_new(process, "file", ocsf_file(path ? path : "?"));
	const char *slash = path ? strrchr(path, '/') : NULL;
	json_object_set_new(process, "name", json_string(slash && slash[1] ? slash + 1 : "?"));
	ward_cleanup(ward_buf_clear) struct ward_buf line = WARD_BUF_INIT;
	size_t i = 0;
	json_t *v = NULL;
	json_array_foreach(json_object_get(record, "argv"), i, v)
	{
		ward_buf_puts(&line, i ? " " : "");
		ward_buf_puts(&line, json_is_string(v) ? json_string_value(v) : "?");
	}
	if (line.len > 0)
		json_object_set_new(process, "cmd_line", json_string(ward_buf_str(&line)));
	if (parent)
		json_object_set_new(process, "parent_process", json_pack("{s:O}", "pid", parent));
	json_object_set_new(o, "process", process);
	json_object_set_new(o, "actor", ocsf_actor(record));
	return o;
}

static void set_copy(json_t *to, const char *name, const json_t *record, const char *member)
{
	json_t *v = json_object_get(record, member);
	if (v && !json_is_null(v))
		json_object_set(to, name, v);
}

/* Class 4001, Network Activity: 1 open, 5 refuse. */
static json_t *ocsf_network_event(const struct ward_export_record *r, bool deny)
{
	const json_t *record = r->json;
	bool question = is_question(ward_query_text(record, "kind"));
	json_t *o = ocsf_base(r, 4001, 4, question ? OCSF_OTHER : deny ? 5 : 1);
	json_t *to = json_object();
	json_t *from = json_object();
	json_t *info = json_pack("{s:i}", "direction_id", 2); /* outbound */
	json_t *traffic = json_object();
	set_copy(to, "hostname", record, "host");
	set_copy(to, "ip", record, "addr");
	set_copy(to, "port", record, "port");
	/* Neither name nor address came to be known. */
	if (!json_object_get(to, "hostname") && !json_object_get(to, "ip"))
		json_object_set_new(to, "hostname", json_string("?"));
	json_object_set_new(from, "hostname", json_string(r->host));
	set_copy(info, "protocol_name", record, "proto");
	set_copy(traffic, "bytes_out", record, "sent");
	set_copy(traffic, "bytes_in", record, "received");
	json_object_set_new(o, "dst_endpoint", to);
	json_object_set_new(o, "src_endpoint", from);
	json_object_set_new(o, "connection_info", info);
	if (json_object_size(traffic) > 0)
		json_object_set(o, "traffic", traffic);
	json_decref(traffic);
	if (ward_query_text(record, "sni"))
		json_object_set_new(o, "tls",
			json_pack("{s:s,s:s}", "sni", ward_query_text(record, "sni"), "version",
				"unknown"));
	json_object_set_new(o, "actor", ocsf_actor(record));
	ocsf_put_control(o, record);
	return o;
}

/* Class 4003, DNS Activity: 1 query, 2 response. */
static json_t *ocsf_dns_event(const struct ward_export_record *r, bool deny)
{
	const json_t *record = r->json;
	const json_t *answers = json_object_get(record, "answers");
	json_t *o = ocsf_base(r, 4003, 4, json_array_size(answers) > 0 ? 2 : 1);
	json_t *query = json_object();
	json_t *found = json_array();
	size_t i = 0;
	json_t *v = NULL;
	set_copy(query, "hostname", record, "host");
	if (!json_object_get(query, "hostname"))
		json_object_set_new(query, "hostname", json_string("?"));
	set_copy(query, "type", record, "proto");
	json_array_foreach(answers, i, v)
	{
		json_array_append_new(found, json_pack("{s:O}", "rdata", v));
	}
	json_object_set_new(o, "query", query);
	if (json_array_size(found) > 0)
		json_object_set(o, "answers", found);
	json_decref(found);
	json_object_set_new(o, "src_endpoint", json_pack("{s:s}", "hostname", r->host));
	json_object_set_new(o, "actor", ocsf_actor(record));
	ocsf_put_control(o, record);
	return o;
}

static bool has_host(const json_t *record)
{
	return ward_query_text(record, "host") || ward_query_text(record, "addr");
}

void ward_export_ocsf(struct ward_buf *b, const struct ward_export_record *r)
{
	const json_t *record = r->json;
	const char *kind = ward_query_text(record, "kind");
	bool start = is(kind, "session.start");
	bool deny = is(kind, "deny");
	const char *what = deny ? ward_query_text(record, "action") : kind;
	json_t *o = NULL;
	if (is(kind, "exec")) {
		o = ocsf_process_event(r);
	} else if (is(what, "connect") || (is_question(kind) && has_host(record))) {
		o = ocsf_network_event(r, deny);
	} else if (is(what, "dns") || is(what, "resolve")) {
		o = ocsf_dns_event(r, deny);
	} else if (ward_query_text(record, "path")) {
		o = ocsf_file_event(r);
	} else if (start || is(kind, "session.end")) {
		/* Application Lifecycle: 3 start, 4 stop. */
		o = ocsf_base(r, 6002, 6, start ? 3 : 4);
		json_object_set_new(o, "app",
			json_pack("{s:s,s:s}", "name", "wardfs", "vendor_name", "wardfs"));
	} else {
		o = ocsf_base(r, 0, 0, OCSF_OTHER);
		json_object_set_new(o, "activity_name", json_string(kind ? kind : "?"));
		if (ward_query_text(record, "text"))
			json_object_set_new(
				o, "message", json_string(ward_query_text(record, "text")));
	}
	if (is_question(kind))
		ocsf_put_question(o, record);
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
		char *text = json_dumps(v, JSON_COMPACT | JSON_ENSURE_ASCII);
		json_t *o = json_pack("{s:s?}", "stringValue", text);
		free(text);
		return o;
	}
	return json_object(); /* null: an empty value */
}

void ward_export_otel(struct ward_buf *b, const struct ward_export_record *r)
{
	const json_t *record = r->json;
	const char *kind = ward_query_text(record, "kind");
	bool deny = kind && ward_query_is_refusal(kind);
	char time[32];
	snprintf(time, sizeof(time), "%llu",
		(unsigned long long)ward_export_time_ns(record, "time"));
	json_t *attributes = json_array();
	const char *name = NULL;
	json_t *v = NULL;
	json_object_foreach((json_t *)(uintptr_t)record, name, v)
	{
		char key[64];
		snprintf(key, sizeof(key), "wardfs.%s", name);
		json_array_append_new(
			attributes, json_pack("{s:s,s:o}", "key", key, "value", otel_value(v)));
	}
	/* Severity: 13 is WARN, 9 INFO. */
	json_t *rec = json_pack("{s:s,s:i,s:s,s:{s:s%},s:o}", "timeUnixNano", time,
		"severityNumber", deny ? 13 : 9, "severityText", deny ? "WARN" : "INFO", "body",
		"stringValue", r->line, r->len, "attributes", attributes);
	put_object(b,
		json_pack("{s:[{s:{s:[{s:s,s:{s:s}}]},s:[{s:{s:s},s:[o]}]}]}", "resourceLogs",
			"resource", "attributes", "key", "service.name", "value", "stringValue",
			"wardfs", "scopeLogs", "scope", "name", "wardfs.audit", "logRecords", rec));
}
