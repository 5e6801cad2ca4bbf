/* SPDX-License-Identifier: Apache-2.0 */
/* Collects what a report says about a session, as JSON. */
#include "audit/export/report.h"

#include <errno.h>
#include <string.h>

#include "audit/export/export_record.h"
#include "audit/export/member_names.h"
#include "audit/query/approvals.h"
#include "audit/query/denials.h"
#include "audit/query/traffic.h"
#include "audit/query/policies.h"
#include "audit/query/query.h"
#include "audit/query/session_diff.h"
#include "audit/query/summary.h"
#include "audit/record_table.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"
#include "enforcer/base/escape.h"
#include "enforcer/base/out.h"
#include "enforcer/ipc/msg.h"
#include "enforcer/policy/policy.h"

const struct ward_report_standard ward_report_standards[] = {
	{"SOC 2 CC7.2", "monitoring of system components: every open, change and refusal of the "
			"session, with time and program"},
	{"ISO/IEC 27001 A.8.15",
		"logs are produced, kept and protected: records under macs, signed "
		"checkpoints, a ledger of the host"},
	{"NIST SP 800-53 AU-2, AU-3", "which events, and their content: kind, time, object, "
				      "subject, outcome, deciding rule"},
	{"NIST SP 800-53 AU-9",
		"protection of audit information: the verdict of verification above; "
		"the writer is a process that the command cannot reach"},
	{"NIST SP 800-53 AU-10", "non-repudiation: Ed25519 checkpoints, verified with a public key "
				 "alone; proofs of single records"},
	{"EU AI Act, article 12", "automatic recording of events over the lifetime of the session; "
				  "what could not be seen is said as null"},
	{NULL, NULL},
};

struct collect {
	uint64_t first, last; /* ns */
	json_int_t done[WARD_REPORT_SLOTS];
	json_int_t refused[WARD_REPORT_SLOTS];
	json_t *report;
};

/* A record with all that its event brought: of the frame it has seq, time and kind alone. */
static json_t *record_of(const json_t *rec)
{
	json_t *o = json_pack("{s:O?, s:O?, s:O?}", "seq", json_object_get(rec, "seq"), "time",
		json_object_get(rec, "time"), "kind", json_object_get(rec, "kind"));
	for (size_t i = 0; i < WARD_EXPORT_MEMBERS; i++) {
		const struct ward_export_member *m = &ward_export_members[i];
		json_t *v = m->tag == WARD_TAG_NONE ? NULL : json_object_get(rec, m->name);
		if (v && json_object_set(o, m->name, v) < 0) {
			json_decref(o);
			return NULL;
		}
	}
	return o;
}

static int take_record(struct collect *c, const char *list, const json_t *rec)
{
	return json_array_append_new(json_object_get(c->report, list), record_of(rec));
}

static int take_external(struct collect *c, const json_t *rec)
{
	return json_array_size(json_object_get(c->report, "external")) >= WARD_REPORT_PATHS
		       ? 0
		       : take_record(c, "external", rec);
}

/* The record is one of this path. */
static int note_path(struct collect *c, const char *path, const json_t *rec)
{
	json_t *all = json_object_get(c->report, "records");
	json_t *list = path ? json_object_get(all, path) : NULL;
	if (!path || (!list && json_object_size(all) >= WARD_DIFF_PATHS_MAX))
		return 0;
	if (!list) {
		list = json_array();
		if (json_object_set_new(all, path, list) < 0)
			return -1;
	}
	size_t n = json_array_size(list);
	/* Both of its paths are this one. */
	if (n > 0 && json_equal(json_array_get(list, n - 1), json_object_get(rec, "seq")))
		return 0;
	if (n < WARD_REPORT_RECORDS)
		return json_array_append(list, json_object_get(rec, "seq"));
	return n == WARD_REPORT_RECORDS ? json_array_append_new(list, json_null()) : 0;
}

/* Whose rules decide: the first rule of the base and of the profile names them, as FILE:LINE. */
static int note_source(struct collect *c, const json_t *rec)
{
	const char *source = ward_query_text(rec, "source");
	const char *rule = ward_query_text(rec, "rule");
	const char *line = rule ? strrchr(rule, ':') : NULL;
	json_t *under = json_object_get(c->report, "under");
	if (!source || !line || json_object_get(under, source) ||
		(strcmp(source, "base") != 0 && strcmp(source, "profile") != 0))
		return 0;
	return json_object_set_new(under, source, json_stringn(rule, (size_t)(line - rule)));
}

static int note_paths(struct collect *c, enum ward_event_kind kind, const json_t *rec)
{
	if (kind == WARD_EVENT_EXEC || kind == WARD_EVENT_PROGRAM || kind == WARD_EVENT_PROBE)
		return 0;
	int r = note_path(c, ward_query_text(rec, "path"), rec);
	return r < 0 ? r : note_path(c, ward_query_text(rec, "path2"), rec);
}

static int take(void *ctx, const char *line, size_t len, const json_t *rec)
{
	struct collect *c = ctx;
	const enum ward_event_kind kind = ward_query_kind(rec);
	if (!rec)
		return 0;
	uint64_t ns = ward_export_time_ns(rec, "time");
	uint64_t span = c->last > c->first ? c->last - c->first : 1;
	uint64_t at = ns > c->first ? (ns - c->first) / (span / WARD_REPORT_SLOTS + 1) : 0;
	at = at < WARD_REPORT_SLOTS ? at : WARD_REPORT_SLOTS - 1;
	if (ward_record_kind_is(kind, WARD_KIND_REFUSAL))
		c->refused[at]++;
	else if (ward_query_text(rec, "path") && kind != WARD_EVENT_PROBE)
		c->done[at]++;
	if (note_paths(c, kind, rec) < 0 || note_source(c, rec) < 0)
		return -ENOMEM;
	int r = 0;
	if (ward_record_kind_is(kind, WARD_KIND_QUESTION)) {
		r = take_record(c, "approvals", rec);
	} else if (kind == WARD_EVENT_EXTERNAL) {
		r = take_external(c, rec);
	} else if (kind == WARD_EVENT_PROBE && ward_query_text(rec, "result")) {
		/* What the filesystem adds about a probe has no verdict. */
		r = take_record(c, "probes", rec);
	} else if (kind == WARD_EVENT_SESSION_START) {
		json_t *detail = json_object_get(rec, "detail");
		r = json_object_set(c->report, "start", detail ? detail : json_null());
		json_t *policy = json_object_get(rec, "policy");
		if (r == 0 && policy)
			r = json_object_set(c->report, "policy", policy);
	} else if (kind == WARD_EVENT_TAKE) {
		json_t *start = json_object_get(c->report, "start");
		json_t *detail = json_object_get(rec, "detail");
		/* A trail can hold one that follows no start. */
		r = json_is_object(start) && json_is_object(detail)
			    ? json_object_update(start, detail)
			    : 0;
	} else if (kind == WARD_EVENT_STEP) {
		r = take_record(c, "steps", rec);
	} else if (kind == WARD_EVENT_RELOAD) {
		r = take_record(c, "reloads", rec);
	} else if (kind == WARD_EVENT_SESSION_END) {
		r = json_object_set_new(c->report, "end", record_of(rec));
	}
	return r < 0 ? -ENOMEM : 0;
}

static int put_slots(const struct collect *c)
{
	json_t *slots = json_array();
	for (size_t i = 0; i < WARD_REPORT_SLOTS; i++)
		json_array_append_new(slots,
			json_pack("{s:I, s:I}", "done", c->done[i], "refused", c->refused[i]));
	return json_object_set_new(c->report, "slots", slots) < 0 ? -ENOMEM : 0;
}

/* What was refused: a path; of the network a name or an address, with the port. */
static json_t *object_of(const json_t *rec)
{
	const char *path = ward_query_text(rec, "path");
	const char *host = ward_query_text(rec, "host");
	const json_int_t port = json_integer_value(json_object_get(rec, "port"));
	if (path)
		return json_string(path);
	if (!host)
		host = ward_query_text(rec, "addr");
	if (!host)
		return NULL;
	/* An address of the sixth version stands in brackets before a port. */
	const bool six = port > 0 && strchr(host, ':');
	return port > 0 ? json_sprintf("%s%s%s:%d", six ? "[" : "", host, six ? "]" : "", (int)port)
			: json_string(host);
}

/* The names of the base and of what it extends, out of the sources of a policy. */
static int put_sources(json_t *report, const struct ward_buf *sources)
{
	json_t *under = json_object_get(report, "under");
	struct ward_msg_reader rd;
	ward_msg_reader_init(&rd, sources->data, sources->len);
	const uint32_t n = ward_msg_get_u32(&rd);
	for (uint32_t i = 0; i < n && i < WARD_SOURCE_COUNT_; i++) {
		ward_cleanup(ward_buf_clear) struct ward_buf name = WARD_BUF_INIT;
		size_t len = 0, text_len = 0;
		const uint32_t kind = ward_msg_get_u32(&rd);
		const char *file = ward_msg_get_bytes(&rd, &len);
		(void)ward_msg_get_bytes(&rd, &text_len);
		if (len == 0 || (kind != WARD_SOURCE_BASE && kind != WARD_SOURCE_PROFILE))
			continue;
		ward_escape(&name, file, len);
		if (json_object_set_new(under, kind == WARD_SOURCE_BASE ? "base" : "profile",
			    json_string(ward_buf_str(&name))) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* Those that came into force, with their lines. */
static int put_policies(struct ward_log *log, json_t *report, struct ward_err *err)
{
	ward_cleanup(ward_policy_texts_clear) struct ward_policy_texts t = {0};
	json_t *all = json_array();
	int r = ward_policy_texts_read(log, false, &t, err);
	if (r == 0 && t.n > 0 && t.v[0].sources.len)
		r = put_sources(report, &t.v[0].sources);
	for (size_t i = 0; i < t.n; i++) {
		ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
		const struct ward_policy_text *p = &t.v[i];
		if (!p->loaded || !p->meaning.len)
			continue;
		ward_shown_lines(&b, p->meaning.data, p->meaning.len);
		json_array_append_new(
			all, json_pack("{s:s?, s:I, s:s?, s:s?, s:b, s:s}", "since", p->since,
				     "seq", (json_int_t)p->seq, "by", p->by, "sha256", p->digest,
				     "good", ward_policy_text_good(p), "text", ward_buf_str(&b)));
	}
	if (json_object_set_new(report, "policies", all) < 0 && r == 0)
		r = ward_err_sys(err, -ENOMEM, "report");
	return r;
}

static int put_network(
	struct ward_log *log, const char *session, json_t *report, struct ward_err *err)
{
	ward_cleanup(ward_traffic_clear) struct ward_traffic n = {0};
	int r = ward_traffic_read(&n, session, log, err);
	if (r == 0 && json_object_set_new(
			      report, "network", n.rows ? json_incref(n.rows) : json_array()) < 0)
		r = ward_err_sys(err, -ENOMEM, "report");
	return r;
}

static int put_refusals(struct ward_log *log, json_t *report, struct ward_err *err)
{
	static const char *const members[] = {
		"action", "path", "path2", "host", "addr", "port", "rule", "rule_text", "errno"};
	struct ward_denials d;
	int r = ward_query_denials(log, NULL, &d, err);
	if (r < 0)
		return r;
	json_t *all = json_array();
	for (size_t i = 0; i < d.n; i++) {
		json_t *o = json_pack("{s:I, s:s?, s:s?, s:s?}", "count", (json_int_t)d.v[i].count,
			"permit", d.v[i].line, "forbidden_by", d.v[i].forbidden_by, "reason",
			d.v[i].reason);
		for (size_t k = 0; k < sizeof(members) / sizeof(*members); k++) {
			json_t *v = json_object_get(d.v[i].record, members[k]);
			if (v)
				json_object_set(o, members[k], v);
		}
		json_t *object = object_of(d.v[i].record);
		if (object)
			json_object_set_new(o, "object", object);
		json_array_append_new(all, o);
	}
	ward_denials_free(&d);
	return json_object_set_new(report, "refusals", all) < 0
		       ? ward_err_sys(err, -ENOMEM, "report")
		       : 0;
}

static int put_approved(struct ward_log *log, json_t *report, struct ward_err *err)
{
	json_t *rows = NULL;
	int r = ward_approvals_read(log, NULL, &rows, err);
	if (r == 0 && json_object_set_new(report, "approved", rows) < 0)
		r = ward_err_sys(err, -ENOMEM, "report");
	return r;
}

static int put_head(json_t *report, const char *session, const struct ward_verify_result *v,
	struct ward_err *err)
{
	char now[WARD_CLOCK_TEXT_MAX];
	ward_clock_format(ward_clock_real_ns(), now);
	int r = json_object_update_new(report,
		json_pack(
			"{s:s, s:s, s:n, s:n, s:[], s:[], s:[], s:[], s:[], s:[], s:{}, s:{}, s:{s:s, s:s, "
			"s:I, s:I}}",
			"session", session, "generated", now, "start", "end", "probes", "reloads",
			"approvals", "external", "steps", "reviewed", "records", "under", "verify",
			"state", ward_verify_state_name(v->state), "text", v->text, "records",
			(json_int_t)v->records, "first_bad", (json_int_t)v->first_bad));
	return r < 0 ? ward_err_sys(err, -ENOMEM, "report") : 0;
}

int ward_report_collect(struct ward_log *log, const char *session,
	const struct ward_verify_result *verify, json_t **ret, struct ward_err *err)
{
	struct collect c = {.report = json_object()};
	json_t *summary = NULL;
	json_t *files = NULL;
	int r = put_head(c.report, session, verify, err);
	if (r == 0)
		r = ward_query_summary(log, NULL, &summary, err);
	if (r == 0) {
		json_t *first = json_pack("{s:O?}", "time", json_object_get(summary, "first"));
		json_t *last = json_pack("{s:O?}", "time", json_object_get(summary, "last"));
		c.first = ward_export_time_ns(first, "time");
		c.last = ward_export_time_ns(last, "time");
		json_decref(first);
		json_decref(last);
		r = json_object_set_new(c.report, "summary", summary);
	}
	if (r == 0)
		r = ward_query_walk(log, true, take, &c, err);
	if (r == 0)
		r = put_slots(&c);
	if (r == 0)
		r = put_refusals(log, c.report, err);
	if (r == 0)
		r = put_network(log, session, c.report, err);
	if (r == 0)
		r = put_approved(log, c.report, err);
	if (r == 0)
		r = put_policies(log, c.report, err);
	if (r == 0)
		r = ward_diff_collect(log, NULL, &files, err);
	if (r == 0)
		r = json_object_set_new(c.report, "files", files);
	if (r < 0) {
		json_decref(c.report);
		return ward_err_sys(err, r == -1 ? -ENOMEM : r, "report");
	}
	*ret = c.report;
	return 0;
}
