/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "audit/query.h"
#include "audit/report.h"

/* Text as a code span: whatever it holds, Markdown and HTML in it mean nothing. */
static void code(struct ward_buf *b, const char *s)
{
	ward_buf_putc(b, '`');
	for (; s && *s; s++)
		/* A backtick ends the span, a bar the cell. */
		ward_buf_putc(b, *s == '`' ? '\'' : *s == '|' ? '/' : *s);
	ward_buf_putc(b, '`');
}

static void figure(struct ward_buf *b, const char *name, const json_t *n)
{
	ward_buf_printf(b, "| %s | %" JSON_INTEGER_FORMAT " |\n", name, json_integer_value(n));
}

static void figures(struct ward_buf *b, const json_t *summary)
{
	static const char *const files[] = {"read", "written", "created", "removed", "refused"};
	ward_buf_puts(b, "\n| | |\n|---|---|\n");
	figure(b, "records", json_object_get(summary, "records"));
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		ward_buf_printf(b, "| files %s |", files[i]);
		ward_buf_printf(b, " %" JSON_INTEGER_FORMAT " |\n",
			json_integer_value(
				json_object_get(json_object_get(summary, "files"), files[i])));
	}
	figure(b, "refusals", json_object_get(json_object_get(summary, "refusals"), "count"));
}

void ward_report_markdown(struct ward_buf *b, const json_t *report)
{
	const json_t *v = json_object_get(report, "verify");
	const json_t *summary = json_object_get(report, "summary");
	size_t i = 0;
	json_t *d = NULL;
	ward_buf_puts(b, "# Session ");
	code(b, ward_query_text(report, "session"));
	ward_buf_printf(b, "\n\nTrail: **%s**", ward_query_text(v, "state"));
	if (ward_query_text(v, "text") && *ward_query_text(v, "text")) {
		ward_buf_puts(b, ", ");
		code(b, ward_query_text(v, "text"));
	}
	ward_buf_printf(b, " (%" JSON_INTEGER_FORMAT " records verified)\n",
		json_integer_value(json_object_get(v, "records")));
	figures(b, summary);
	json_array_foreach(json_object_get(report, "reloads"), i, d)
	{
		ward_buf_printf(b, "%sAnother policy, %s %s: ", i ? "" : "\n",
			ward_query_text(d, "result") ? ward_query_text(d, "result") : "?",
			ward_query_text(d, "time") ? ward_query_text(d, "time") : "?");
		code(b, ward_query_text(d, "policy") ? ward_query_text(d, "policy")
						     : ward_query_text(d, "text"));
		ward_buf_puts(b, "\n");
	}
	ward_buf_puts(b, "\n## Refused\n\n| times | what | rule |\n|---|---|---|\n");
	json_array_foreach(json_object_get(report, "refusals"), i, d)
	{
		ward_buf_printf(b, "| %" JSON_INTEGER_FORMAT " | %s ",
			json_integer_value(json_object_get(d, "count")),
			ward_query_text(d, "action") ? ward_query_text(d, "action") : "?");
		code(b, ward_query_text(d, "path"));
		ward_buf_puts(b, " | ");
		code(b, ward_query_text(d, "rule_text") ? ward_query_text(d, "rule_text")
							: ward_query_text(d, "rule"));
		ward_buf_puts(b, " |\n");
	}
	if (json_array_size(json_object_get(report, "approvals")) > 0)
		ward_buf_puts(b, "\n## Asked and approved\n\n");
	json_array_foreach(json_object_get(report, "approvals"), i, d)
	{
		ward_buf_printf(b, "- #%" JSON_INTEGER_FORMAT " %s %s %s ",
			json_integer_value(json_object_get(d, "seq")),
			ward_query_text(d, "time") ? ward_query_text(d, "time") : "?",
			ward_query_text(d, "kind") ? ward_query_text(d, "kind") : "?",
			ward_query_text(d, "result") ? ward_query_text(d, "result") : "");
		code(b, ward_query_text(d, "path") ? ward_query_text(d, "path")
						   : ward_query_text(d, "host"));
		ward_buf_puts(b, " ");
		code(b, ward_query_text(d, "by"));
		ward_buf_puts(b, "\n");
	}
	ward_buf_puts(b,
		"\n## Probed before the command started\n\n| layer | result | answer | attempt "
		"|\n|---|---|---|---|\n");
	json_array_foreach(json_object_get(report, "probes"), i, d)
	{
		ward_buf_puts(b, "| ");
		code(b, ward_query_text(d, "layer"));
		ward_buf_printf(b, " | %s | %s | ",
			ward_query_text(d, "result") ? ward_query_text(d, "result") : "?",
			ward_query_text(d, "attempt") ? ward_query_text(d, "attempt") : "");
		code(b, ward_query_text(d, "text"));
		ward_buf_puts(b, " |\n");
	}
	ward_buf_puts(b, "\n## Controls\n\n| control | what answers to it |\n|---|---|\n");
	for (const struct ward_report_control *c = ward_report_controls; c->control; c++)
		ward_buf_printf(b, "| %s | %s |\n", c->control, c->answer);
	ward_buf_printf(b, "\nWritten %s from the trail; the trail is the evidence.\n",
		ward_query_text(report, "generated"));
}
