/* SPDX-License-Identifier: Apache-2.0 */
/* CSV and CEF. */
#include <string.h>

#include "audit/export.h"
#include "audit/query.h"
#include "enforcer/base/cleanup.h"

/* --- CSV: RFC 4180 --- */

static const char *const columns[] = {"seq", "session", "kind", "time", "mono", "ring", "pid",
	"uid", "comm", "action", "path", "path2", "asked", "given", "verdict", "rule", "rule_text",
	"source", "errno", "io", "read", "written", "size", "text", "status", "signal", "names",
	"parent", "started", "process", "argv", "host", "addr", "port", "sni", "name", "result",
	"limit", "used", "sent", "received", "duration", "dev", "ino", "ino2", "size_before",
	"lock", "sha256", "request", "by", "scope", "until", "mac"};

const char ward_export_csv_head[] =
	"seq,session,kind,time,mono,ring,pid,uid,comm,action,path,path2,asked,given,verdict,rule,"
	"rule_text,source,errno,io,read,written,size,text,status,signal,names,"
	"parent,started,process,argv,host,addr,port,sni,name,result,limit,used,sent,received,duration,"
	"dev,ino,ino2,size_before,lock,sha256,request,by,scope,until,mac\r\n";

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

void ward_export_csv(struct ward_buf *b, const struct ward_export_record *r)
{
	const json_t *record = r->json;
	for (size_t i = 0; i < sizeof(columns) / sizeof(*columns); i++) {
		const json_t *v = json_object_get(record, columns[i]);
		if (i > 0)
			ward_buf_putc(b, ',');
		if (json_is_string(v)) {
			csv_text(b, json_string_value(v));
		} else if (json_is_array(v)) {
			ward_cleanup(ward_buf_clear) struct ward_buf set = WARD_BUF_INIT;
			ward_export_join(&set, v);
			csv_text(b, ward_buf_str(&set));
		} else if (json_is_integer(v)) {
			ward_buf_printf(b, "%" JSON_INTEGER_FORMAT, json_integer_value(v));
		}
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

static void cef_number(struct ward_buf *b, const char *key, const json_t *value)
{
	if (json_is_integer(value))
		ward_buf_printf(b, "%s=%" JSON_INTEGER_FORMAT " ", key, json_integer_value(value));
}

/* Where a connection goes: the keys of the CEF dictionary for a name, IPv4 and IPv6 addresses. */
static void cef_destination(struct ward_buf *b, const json_t *record)
{
	const char *addr = ward_query_text(record, "addr");
	const bool six = addr && strchr(addr, ':');
	cef_field(b, "dhost", ward_query_text(record, "host"));
	cef_field(b, "c6a3Label", six ? "Destination IPv6 Address" : NULL);
	cef_field(b, six ? "c6a3" : "dst", addr);
	const json_t *port = json_object_get(record, "port");
	cef_number(b, "dpt", port);
	/* Without a port `proto` is the type of a question. */
	cef_field(b, "app", port ? ward_query_text(record, "proto") : NULL);
	cef_field(b, "cs6Label", ward_query_text(record, "sni") ? "sni" : NULL);
	cef_field(b, "cs6", ward_query_text(record, "sni"));
}

static void cef_arguments(struct ward_buf *b, const json_t *argv)
{
	ward_cleanup(ward_buf_clear) struct ward_buf joined = WARD_BUF_INIT;
	if (!json_is_array(argv))
		return;
	ward_export_join(&joined, argv);
	cef_field(b, "cs5Label", "argv");
	cef_field(b, "cs5", ward_buf_str(&joined));
}

/* A question to a person, and its answer: which, by whom, how far and how long. */
static void cef_question(struct ward_buf *b, const json_t *record)
{
	const char *request = ward_query_text(record, "request");
	const char *scope = ward_query_text(record, "scope");
	const char *until = ward_query_text(record, "until");
	cef_field(b, "flexString1Label", request ? "request" : NULL);
	cef_field(b, "flexString1", request);
	cef_field(b, "flexString2Label", scope ? "scope" : NULL);
	cef_field(b, "flexString2", scope);
	cef_field(b, "deviceCustomDate1Label", until ? "until" : NULL);
	if (until)
		ward_buf_printf(b, "deviceCustomDate1=%llu ",
			(unsigned long long)(ward_export_time_ns(record, "until") / 1000000));
	cef_field(b, "suser", ward_query_text(record, "by"));
}

void ward_export_cef(struct ward_buf *b, const struct ward_export_record *r)
{
	const json_t *record = r->json;
	const char *kind = ward_query_text(record, "kind");
	const char *action = ward_query_text(record, "action");
	const char *session = ward_query_text(record, "session");
	bool deny = kind && ward_query_is_refusal(kind);
	ward_buf_puts(b, "CEF:0|wardfs|wardfs|1|");
	cef_escape(b, kind, '|');
	ward_buf_puts(b, deny ? "|refused " : "|");
	cef_escape(b, action ? action : kind, '|');
	ward_buf_printf(b, "|%d|", deny ? 6 : 2);
	ward_buf_printf(
		b, "rt=%llu ", (unsigned long long)(ward_export_time_ns(record, "time") / 1000000));
	ward_buf_printf(b, "externalId=%s:%" JSON_INTEGER_FORMAT " ", session ? session : "?",
		json_integer_value(json_object_get(record, "seq")));
	cef_field(b, "act", action);
	const bool grant = kind && strcmp(kind, "grant") == 0;
	cef_field(b, "outcome", ward_query_text(record, grant ? "result" : "verdict"));
	cef_field(b, "filePath", ward_query_text(record, "path"));
	cef_field(b, "cs4Label", ward_query_text(record, "path2") ? "path2" : NULL);
	cef_field(b, "cs4", ward_query_text(record, "path2"));
	cef_number(b, "spid", json_object_get(record, "pid"));
	cef_number(b, "suid", json_object_get(record, "uid"));
	cef_field(b, "sproc", ward_query_text(record, "comm"));
	cef_field(b, "reason", ward_query_text(record, "errno"));
	cef_field(b, "cs1Label", "rule");
	cef_field(b, "cs1", ward_query_text(record, "rule"));
	cef_field(b, "cs2Label", "ruleText");
	cef_field(b, "cs2", ward_query_text(record, "rule_text"));
	cef_destination(b, record);
	cef_arguments(b, json_object_get(record, "argv"));
	cef_question(b, record);
	cef_field(b, "fileHash", ward_query_text(record, "sha256"));
	/* Of a connection, else of a file. */
	const json_t *received = json_object_get(record, "received");
	const json_t *sent = json_object_get(record, "sent");
	cef_number(b, "in", received ? received : json_object_get(record, "read"));
	cef_number(b, "out", sent ? sent : json_object_get(record, "written"));
	cef_field(b, "msg", ward_query_text(record, "text"));
	cef_field(b, "cs3Label", "mac");
	ward_buf_puts(b, "cs3=");
	cef_escape(b, ward_query_text(record, "mac"), '=');
	ward_buf_putc(b, '\n');
}
