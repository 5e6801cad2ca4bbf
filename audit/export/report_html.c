/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a report as one HTML page that needs nothing else. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "audit/export/report.h"
#include "audit/query/query.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/out.h"

/* Directories that are drawn within each other; what lies deeper is shown by its whole rest. */
#define DEPTH_MAX 40
#define CHART_WIDTH 900
#define CHART_HEIGHT 120

static const char head[] =
	"<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
	"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
	"'unsafe-inline'\">\n<style>\n"
	":root{color-scheme:light dark;--bg:#fff;--fg:#1d2126;--dim:#667;--line:#d8dde3;"
	"--ok:#2a78b8;--no:#c0392b;--card:#f5f7f9}\n"
	"@media(prefers-color-scheme:dark){:root{--bg:#15181c;--fg:#e4e7ea;--dim:#9aa4ae;"
	"--line:#333a42;--ok:#5aa9e6;--no:#ef6b5e;--card:#1d2126}}\n"
	"body{background:var(--bg);color:var(--fg);font:15px/1.5 system-ui,sans-serif;margin:0 auto;"
	"max-width:960px;padding:1.5rem}\n"
	"h1{font-size:1.5rem}h2{font-size:1.1rem;margin-top:2rem;border-bottom:1px solid var(--line)}\n"
	"table{border-collapse:collapse;width:100%;table-layout:fixed}"
	"td,th{text-align:left;padding:.25rem .5rem;border-bottom:1px solid var(--line);"
	"vertical-align:top;overflow-wrap:anywhere}\n"
	"code,summary,li{font-family:ui-monospace,monospace;font-size:13px;overflow-wrap:anywhere}"
	"ul{list-style:none;padding-left:1rem;margin:0}\n"
	/* Forty levels have to fit on a telephone. */
	"ul ul ul ul ul ul ul ul ul{padding-left:.15rem}\n"
	".v{background:var(--card);border-left:4px solid var(--no);padding:.5rem 1rem}"
	".v.intact{border-color:var(--ok)}.no{color:var(--no)}.dim{color:var(--dim)}"
	".n{width:5rem}svg{width:100%;height:auto;display:block}\n"
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

static json_int_t number(const json_t *o, const char *a, const char *b)
{
	return json_integer_value(json_object_get(b ? json_object_get(o, a) : o, b ? b : a));
}

static void row(struct ward_buf *b, const char *name, const char *value)
{
	if (!value || !*value)
		return;
	ward_buf_puts(b, "<tr><th>");
	put(b, name);
	ward_buf_puts(b, "</th><td>");
	put(b, value);
	ward_buf_puts(b, "</td></tr>\n");
}

static void row_number(struct ward_buf *b, const char *name, json_int_t n)
{
	ward_buf_printf(b, "<tr><th>%s</th><td>%" JSON_INTEGER_FORMAT "</td></tr>\n", name, n);
}

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

static void put_command(struct ward_buf *b, const json_t *report)
{
	const json_t *start = json_object_get(report, "start");
	const json_t *end = json_object_get(report, "end");
	const json_t *summary = json_object_get(report, "summary");
	struct ward_buf argv = WARD_BUF_INIT;
	size_t i = 0;
	json_t *v = NULL;
	json_array_foreach(json_object_get(start, "argv"), i, v)
	{
		ward_buf_puts(&argv, i ? " " : "");
		ward_buf_puts(&argv, json_string_value(v) ? json_string_value(v) : "?");
	}
	ward_buf_puts(b, "<table>\n");
	row(b, "command", ward_buf_str(&argv));
	ward_buf_clear(&argv);
	row(b, "owner", ward_query_text(start, "owner"));
	row(b, "project", ward_query_text(start, "project"));
	row(b, "mode", ward_query_text(start, "mode"));
	row(b, "policy", ward_query_text(report, "policy"));
	put_reloads(b, report);
	row(b, "from", ward_query_text(summary, "first"));
	row(b, "to", ward_query_text(summary, "last"));
	if (json_is_integer(json_object_get(end, "status")))
		row_number(b, "exit status", number(end, "status", NULL));
	if (json_is_integer(json_object_get(end, "signal")))
		row_number(b, "ended by signal", number(end, "signal", NULL));
	row(b, "reason of the end", ward_query_text(end, "text"));
	row_number(b, "records", number(summary, "records", NULL));
	row_number(b, "files read", number(summary, "files", "read"));
	row_number(b, "files written", number(summary, "files", "written"));
	row_number(b, "files created", number(summary, "files", "created"));
	row_number(b, "files removed", number(summary, "files", "removed"));
	row_number(b, "refusals", number(summary, "refusals", "count"));
	row_number(b, "handles whose bytes were not seen", number(summary, "bytes", "unseen"));
	ward_buf_puts(b, "</table>\n");
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

static void put_programs(struct ward_buf *b, const json_t *report)
{
	json_t *programs = json_object_get(json_object_get(report, "summary"), "programs");
	json_int_t max = 1;
	const char *name = NULL;
	json_t *n = NULL;
	if (json_object_size(programs) == 0)
		return;
	json_object_foreach(programs, name, n)
	{
		max = json_integer_value(n) > max ? json_integer_value(n) : max;
	}
	ward_buf_puts(b, "<h2>Programs</h2>\n<table>\n");
	json_object_foreach(programs, name, n)
	{
		ward_buf_puts(b, "<tr><td>");
		put(b, name);
		ward_buf_printf(b,
			"</td><td class=\"n\">%" JSON_INTEGER_FORMAT
			"</td><td><svg viewBox=\"0 0 100 6\" preserveAspectRatio=\"none\"><rect "
			"width=\"%.1f\" height=\"6\" fill=\"var(--ok)\"/></svg></td></tr>\n",
			json_integer_value(n), 100.0 * (double)json_integer_value(n) / (double)max);
	}
	ward_buf_puts(b, "</table>\n");
}

static void put_refusals(struct ward_buf *b, const json_t *report)
{
	const json_t *all = json_object_get(report, "refusals");
	size_t i = 0;
	json_t *d = NULL;
	ward_buf_puts(b, "<h2>Refused</h2>\n");
	if (json_array_size(all) == 0) {
		ward_buf_puts(b, "<p>Nothing was refused.</p>\n");
		return;
	}
	ward_buf_puts(b, "<table><tr><th class=\"n\">times</th><th>what</th><th>rule</th></tr>\n");
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
		ward_buf_puts(b, "</code></td></tr>\n");
	}
	ward_buf_puts(b, "</table>\n");
}

static void put_probes(struct ward_buf *b, const json_t *report)
{
	static const char *const members[] = {"layer", "result", "attempt", "text"};
	const json_t *all = json_object_get(report, "probes");
	size_t i = 0;
	json_t *p = NULL;
	if (json_array_size(all) == 0)
		return;
	ward_buf_puts(b, "<h2>Probed before the command started</h2>\n<table><tr><th>layer</th>"
			 "<th>result</th><th>answer</th><th>attempt</th></tr>\n");
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
	ward_buf_puts(b, "</table>\n");
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
	ward_buf_printf(b, "<h2>%s</h2>\n<ul>\n", title);
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
	ward_buf_puts(b, " <span class=\"dim\">");
	json_object_foreach(verbs, verb, n)
	{
		if (json_integer_value(n) <= 0)
			continue;
		bool no = strncmp(verb, "refused", 7) == 0;
		ward_buf_puts(b, no ? "<span class=\"no\">" : "");
		put(b, verb);
		if (json_integer_value(n) > 1)
			ward_buf_printf(b, " %" JSON_INTEGER_FORMAT "×", json_integer_value(n));
		ward_buf_puts(b, no ? "</span> " : " ");
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

static void put_text(struct ward_buf *b, const char *s, size_t len)
{
	char *copy = strndup(s, len);
	put(b, copy ? copy : "?");
	free(copy);
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
	ward_buf_printf(b, "<h2>%s</h2>\n<table>\n", title);
	json_array_foreach(list, i, v)
	{
		ward_buf_printf(b, "<tr><td class=\"n\">#%" JSON_INTEGER_FORMAT "</td>",
			number(v, "seq", NULL));
		for (size_t k = 0; k < n_members; k++) {
			ward_buf_puts(b, "<td>");
			put(b, ward_query_text(v, members[k]));
			ward_buf_puts(b, "</td>");
		}
		ward_buf_puts(b, "</tr>\n");
	}
	ward_buf_puts(b, "</table>\n");
}

static const char *const approval[] = {
	"time", "kind", "request", "result", "path", "host", "by", "scope", "until"};
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
	ward_buf_puts(b,
		"<h2>Files</h2>\n<p class=\"dim\"># names a record; wardfs audit file PATH shows "
		"those of one file.</p>\n<ul>\n");
	put_tree(b, files, json_object_get(report, "records"), paths,
		n < WARD_REPORT_PATHS ? n : WARD_REPORT_PATHS);
	ward_buf_puts(b, "</ul>\n");
	if (n > WARD_REPORT_PATHS)
		ward_buf_printf(b, "<p>%zu more are not listed.</p>\n", n - WARD_REPORT_PATHS);
	free(paths);
}

void ward_report_html(struct ward_buf *b, const json_t *report)
{
	ward_buf_puts(b, head);
	ward_buf_puts(b, "<title>");
	put(b, ward_query_text(report, "session"));
	ward_buf_puts(b, "</title></head><body>\n<h1>Session ");
	put(b, ward_query_text(report, "session"));
	ward_buf_puts(b, "</h1>\n");
	put_verdict(b, report);
	put_command(b, report);
	ward_buf_puts(b, "<h2>Time line</h2>\n");
	put_timeline(b, report);
	put_refusals(b, report);
	put_list(b, json_object_get(report, "approvals"), "Asked and approved", approval,
		sizeof(approval) / sizeof(*approval));
	put_programs(b, report);
	put_found(b, report, "host_executed", "New files that this host may execute", put_path);
	put_found(b, report, "left", "Left in the project, and no files of it", put_one_left);
	put_files(b, report);
	put_list(b, json_object_get(report, "external"), "Changed by others meanwhile", outside,
		sizeof(outside) / sizeof(*outside));
	put_probes(b, report);
	ward_buf_puts(b, "<h2>Controls</h2>\n<table>\n");
	for (const struct ward_report_control *c = ward_report_controls; c->control; c++)
		row(b, c->control, c->answer);
	ward_buf_puts(b, "</table>\n<p class=\"dim\">Written ");
	put(b, ward_query_text(report, "generated"));
	ward_buf_puts(b, " from the trail; the trail is the evidence, this page is not.</p>\n"
			 "</body></html>\n");
}
