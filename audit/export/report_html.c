/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a report as one HTML page that needs nothing else. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "audit/export/export_record.h"
#include "audit/export/report.h"
#include "audit/export/report_facts.h"
#include "audit/export/report_words.h"
#include "audit/query/query.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"
#include "enforcer/base/escape.h"
#include "enforcer/base/out.h"

/* Directories that are drawn within each other; what lies deeper is shown by its whole rest. */
#define DEPTH_MAX 40
#define CHART_WIDTH 900
#define CHART_HEIGHT 120

/* Searches within the page. The page's policy permits the script of this digest alone. */
static const char script[] =
	"\"use strict\";\n"
	"const find = document.getElementById(\"find\"), box = document.getElementById(\"finder\");\n"
	"box.hidden = false;\n"
	"find.addEventListener(\"input\", () => {\n"
	"  const want = find.value.toLowerCase();\n"
	"  for (const e of document.querySelectorAll(\"tbody tr, li\"))\n"
	"    if (!e.querySelector(\"li\"))\n"
	"      e.hidden = want !== \"\" && !e.textContent.toLowerCase().includes(want);\n"
	"});\n";
#define SCRIPT_SHA256 "Mb9BrUZHs6BTmHK5W/E/eENex3GJ6st5JFUhlBC3Qts="

static const char head[] =
	"<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
	"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
	"'unsafe-inline'; script-src 'sha256-" SCRIPT_SHA256 "'\">\n<style>\n"
	":root{color-scheme:light dark;--bg:#fff;--fg:#1d2126;--dim:#667;--line:#d8dde3;"
	"--ok:#23699f;--no:#c0392b;--card:#f5f7f9}\n"
	"@media(prefers-color-scheme:dark){:root{--bg:#15181c;--fg:#e4e7ea;--dim:#9aa4ae;"
	"--line:#333a42;--ok:#5aa9e6;--no:#ef6b5e;--card:#1d2126}}\n"
	"body{background:var(--bg);color:var(--fg);font:15px/1.5 system-ui,sans-serif;margin:0 auto;"
	"max-width:960px;padding:1.5rem}\n"
	"h1{font-size:1.5rem}h2{font-size:1.1rem;margin-top:2rem;border-bottom:1px solid var(--line)}h3{font-size:1rem}\n"
	"table{border-collapse:collapse;width:100%;table-layout:fixed}"
	"table+table{margin-top:1.5rem}"
	"td,th{text-align:left;padding:.25rem .5rem;border-bottom:1px solid var(--line);"
	"vertical-align:top;overflow-wrap:anywhere}\n"
	"caption{text-align:left;color:var(--dim)}"
	"nav ul{columns:2;padding:0}nav li,p code{font-size:inherit}nav li{font-family:inherit}"
	"a{color:var(--ok)}input{font:inherit;width:100%;box-sizing:border-box;padding:.3rem}"
	".t{display:flex;justify-content:space-between;margin:.2rem 0;font-size:13px}"
	"code,summary,li{font-family:ui-monospace,monospace;font-size:13px;overflow-wrap:anywhere}"
	"pre{white-space:pre-wrap;overflow-wrap:anywhere;font-size:13px}"
	"ul{list-style:none;padding-left:1rem;margin:0}\n"
	/* Forty levels have to fit on a telephone. */
	"ul ul ul ul ul ul ul ul ul{padding-left:.15rem}\n"
	".v{background:var(--card);border-left:4px solid var(--no);padding:.5rem 1rem}"
	".v.intact{border-color:var(--ok)}.no{color:var(--no)}.dim{color:var(--dim)}"
	".n{width:5rem}svg{width:100%;height:auto;display:block}\n"
	"@media print{:root{--bg:#fff;--fg:#000;--dim:#444;--line:#999;--card:#fff}"
	"body{max-width:none;font-size:11px;padding:0}nav,#finder{display:none}"
	"tr,li,svg{break-inside:avoid}h2{break-after:avoid}}\n"
	"</style>\n";

/* Text between tags and in attributes. */
static void put(struct ward_buf *b, const char *text)
{
	ward_cleanup(ward_buf_clear) struct ward_buf shown = WARD_BUF_INIT;
	ward_shown(&shown, text ? text : "");
	for (const char *s = ward_buf_str(&shown); *s; s++) {
		switch (*s) {
		case '&':
			ward_buf_puts(b, "&amp;");
			break;
		case '<':
			ward_buf_puts(b, "&lt;");
			break;
		case '>':
			ward_buf_puts(b, "&gt;");
			break;
		case '"':
			ward_buf_puts(b, "&quot;");
			break;
		default:
			ward_buf_putc(b, *s);
		}
	}
}

static void put_code(struct ward_buf *b, const char *name)
{
	ward_buf_puts(b, "<code>");
	put(b, name);
	ward_buf_puts(b, "</code>");
}

static void put_text(struct ward_buf *b, const char *s, size_t len)
{
	char *copy = strndup(s, len);
	put(b, copy ? copy : "?");
	free(copy);
}

static json_int_t number(const json_t *o, const char *a, const char *b)
{
	return json_integer_value(json_object_get(b ? json_object_get(o, a) : o, b ? b : a));
}

static void row(struct ward_buf *b, const char *name, const char *value)
{
	if (!value || !*value)
		return;
	ward_buf_puts(b, "<tr><th scope=\"row\">");
	put(b, name);
	ward_buf_puts(b, "</th><td>");
	put(b, value);
	ward_buf_puts(b, "</td></tr>\n");
}

/* Sections that every page has, in their order: the table of contents leads to them. */
static const struct {
	const char *id, *title;
} sections[] = {
	{"changed", WARD_REPORT_CHANGED},
	{"refused", WARD_REPORT_REFUSED},
	{"programs", WARD_REPORT_PROGRAMS},
	{"network", WARD_REPORT_NETWORK},
	{"timeline", "Time line"},
	{"files", WARD_REPORT_FILES},
	{"facts", WARD_REPORT_SESSION},
	{"enforced", WARD_REPORT_ENFORCED},
	{"verify", WARD_REPORT_VERIFY},
	{"standards", WARD_REPORT_STANDARDS},
};

static void heading(struct ward_buf *b, const char *id)
{
	for (size_t i = 0; i < sizeof(sections) / sizeof(*sections); i++)
		if (strcmp(sections[i].id, id) == 0)
			ward_buf_printf(b, "<h2 id=\"%s\">%s</h2>\n", id, sections[i].title);
}

static void put_contents(struct ward_buf *b)
{
	ward_buf_puts(b, "<nav aria-label=\"Contents\"><ul>\n");
	for (size_t i = 0; i < sizeof(sections) / sizeof(*sections); i++)
		ward_buf_printf(
			b, "<li><a href=\"#%s\">%s</a></li>\n", sections[i].id, sections[i].title);
	ward_buf_puts(b, "</ul></nav>\n<p id=\"finder\" hidden><label>Search within this page "
			 "<input id=\"find\" type=\"search\"></label></p>\n");
}

/* The head of a table: its columns, NULL at the end. */
static void columns(struct ward_buf *b, const char *const names[])
{
	ward_buf_puts(b, "<table><thead><tr>");
	for (size_t i = 0; names[i]; i++)
		ward_buf_printf(b, "<th scope=\"col\">%s</th>", names[i]);
	ward_buf_puts(b, "</tr></thead><tbody>\n");
}

static const char table_end[] = "</tbody></table>\n";

static void put_verdict(struct ward_buf *b, const json_t *report)
{
	const json_t *v = json_object_get(report, "verify");
	const char *state = ward_query_text(v, "state");
	ward_buf_printf(b, "<p class=\"v %s\"><strong>",
		state && strcmp(state, "intact") == 0 ? "intact" : "bad");
	put(b, state);
	ward_buf_puts(b, "</strong> ");
	put(b, ward_query_text(v, "text"));
	ward_buf_printf(b, " <span class=\"dim\">%" JSON_INTEGER_FORMAT " records verified",
		number(v, "records", NULL));
	if (number(v, "first_bad", NULL))
		ward_buf_printf(b, ", the first wrong one is %" JSON_INTEGER_FORMAT,
			number(v, "first_bad", NULL));
	ward_buf_puts(b, "</span></p>\n");
}

/* Policies that came into force later, or were to. */
static void put_reloads(struct ward_buf *b, const json_t *report)
{
	size_t i = 0;
	json_t *v = NULL;
	json_array_foreach(json_object_get(report, "reloads"), i, v)
	{
		ward_cleanup(ward_buf_clear) struct ward_buf text = WARD_BUF_INIT;
		const char *policy = ward_query_text(v, "policy");
		const char *time = ward_query_text(v, "time");
		const char *result = ward_query_text(v, "result");
		ward_buf_printf(&text, "%s %s", result ? result : "?", time ? time : "?");
		row(b, ward_buf_str(&text), policy ? policy : ward_query_text(v, "text"));
	}
}

static void put_fact(struct ward_buf *b, const char *name, const char *value, bool figure)
{
	(void)figure;
	row(b, name, value);
}

static void put_facts(struct ward_buf *b, const json_t *report)
{
	heading(b, "facts");
	ward_buf_puts(b, "<table><tbody>\n");
	ward_report_facts(b, report, put_fact);
	put_reloads(b, report);
	ward_buf_puts(b, "</tbody></table>\n");
}

static void put_bar(struct ward_buf *b, size_t slot, json_int_t below, json_int_t n, json_int_t max,
	const char *color)
{
	if (n == 0)
		return;
	double w = (double)CHART_WIDTH / WARD_REPORT_SLOTS;
	double h = (double)n * CHART_HEIGHT / (double)max;
	double y = CHART_HEIGHT - (double)below * CHART_HEIGHT / (double)max - h;
	ward_buf_printf(b,
		"<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"var(%s)\"/>",
		(double)slot * w, y, w - 2, h, color);
}

static void put_timeline(struct ward_buf *b, const json_t *report)
{
	const json_t *slots = json_object_get(report, "slots");
	json_int_t max = 1;
	size_t i = 0;
	json_t *v = NULL;
	json_array_foreach(slots, i, v)
	{
		json_int_t n = number(v, "done", NULL) + number(v, "refused", NULL);
		max = n > max ? n : max;
	}
	ward_buf_printf(b,
		"<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"operations over time\">",
		CHART_WIDTH, CHART_HEIGHT + 4);
	json_array_foreach(slots, i, v)
	{
		json_int_t done = number(v, "done", NULL);
		put_bar(b, i, 0, done, max, "--ok");
		put_bar(b, i, done, number(v, "refused", NULL), max, "--no");
	}
	ward_buf_printf(b,
		"<line x1=\"0\" y1=\"%d\" x2=\"%d\" y2=\"%d\" stroke=\"var(--line)\"/></svg>\n"
		"<p class=\"dim\">Operations on files, <span class=\"no\">refused</span> ones on top; "
		"the highest bar is %" JSON_INTEGER_FORMAT ".</p>\n",
		CHART_HEIGHT + 1, CHART_WIDTH, CHART_HEIGHT + 1, max);
}

/* The times of the first bar, of the middle and of the last bar. */
static void put_times(struct ward_buf *b, const json_t *report)
{
	const json_t *summary = json_object_get(report, "summary");
	const uint64_t first = ward_export_time_ns(summary, "first");
	const uint64_t last = ward_export_time_ns(summary, "last");
	const uint64_t times[] = {first, last > first ? first + (last - first) / 2 : first, last};
	ward_buf_puts(b, "<p class=\"t\">");
	for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++) {
		char text[WARD_CLOCK_TEXT_MAX];
		ward_clock_format(times[i], text);
		/* Of 2026-01-02T03:04:05.123456789Z: the day with the first, then the time. */
		ward_buf_printf(b, "<span>%.10s%s%.12s</span>", i == 0 ? text : "",
			i == 0 ? " " : "", text + 11);
	}
	ward_buf_puts(b, "</p>\n");
}

/* Names and how often, with bars. */
static void put_counts(struct ward_buf *b, const json_t *counts, const char *const names[])
{
	json_int_t max = 1;
	const char *name = NULL;
	json_t *n = NULL;
	if (json_object_size(counts) == 0)
		return;
	json_object_foreach((json_t *)counts, name, n)
	{
		max = json_integer_value(n) > max ? json_integer_value(n) : max;
	}
	columns(b, names);
	json_object_foreach((json_t *)counts, name, n)
	{
		ward_buf_puts(b, "<tr><td>");
		put(b, name);
		ward_buf_printf(b,
			"</td><td class=\"n\">%" JSON_INTEGER_FORMAT
			"</td><td><svg aria-hidden=\"true\" viewBox=\"0 0 100 6\" preserveAspectRatio=\"none\"><rect "
			"width=\"%.1f\" height=\"6\" fill=\"var(--ok)\"/></svg></td></tr>\n",
			json_integer_value(n), 100.0 * (double)json_integer_value(n) / (double)max);
	}
	ward_buf_puts(b, table_end);
}

/* One process can execute several programs, one after the other: each counts by its path. */
static void put_programs(struct ward_buf *b, const json_t *report)
{
	static const char *const executed[] = {"program", "times executed", "share", NULL};
	static const char *const acting[] = {"name of the process", "its records", "share", NULL};
	const json_t *summary = json_object_get(report, "summary");
	const json_t *programs = json_object_get(summary, "executed");
	const json_t *processes = json_object_get(summary, "programs");
	heading(b, "programs");
	if (json_object_size(programs) == 0 && json_object_size(processes) == 0)
		ward_buf_puts(b, "<p>The trail names no program.</p>\n");
	put_counts(b, programs, executed);
	put_counts(b, processes, acting);
}

static void put_refusals(struct ward_buf *b, const json_t *report)
{
	const json_t *all = json_object_get(report, "refusals");
	size_t i = 0;
	json_t *d = NULL;
	static const char *const names[] = {
		"times", "what", "rule that refused", "what would permit it", NULL};
	heading(b, "refused");
	if (json_array_size(all) == 0) {
		ward_buf_puts(b, "<p>Nothing was refused.</p>\n");
		return;
	}
	columns(b, names);
	json_array_foreach(all, i, d)
	{
		ward_buf_printf(b, "<tr><td class=\"n\">%" JSON_INTEGER_FORMAT "</td><td><code>",
			number(d, "count", NULL));
		put(b, ward_query_text(d, "action"));
		ward_buf_putc(b, ' ');
		put(b, ward_query_text(d, "object"));
		ward_buf_puts(b, "</code> ");
		put(b, ward_query_text(d, "errno"));
		ward_buf_puts(b, "</td><td><code>");
		put(b, ward_query_text(d, "rule"));
		ward_buf_puts(b, " ");
		put(b, ward_query_text(d, "rule_text"));
		ward_buf_puts(b, "</code></td><td>");
		if (ward_query_text(d, "permit")) {
			put_code(b, ward_query_text(d, "permit"));
		} else if (ward_query_text(d, "forbidden_by")) {
			ward_buf_puts(b, "no rule: forbidden by ");
			put_code(b, ward_query_text(d, "forbidden_by"));
		} else {
			put(b, ward_query_text(d, "reason"));
		}
		ward_buf_puts(b, "</td></tr>\n");
	}
	ward_buf_puts(b, table_end);
	ward_buf_puts(b,
		"<p class=\"dim\">A rule is named by file and line. <code>wardfs profile show "
		"NAME</code> prints a shipped profile, <code>wardfs audit policy</code> the "
		"policy that was in force.</p>\n");
}

static void put_network(struct ward_buf *b, const json_t *report)
{
	static const char *const figures[] = {"times", "sent", "received"};
	const json_t *all = json_object_get(report, "network");
	size_t i = 0;
	json_t *d = NULL;
	static const char *const names[] = {"decision", "way", "destination", "program", "times",
		"bytes sent", "bytes received", NULL};
	heading(b, "network");
	if (json_array_size(all) == 0) {
		ward_buf_puts(b, "<p>");
		put(b, ward_report_no_network(report));
		ward_buf_puts(b, "</p>\n");
		return;
	}
	columns(b, names);
	json_array_foreach(all, i, d)
	{
		ward_buf_puts(b, "<tr><td>");
		put(b, ward_query_text(d, "decision"));
		ward_buf_puts(b, "</td><td>");
		put(b, ward_query_text(d, "direction"));
		ward_buf_puts(b, "</td><td><code>");
		put(b, ward_query_text(d, "host") ? ward_query_text(d, "host")
						  : ward_query_text(d, "addr"));
		if (json_is_integer(json_object_get(d, "port")))
			ward_buf_printf(b, ":%" JSON_INTEGER_FORMAT, number(d, "port", NULL));
		ward_buf_puts(b, "</code></td><td>");
		put(b, ward_query_text(d, "comm"));
		for (size_t k = 0; k < sizeof(figures) / sizeof(*figures); k++) {
			ward_buf_puts(b, "</td><td>");
			if (json_is_integer(json_object_get(d, figures[k])))
				ward_buf_printf(
					b, "%" JSON_INTEGER_FORMAT, number(d, figures[k], NULL));
		}
		ward_buf_puts(b, "</td></tr>\n");
	}
	ward_buf_puts(b, table_end);
}

static void put_probes(struct ward_buf *b, const json_t *report)
{
	static const char *const members[] = {"layer", "result", "attempt", "text"};
	const json_t *all = json_object_get(report, "probes");
	size_t i = 0;
	json_t *p = NULL;
	static const char *const names[] = {"layer", "result", "answer", "attempt", NULL};
	heading(b, "enforced");
	if (json_array_size(all) == 0) {
		ward_buf_puts(b, "<p>No layer was tried before the command started.</p>\n");
		return;
	}
	ward_buf_puts(b,
		"<p>Before the command started, a process inside tried to pass each layer. "
		"<em>held</em> means that the layer refused the attempt.</p>\n");
	columns(b, names);
	json_array_foreach(all, i, p)
	{
		ward_buf_puts(b, "<tr>");
		for (size_t k = 0; k < sizeof(members) / sizeof(*members); k++) {
			ward_buf_puts(b, "<td>");
			put(b, ward_query_text(p, members[k]));
			ward_buf_puts(b, "</td>");
		}
		ward_buf_puts(b, "</tr>\n");
	}
	ward_buf_puts(b, table_end);
}

static void put_policies(struct ward_buf *b, const json_t *report)
{
	size_t i = 0;
	json_t *p = NULL;
	json_array_foreach(json_object_get(report, "policies"), i, p)
	{
		const char *s = ward_query_text(p, "text");
		ward_buf_puts(b, i ? "" : "<h3>" WARD_REPORT_POLICY "</h3>\n");
		ward_buf_puts(b, "<details><summary>from ");
		put(b, ward_query_text(p, "since"));
		ward_buf_puts(b, json_is_true(json_object_get(p, "good"))
					 ? ", SHA-256 "
					 : ", not the text whose SHA-256 is ");
		put(b, ward_query_text(p, "sha256"));
		ward_buf_puts(b, "</summary><pre>");
		while (s && *s) {
			const size_t n = strcspn(s, "\n");
			put_text(b, s, n);
			ward_buf_putc(b, '\n');
			s += n + (s[n] == '\n');
		}
		ward_buf_puts(b, "</pre></details>\n");
	}
}

static void put_path(struct ward_buf *b, const json_t *path)
{
	put(b, json_string_value(path));
}

static void put_one_left(struct ward_buf *b, const json_t *left)
{
	put(b, ward_query_text(left, "kind"));
	ward_buf_puts(b, " ");
	put(b, ward_query_text(left, "path"));
	if (!ward_query_text(left, "to"))
		return;
	ward_buf_puts(b, " to ");
	put(b, ward_query_text(left, "to"));
}

/* What the end of the session tells of the project, by that member. */
static void put_found(struct ward_buf *b, const json_t *report, const char *member,
	const char *title, void put_one(struct ward_buf *, const json_t *))
{
	const json_t *detail = json_object_get(json_object_get(report, "end"), "detail");
	const json_t *found = json_object_get(detail, member);
	size_t i = 0;
	json_t *v = NULL;
	if (json_array_size(found) == 0)
		return;
	ward_buf_printf(b, "<h3>%s</h3>\n<ul>\n", title);
	json_array_foreach(found, i, v)
	{
		ward_buf_puts(b, "<li>");
		put_one(b, v);
		ward_buf_puts(b, "</li>\n");
	}
	ward_buf_puts(b, "</ul>\n");
}

/* --- the tree of files --- */

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void put_verbs(struct ward_buf *b, json_t *verbs)
{
	const char *verb = NULL;
	json_t *n = NULL;
	const char *between = "";
	ward_buf_puts(b, " <span class=\"dim\">");
	json_object_foreach(verbs, verb, n)
	{
		if (json_integer_value(n) <= 0)
			continue;
		bool no = strncmp(verb, "refused", 7) == 0;
		ward_buf_puts(b, between);
		between = ", ";
		ward_buf_puts(b, no ? "<span class=\"no\">" : "");
		put(b, ward_report_verb(verb));
		if (json_integer_value(n) > 1)
			ward_buf_printf(b, " %" JSON_INTEGER_FORMAT "×", json_integer_value(n));
		ward_buf_puts(b, no ? "</span>" : "");
	}
	ward_buf_puts(b, "</span>");
}

/* Length of the directory part that two paths share, and how many components that is. */
static size_t common(const char *a, const char *b, size_t *ret_depth)
{
	size_t at = 0;
	*ret_depth = 0;
	for (size_t i = 0; a[i] && a[i] == b[i] && *ret_depth < DEPTH_MAX; i++)
		if (a[i] == '/') {
			at = i + 1;
			(*ret_depth)++;
		}
	return at;
}

/* The records of a path by their numbers. */
static void put_records(struct ward_buf *b, const json_t *list)
{
	size_t i = 0;
	json_t *v = NULL;
	if (json_array_size(list) == 0)
		return;
	ward_buf_puts(b, "<span class=\"dim\">");
	json_array_foreach(list, i, v)
	{
		if (json_is_integer(v))
			ward_buf_printf(b, " #%" JSON_INTEGER_FORMAT, json_integer_value(v));
		else
			ward_buf_puts(b, " …");
	}
	ward_buf_puts(b, "</span>");
}

/* A list of records by some of their members. */
static void put_list(struct ward_buf *b, const json_t *list, const char *title,
	const char *const members[], size_t n_members)
{
	size_t i = 0;
	json_t *v = NULL;
	if (json_array_size(list) == 0)
		return;
	ward_buf_printf(b,
		"<h3>%s</h3>\n<table><thead><tr><th scope=\"col\" class=\"n\">record</th>", title);
	for (size_t k = 0; k < n_members; k++)
		ward_buf_printf(b, "<th scope=\"col\">%s</th>", members[k]);
	ward_buf_puts(b, "</tr></thead><tbody>\n");
	json_array_foreach(list, i, v)
	{
		ward_buf_puts(b, "<tr><td class=\"n\">");
		if (json_object_get(v, "seq"))
			ward_buf_printf(b, "#%" JSON_INTEGER_FORMAT, number(v, "seq", NULL));
		ward_buf_puts(b, "</td>");
		for (size_t k = 0; k < n_members; k++) {
			ward_buf_puts(b, "<td>");
			put(b, ward_query_text(v, members[k]));
			ward_buf_puts(b, "</td>");
		}
		ward_buf_puts(b, "</tr>\n");
	}
	ward_buf_puts(b, table_end);
}

static const char *const approval[] = {
	"time", "kind", "request", "result", "path", "host", "by", "scope", "until"};
static const char *const approved[] = {
	"time", "result", "what", "who", "lasts", "saw", "shown", "used", "text"};
static const char *const steps[] = {"time", "action", "name", "result", "by", "text"};
static const char *const reviewed[] = {
	"time", "what", "who", "path", "before", "after", "manifest", "text"};
static const char *const outside[] = {"time", "action", "path", "comm"};

static void put_tree(
	struct ward_buf *b, json_t *files, const json_t *records, const char **paths, size_t n)
{
	const char *before = "";
	size_t open = 0; /* directories */
	for (size_t i = 0; i < n; i++) {
		size_t depth = 0;
		size_t at = common(before, paths[i], &depth);
		for (; open > depth; open--)
			ward_buf_puts(b, "</ul></details></li>\n");
		for (const char *slash = NULL;
			open < DEPTH_MAX && (slash = strchr(paths[i] + at, '/')); open++) {
			size_t end = (size_t)(slash - paths[i]) + 1;
			ward_buf_puts(b, "<li><details open><summary>");
			put_text(b, paths[i] + at, end - at);
			ward_buf_puts(b, "</summary><ul>\n");
			at = end;
		}
		ward_buf_puts(b, "<li>");
		put(b, paths[i] + at);
		put_verbs(b, json_object_get(files, paths[i]));
		put_records(b, json_object_get(records, paths[i]));
		ward_buf_puts(b, "</li>\n");
		before = paths[i];
	}
	for (; open > 0; open--)
		ward_buf_puts(b, "</ul></details></li>\n");
}

static void put_files(struct ward_buf *b, const json_t *report)
{
	json_t *files = json_object_get(report, "files");
	size_t n = 0;
	const char **paths = calloc(json_object_size(files) + 1, sizeof(*paths));
	const char *path = NULL;
	json_t *verbs = NULL;
	if (!paths)
		return;
	json_object_foreach(files, path, verbs)
	{
		paths[n++] = path;
	}
	qsort(paths, n, sizeof(*paths), by_name);
	heading(b, "files");
	ward_buf_puts(b, "<p class=\"dim\"># names a record; wardfs audit file PATH shows "
			 "those of one file.</p>\n<ul>\n");
	put_tree(b, files, json_object_get(report, "records"), paths,
		n < WARD_REPORT_PATHS ? n : WARD_REPORT_PATHS);
	ward_buf_puts(b, "</ul>\n");
	if (n > WARD_REPORT_PATHS)
		ward_buf_printf(b, "<p>%zu more are not listed.</p>\n", n - WARD_REPORT_PATHS);
	free(paths);
}

/* Whether something was done to the path but reading, and was not refused. */
static bool changed(json_t *verbs)
{
	const char *verb = NULL;
	json_t *n = NULL;
	json_object_foreach(verbs, verb, n)
	{
		if (json_integer_value(n) > 0 && strcmp(verb, "read") != 0 &&
			strncmp(verb, "refused", 7) != 0)
			return true;
	}
	return false;
}

static void put_changed(struct ward_buf *b, const json_t *report)
{
	static const char *const names[] = {"file", "what was done", NULL};
	json_t *files = json_object_get(report, "files");
	const char *path = NULL;
	json_t *verbs = NULL;
	size_t n = 0;
	heading(b, "changed");
	json_object_foreach(files, path, verbs)
	{
		if (!changed(verbs) || n++ >= WARD_REPORT_PATHS)
			continue;
		if (n == 1)
			columns(b, names);
		ward_buf_puts(b, "<tr><td>");
		put_code(b, path);
		ward_buf_puts(b, "</td><td>");
		put_verbs(b, verbs);
		ward_buf_puts(b, "</td></tr>\n");
	}
	ward_buf_puts(b, n ? table_end : "<p>No file was changed.</p>\n");
	if (n > WARD_REPORT_PATHS)
		ward_buf_printf(b, "<p>%zu more are not listed.</p>\n", n - WARD_REPORT_PATHS);
	put_found(b, report, "host_executed", "New files that this host may execute", put_path);
	put_found(b, report, "left", "Left in the project, and no files of it", put_one_left);
	put_list(b, json_object_get(report, "external"), "Changed by others meanwhile", outside,
		sizeof(outside) / sizeof(*outside));
}

static void put_verifying(struct ward_buf *b, const json_t *report)
{
	static const char *const commands[] = {"wardfs audit verify ",
		"wardfs audit bundle -o evidence.tar ",
		"wardfs audit verify --key KEY evidence.tar"};
	static const char *const before[] = {
		"<p>The trail is the evidence; this page is not. On this host:</p>\n",
		"<p>For another host: take a bundle along, and this host's public key (<code>wardfs audit "
		"key show</code>).</p>\n",
		""};
	heading(b, "verify");
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
		ward_buf_puts(b, before[i]);
		ward_buf_puts(b, "<pre>");
		ward_buf_puts(b, commands[i]);
		put(b, i < 2 ? ward_query_text(report, "session") : NULL);
		ward_buf_puts(b, "</pre>\n");
	}
}

static void put_head(struct ward_buf *b, const json_t *report)
{
	static const struct ward_report_style style = {put, put_code};
	ward_buf_puts(b, head);
	ward_buf_puts(b, "<title>wardfs: session ");
	put(b, ward_query_text(report, "session"));
	ward_buf_puts(b, "</title></head><body><main>\n<h1>Session ");
	put(b, ward_query_text(report, "session"));
	ward_buf_puts(b, "</h1>\n");
	put_verdict(b, report);
	ward_buf_puts(b, "<p>");
	ward_report_words(b, report, &style);
	ward_buf_puts(b, "</p>\n");
	put_contents(b);
}

void ward_report_html(struct ward_buf *b, const json_t *report)
{
	put_head(b, report);
	put_changed(b, report);
	put_refusals(b, report);
	put_list(b, json_object_get(report, "approvals"), "Asked and approved", approval,
		sizeof(approval) / sizeof(*approval));
	put_list(b, json_object_get(report, "approved"), "Who allowed what", approved,
		sizeof(approved) / sizeof(*approved));
	put_list(b, json_object_get(report, "steps"), "Steps", steps,
		sizeof(steps) / sizeof(*steps));
	put_list(b, json_object_get(report, "reviewed"), "Reviewed changes", reviewed,
		sizeof(reviewed) / sizeof(*reviewed));
	put_programs(b, report);
	put_network(b, report);
	heading(b, "timeline");
	put_timeline(b, report);
	put_times(b, report);
	put_files(b, report);
	put_facts(b, report);
	put_probes(b, report);
	put_policies(b, report);
	put_verifying(b, report);
	heading(b, "standards");
	ward_buf_puts(b, "<table><tbody>\n");
	for (const struct ward_report_standard *s = ward_report_standards; s->requirement; s++)
		row(b, s->requirement, s->answer);
	ward_buf_puts(b, table_end);
	ward_buf_puts(b, "<p class=\"dim\">Written ");
	put(b, ward_query_text(report, "generated"));
	ward_buf_puts(b, " from the trail.</p>\n</main>\n<script>");
	ward_buf_puts(b, script);
	ward_buf_puts(b, "</script></body></html>\n");
}
