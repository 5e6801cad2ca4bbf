/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the facts about a session out of its first and its last record. */
#include "audit/export/report_facts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "audit/query/query.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/escape.h"

#define US_PER_SEC 1000000.0

struct facts {
	struct ward_buf *b;
	const json_t *report, *start, *end, *summary;
	ward_report_fact_fn *fn;
};

static void text(const struct facts *f, const char *name, const char *value)
{
	if (value && *value)
		f->fn(f->b, name, value, false);
}

static void number(const struct facts *f, const char *name, const json_t *n)
{
	char value[24];
	if (!json_is_integer(n))
		return;
	snprintf(value, sizeof(value), "%" JSON_INTEGER_FORMAT, json_integer_value(n));
	f->fn(f->b, name, value, true);
}

static void command(const struct facts *f)
{
	ward_cleanup(ward_buf_clear) struct ward_buf argv = WARD_BUF_INIT;
	size_t i = 0;
	json_t *v = NULL;
	json_array_foreach(json_object_get(f->start, "argv"), i, v)
	{
		ward_buf_puts(&argv, i ? " " : "");
		ward_shell_word(&argv, json_is_string(v) ? json_string_value(v) : "?");
	}
	text(f, "command", ward_buf_str(&argv));
}

static void labels(const struct facts *f)
{
	ward_cleanup(ward_buf_clear) struct ward_buf all = WARD_BUF_INIT;
	const char *key = NULL;
	json_t *v = NULL;
	json_object_foreach((json_t *)json_object_get(f->start, "labels"), key, v)
	{
		ward_buf_printf(&all, "%s%s=%s", all.len ? " " : "", key,
			json_is_string(v) ? json_string_value(v) : "?");
	}
	text(f, "labels", ward_buf_str(&all));
}

static void who(const struct facts *f)
{
	text(f, "owner", ward_query_text(f->start, "owner"));
	number(f, "uid of the owner", json_object_get(f->start, "owner_uid"));
	number(f, "started by uid", json_object_get(f->start, "started_by"));
	if (!json_is_object(f->start))
		return;
	if (json_is_integer(json_object_get(f->start, "login_uid")))
		number(f, "login uid", json_object_get(f->start, "login_uid"));
	else
		text(f, "login uid", "none: nobody had logged in where this session was started");
	number(f, "audit session", json_object_get(f->start, "audit_session"));
}

static void policy(const struct facts *f)
{
	const json_t *under = json_object_get(f->report, "under");
	const char *base = ward_query_text(under, "base");
	const char *file = ward_query_text(f->start, "owner_policy_file");
	const bool shipped = base && !strchr(base, '/');
	text(f, "mode", ward_query_text(f->start, "mode"));
	text(f, shipped ? "profile" : "policy file", base ? base : file);
	text(f, base ? "which extends" : "profile", ward_query_text(under, "profile"));
	text(f, "SHA-256 of the policy", ward_query_text(f->report, "policy"));
}

/* A time, and how far the clock can have been off, as the kernel said then. */
static void time_of(const struct facts *f, const char *name, const char *time, const json_t *clock)
{
	ward_cleanup(ward_buf_clear) struct ward_buf value = WARD_BUF_INIT;
	const json_t *most = json_object_get(clock, "max_error_us");
	if (!time)
		return;
	ward_buf_puts(&value, time);
	if (json_is_true(json_object_get(clock, "synchronised")) && json_is_integer(most))
		ward_buf_printf(&value, " (clock synchronised, at most %.6f s off)",
			(double)json_integer_value(most) / US_PER_SEC);
	else if (json_is_false(json_object_get(clock, "synchronised")))
		ward_buf_puts(&value, " (clock not synchronised: its error is unknown)");
	text(f, name, ward_buf_str(&value));
}

static void ended(const struct facts *f)
{
	number(f, "exit status", json_object_get(f->end, "status"));
	number(f, "ended by signal", json_object_get(f->end, "signal"));
	text(f, "reason of the end", ward_query_text(f->end, "text"));
	if (!json_is_object(f->end))
		text(f, "end", "the trail has none");
}

static void guarantees(const struct facts *f)
{
	const json_t *sandbox = json_object_get(f->start, "sandbox");
	ward_cleanup(ward_buf_clear) struct ward_buf held = WARD_BUF_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf missing = WARD_BUF_INIT;
	size_t i = 0;
	json_t *v = NULL;
	const char *name = NULL;
	json_array_foreach(json_object_get(sandbox, "guarantees"), i, v)
	{
		ward_buf_printf(&held, "%s%s", held.len ? ", " : "",
			json_is_string(v) ? json_string_value(v) : "?");
	}
	json_object_foreach((json_t *)json_object_get(sandbox, "missing"), name, v)
	{
		const char *why = ward_query_text(v, "why");
		ward_buf_printf(&missing, "%s%s%s%s%s", missing.len ? ", " : "", name,
			why ? " (" : "", why ? why : "", why ? ")" : "");
	}
	if (!json_is_object(sandbox))
		return;
	text(f, "guarantees that held", held.len ? ward_buf_str(&held) : "none");
	text(f, "guarantees that were missing", missing.len ? ward_buf_str(&missing) : "none");
}

static void places(const struct facts *f)
{
	ward_cleanup(ward_buf_clear) struct ward_buf yes = WARD_BUF_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf no = WARD_BUF_INIT;
	if (ward_report_places(&yes, f->report, true, 0) > 0)
		text(f, "accesses recorded", ward_buf_str(&yes));
	if (ward_report_places(&no, f->report, false, 0) > 0)
		text(f, "accesses not recorded", ward_buf_str(&no));
}

static void figures(const struct facts *f)
{
	static const struct {
		const char *member, *name;
	} files[] = {{"read", "files opened to read"}, {"written", "files opened to write"},
		{"created", "files created"}, {"removed", "files removed"},
		{"refused", "files refused"}};
	const json_t *refusals = json_object_get(f->summary, "refusals");
	number(f, "records", json_object_get(f->summary, "records"));
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
		number(f, files[i].name,
			json_object_get(json_object_get(f->summary, "files"), files[i].member));
	number(f, "refusals", json_object_get(refusals, "count"));
	number(f, "of these expected by the policy", json_object_get(refusals, "expected"));
	number(f, "open files whose bytes wardfs did not see",
		json_object_get(json_object_get(f->summary, "bytes"), "unseen"));
}

void ward_report_facts(struct ward_buf *b, const json_t *report, ward_report_fact_fn *fn)
{
	const json_t *start = json_object_get(report, "start");
	const json_t *end = json_object_get(report, "end");
	const struct facts f = {b, report, start, end, json_object_get(report, "summary"), fn};
	command(&f);
	who(&f);
	labels(&f);
	text(&f, "project", ward_query_text(start, "project"));
	policy(&f);
	text(&f, "engine that acts for the command, and that records name",
		ward_query_text(start, "via"));
	time_of(&f, "from", ward_query_text(f.summary, "first"), json_object_get(start, "clock"));
	time_of(&f, "to", ward_query_text(f.summary, "last"),
		json_object_get(json_object_get(end, "detail"), "clock"));
	ended(&f);
	guarantees(&f);
	places(&f);
	figures(&f);
}

/* Places that are named first, where not all are named. */
static bool asked_about(const char *path)
{
	static const char *const first[] = {"/tmp", "/var/tmp", "/usr", "/etc"};
	for (size_t i = 0; i < sizeof(first) / sizeof(*first); i++)
		if (strcmp(path, first[i]) == 0)
			return true;
	return false;
}

size_t ward_report_places(struct ward_buf *b, const json_t *report, bool recorded, size_t most)
{
	const json_t *mounts = json_object_get(json_object_get(report, "start"), "mounts");
	size_t n = 0, named = 0;
	for (int round = 0; round < 2; round++) {
		size_t i = 0;
		json_t *v = NULL;
		json_array_foreach(mounts, i, v)
		{
			const char *path = ward_query_text(v, "path");
			const json_t *is = json_object_get(v, "recorded");
			if (!path || !json_is_boolean(is) || json_is_true(is) != recorded ||
				asked_about(path) != (round == 0))
				continue;
			n++;
			if (most && named == most)
				continue;
			ward_buf_printf(b, "%s%s", named++ ? ", " : "", path);
		}
	}
	return n;
}

const char *ward_report_verb(const char *verb)
{
	return strcmp(verb, "read") == 0    ? "opened to read"
	       : strcmp(verb, "write") == 0 ? "opened to write"
					    : verb;
}

const char *ward_report_no_network(const json_t *report)
{
	const char *network = ward_query_text(
		json_object_get(json_object_get(report, "start"), "sandbox"), "network");
	return network && strcmp(network, "none") == 0
		       ? "The session had no network. The kernel refuses every connection there, "
			 "and wardfs records no attempt."
		       : "No connection was made, and none refused.";
}
