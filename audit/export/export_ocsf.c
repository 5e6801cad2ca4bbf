/* SPDX-License-Identifier: Apache-2.0 */
/* Writes records as OCSF (https://schema.ocsf.io/1.3.0/). */
#include "audit/export/export_ocsf.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "audit/export/member_names.h"
#include "audit/query/query.h"
#include "audit/record_table.h"
#include "enforcer/base/cleanup.h"

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

/* max_len of string_t. */
#define OCSF_STRING_MAX 65535

/* A text, cut where the schema has no room: what is exported is in printable ASCII. */
static json_t *ocsf_text(const char *text, size_t len)
{
	return json_stringn(text, len < OCSF_STRING_MAX ? len : OCSF_STRING_MAX);
}

static json_t *ocsf_command(const json_t *argv)
{
	ward_cleanup(ward_buf_clear) struct ward_buf line = WARD_BUF_INIT;
	size_t i = 0;
	json_t *item = NULL;
	json_array_foreach(argv, i, item)
	{
		ward_buf_puts(&line, i ? " " : "");
		ward_buf_puts(&line, json_is_string(item) ? json_string_value(item) : "?");
	}
	return line.len > 0 ? ocsf_text(line.data, line.len) : NULL;
}

static json_t *ocsf_answers(const json_t *answers)
{
	json_t *found = json_array();
	size_t i = 0;
	json_t *item = NULL;
	json_array_foreach(answers, i, item)
	{
		json_array_append_new(found, json_pack("{s:O}", "rdata", item));
	}
	if (json_array_size(found) > 0)
		return found;
	json_decref(found);
	return NULL;
}

/* The value of a member, as the attribute wants it; NULL: it wants none. */
static json_t *ocsf_value(const struct ward_export_member *m, json_t *v)
{
	char number[32];
	switch ((int)m->tag) {
	case WARD_TAG_UID:
	case WARD_TAG_INO:
		if (!json_is_integer(v))
			return json_incref(v); /* more than 63 bits: the digits as a text */
		snprintf(number, sizeof(number), "%" JSON_INTEGER_FORMAT, json_integer_value(v));
		return json_string(number);
	case WARD_TAG_DURATION:
		return json_integer(json_integer_value(v) / 1000000);
	case WARD_TAG_ARGV:
		return ocsf_command(v);
	case WARD_TAG_ANSWERS:
		return ocsf_answers(v);
	case WARD_TAG_SHA256:
		return json_pack("[{s:i,s:O}]", "algorithm_id", 3, "value", v);
	default:
		break;
	}
	return json_is_string(v) ? ocsf_text(json_string_value(v), json_string_length(v))
				 : json_incref(v);
}

/* hostname_t: labels of letters, digits and hyphens, which begin and end with none of these. */
static bool is_hostname(const char *s)
{
	char last = '.';
	for (; *s; last = *s++)
		if (!isalnum((unsigned char)*s) &&
			((*s != '-' && *s != '.') || last == '.' || (last == '-' && *s == '.')))
			return false;
	return last != '.' && last != '-';
}

static bool is_address(const char *s)
{
	unsigned char addr[16];
	return inet_pton(AF_INET, s, addr) == 1 || inet_pton(AF_INET6, s, addr) == 1;
}

/* A name that is no hostname_t, and what is no address, is the name of the endpoint. */
static void ocsf_finish_endpoint(json_t *endpoint)
{
	const char *host = ward_query_text(endpoint, "hostname");
	const char *addr = ward_query_text(endpoint, "ip");
	if (addr && !is_address(addr)) {
		json_object_set(endpoint, "name", json_object_get(endpoint, "ip"));
		json_object_del(endpoint, "ip");
	}
	if (host && !is_hostname(host)) {
		json_object_set(endpoint, "name", json_object_get(endpoint, "hostname"));
		json_object_del(endpoint, "hostname");
	}
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
	json_t *profiles = class_uid == OCSF_BASE_EVENT || class_uid == OCSF_PROCESS_ACTIVITY
				   ? NULL
				   : json_array();
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
	json_t *metadata = json_pack("{s:s,s:{s:s,s:s},s:s,s:O*,s:s,s:s*,s:s*,s:o*}", "version",
		"1.3.0", "product", "name", "wardfs", "vendor_name", "wardfs", "uid", uid,
		"sequence", json_object_get(record, "seq"), "log_name", "trail", "correlation_uid",
		session, "original_time", ward_query_text(record, "time"), "profiles",
		ocsf_profiles(class_uid));
	json_t *o = json_pack("{s:i,s:i,s:i,s:I,s:i,s:I,s:i,s:o}", "class_uid", class_uid,
		"category_uid", category, "activity_id", activity, "type_uid",
		(json_int_t)class_uid * 100 + activity, "severity_id", deny ? 3 : 1, "time",
		(json_int_t)(ward_export_time_ns(record, "time") / 1000000), "status_id",
		ocsf_outcome(record).status, "metadata", metadata);
	/* A longer line is in the trail alone, where metadata.uid finds it. */
	if (r->len <= OCSF_STRING_MAX)
		json_object_set_new(o, "raw_data", json_stringn(r->line, r->len));
	if (class_uid != OCSF_BASE_EVENT)
		json_object_set_new(
			o, "device", json_pack("{s:i,s:s}", "type_id", 0, "hostname", r->host));
	if (class_uid != OCSF_BASE_EVENT && class_uid != OCSF_LIFECYCLE &&
		!json_object_get(record, "pid"))
		put_at(o, "actor.process.pid", json_integer(0));
	ocsf_put_members(o, record, class_uid, activity);
	json_t *process = json_object_get(json_object_get(o, "actor"), "process");
	ocsf_finish_file(json_object_get(process, "file"));
	/* pid of a record is the thread's. */
	if (json_object_get(record, "process") && json_object_get(record, "pid"))
		json_object_set(process, "tid", json_object_get(record, "pid"));
	return o;
}

static json_t *ocsf_file_event(const struct ward_export_record *r)
{
	const json_t *record = r->json;
	const enum ward_event_kind kind = ward_query_kind(record);
	/* For a refused operation, the activity that was tried. */
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
	ocsf_finish_endpoint(json_object_get(o, "dst_endpoint"));
	/* Neither name nor address came to be known. */
	if (!json_object_get(to, "hostname") && !json_object_get(to, "ip") &&
		!json_object_get(to, "name"))
		put_at(o, "dst_endpoint.name", json_string("?"));
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
	/* The requested name must be a hostname_t; raw_data has it in any case. */
	const char *host = ward_query_text(json_object_get(o, "query"), "hostname");
	if (!host || !is_hostname(host))
		json_object_del(o, "query");
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
	const char *action = ward_query_text(record, "action");
	const char *what = deny ? action : name;
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
	/* The name of an activity that the class lacks. */
	if (json_integer_value(json_object_get(o, "activity_id")) == OCSF_OTHER)
		json_object_set_new(o, "activity_name",
			json_string(deny && action ? action
				    : name	   ? name
						   : "?"));
	ward_export_object(b, o);
}
