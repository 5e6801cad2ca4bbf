/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a report as Markdown. */
#include <string.h>

#include "audit/export/report.h"
#include "audit/export/report_facts.h"
#include "audit/export/report_words.h"
#include "audit/query/query.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/escape.h"
#include "enforcer/base/out.h"
#include "enforcer/base/plural.h"

static size_t longest_run(const char *s, char of)
{
	size_t longest = 0;
	for (size_t n = 0; *s; s++) {
		n = *s == of ? n + 1 : 0;
		longest = n > longest ? n : longest;
	}
	return longest;
}

/*
 * Text as a code span: whatever it holds, Markdown and HTML in it mean nothing. Its fence is longer
 * than what it holds of the kind (CommonMark 0.31, 6.1), and in a table a bar is "\|" (GFM 4.10);
 * a backslash of a name is doubled in a trail, so this one is none.
 */
static void span(struct ward_buf *b, const char *text, bool in_table)
{
	ward_cleanup(ward_buf_clear) struct ward_buf shown = WARD_BUF_INIT;
	ward_shown(&shown, text ? text : "");
	const char *s = ward_buf_str(&shown);
	const size_t fence = longest_run(s, '`') + 1;
	const char *apart = fence > 1 ? " " : "";
	for (size_t i = 0; i < fence; i++)
		ward_buf_putc(b, '`');
	ward_buf_puts(b, *s ? apart : " ");
	for (; *s; s++) {
		if (*s == '|' && in_table)
			ward_buf_putc(b, '\\');
		ward_buf_putc(b, *s);
	}
	ward_buf_puts(b, apart);
	for (size_t i = 0; i < fence; i++)
		ward_buf_putc(b, '`');
}

static void code(struct ward_buf *b, const char *text)
{
	span(b, text, true);
}

/* What is a word or a time in a trail that nobody edited; anything else as a code span. */
static void word(struct ward_buf *b, const char *s)
{
	static const char harmless[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				       "0123456789 .:+/-_,()=@'";
	if (!s || s[strspn(s, harmless)] == '\0')
		ward_buf_puts(b, s ? s : "?");
	else
		code(b, s);
}

static void section(struct ward_buf *b, const char *title)
{
	ward_buf_printf(b, "\n## %s\n\n", title);
}

static void fact(struct ward_buf *b, const char *name, const char *value, bool figure)
{
	ward_buf_printf(b, "| %s | ", name);
	if (figure)
		ward_buf_puts(b, value);
	else
		code(b, value);
	ward_buf_puts(b, " |\n");
}

static void reloads(struct ward_buf *b, const json_t *report)
{
	size_t i = 0;
	json_t *d = NULL;
	json_array_foreach(json_object_get(report, "reloads"), i, d)
	{
		ward_buf_printf(b, "%sAnother policy, ", i ? "" : "\n");
		word(b, ward_query_text(d, "result"));
		ward_buf_putc(b, ' ');
		word(b, ward_query_text(d, "time"));
		ward_buf_puts(b, ": ");
		code(b, ward_query_text(d, "policy") ? ward_query_text(d, "policy")
						     : ward_query_text(d, "text"));
		ward_buf_puts(b, "\n");
	}
}

static void refusals(struct ward_buf *b, const json_t *report)
{
	const json_t *all = json_object_get(report, "refusals");
	size_t i = 0;
	json_t *d = NULL;
	section(b, WARD_REPORT_REFUSED);
	ward_buf_puts(b, json_array_size(all) ? "| times | what | rule | what would permit it |\n"
						"|---|---|---|---|\n"
					      : "Nothing was refused.\n");
	json_array_foreach(all, i, d)
	{
		ward_buf_printf(b, "| %" JSON_INTEGER_FORMAT " | ",
			json_integer_value(json_object_get(d, "count")));
		word(b, ward_query_text(d, "action"));
		ward_buf_putc(b, ' ');
		code(b, ward_query_text(d, "object"));
		ward_buf_puts(b, " | ");
		code(b, ward_query_text(d, "rule"));
		ward_buf_puts(b, " ");
		code(b, ward_query_text(d, "rule_text"));
		ward_buf_puts(b, " | ");
		if (ward_query_text(d, "permit")) {
			code(b, ward_query_text(d, "permit"));
		} else if (ward_query_text(d, "forbidden_by")) {
			ward_buf_puts(b, "no rule: forbidden by ");
			code(b, ward_query_text(d, "forbidden_by"));
		} else {
			word(b, ward_query_text(d, "reason"));
		}
		ward_buf_puts(b, " |\n");
	}
}

static void approvals(struct ward_buf *b, const json_t *report)
{
	size_t i = 0;
	json_t *d = NULL;
	if (json_array_size(json_object_get(report, "approvals")) > 0)
		ward_buf_puts(b, "\n## Asked and approved\n\n");
	json_array_foreach(json_object_get(report, "approvals"), i, d)
	{
		ward_buf_printf(b, "- #%" JSON_INTEGER_FORMAT " ",
			json_integer_value(json_object_get(d, "seq")));
		word(b, ward_query_text(d, "time"));
		ward_buf_putc(b, ' ');
		word(b, ward_query_text(d, "kind"));
		ward_buf_putc(b, ' ');
		word(b, ward_query_text(d, "result") ? ward_query_text(d, "result") : "");
		ward_buf_putc(b, ' ');
		code(b, ward_query_text(d, "path") ? ward_query_text(d, "path")
						   : ward_query_text(d, "host"));
		static const char *const members[] = {"request", "by", "scope", "until"};
		for (size_t k = 0; k < sizeof(members) / sizeof(*members); k++) {
			const char *text = ward_query_text(d, members[k]);
			if (!text)
				continue;
			ward_buf_printf(b, " %s ", members[k]);
			code(b, text);
		}
		ward_buf_puts(b, "\n");
	}
}

static void approved(struct ward_buf *b, const json_t *report)
{
	static const struct {
		const char *member, *word;
	} rest[] = {{"lasts", "gave"}, {"saw", "having seen"}, {"shown", "digest"},
		{"used", "used by"}, {"text", "reason"}};
	size_t i = 0;
	const json_t *row = NULL;
	if (json_array_size(json_object_get(report, "approved")) > 0)
		ward_buf_puts(b, "\n## Who allowed what\n\n");
	json_array_foreach(json_object_get(report, "approved"), i, row)
	{
		ward_buf_puts(b, "- ");
		word(b, ward_query_text(row, "time"));
		ward_buf_putc(b, ' ');
		word(b, ward_query_text(row, "result"));
		ward_buf_putc(b, ' ');
		code(b, ward_query_text(row, "what"));
		ward_buf_puts(b, " by ");
		code(b, ward_query_text(row, "who"));
		for (size_t k = 0; k < sizeof(rest) / sizeof(*rest); k++) {
			const char *text = ward_query_text(row, rest[k].member);
			if (!text || !*text)
				continue;
			ward_buf_printf(b, "; %s ", rest[k].word);
			code(b, text);
		}
		ward_buf_puts(b, "\n");
	}
}

/* A list of rows by some of their members. */
static void rows(struct ward_buf *b, const json_t *list, const char *title,
	const char *const members[], size_t n_members)
{
	const json_t *row = NULL;
	size_t i = 0;
	if (json_array_size(list) == 0)
		return;
	section(b, title);
	ward_buf_putc(b, '|');
	for (size_t k = 0; k < n_members; k++)
		ward_buf_printf(b, " %s |", members[k]);
	ward_buf_puts(b, "\n|");
	for (size_t k = 0; k < n_members; k++)
		ward_buf_puts(b, "---|");
	ward_buf_putc(b, '\n');
	json_array_foreach(list, i, row)
	{
		ward_buf_putc(b, '|');
		for (size_t k = 0; k < n_members; k++) {
			const char *text = ward_query_text(row, members[k]);
			ward_buf_putc(b, ' ');
			if (text && *text)
				code(b, text);
			ward_buf_puts(b, " |");
		}
		ward_buf_putc(b, '\n');
	}
}

static void reviewed(struct ward_buf *b, const json_t *report)
{
	static const char *const steps[] = {"time", "action", "name", "result", "by", "text"};
	static const char *const done[] = {
		"time", "what", "who", "path", "before", "after", "manifest", "text"};
	rows(b, json_object_get(report, "steps"), "Steps", steps, sizeof(steps) / sizeof(*steps));
	rows(b, json_object_get(report, "reviewed"), "Reviewed changes", done,
		sizeof(done) / sizeof(*done));
}

/* What was done to which file, and the first of its records. */
static void files(struct ward_buf *b, const json_t *report)
{
	json_t *all = json_object_get(report, "files");
	const char *path = NULL;
	const char *verb = NULL;
	json_t *verbs = NULL;
	json_t *n = NULL;
	size_t shown = 0;
	if (json_object_size(all) == 0)
		return;
	section(b, WARD_REPORT_FILES);
	ward_buf_puts(b, "| file | what | first record |\n|---|---|---|\n");
	json_object_foreach(all, path, verbs)
	{
		const json_t *seqs = json_object_get(json_object_get(report, "records"), path);
		if (shown++ >= WARD_REPORT_PATHS)
			continue;
		ward_buf_puts(b, "| ");
		code(b, path);
		ward_buf_puts(b, " |");
		const char *between = "";
		json_object_foreach(verbs, verb, n)
		{
			if (json_integer_value(n) <= 0)
				continue;
			ward_buf_printf(b, "%s ", between);
			between = ",";
			word(b, ward_report_verb(verb));
			ward_buf_printf(b, " %" JSON_INTEGER_FORMAT "×", json_integer_value(n));
		}
		ward_buf_puts(b, " | ");
		if (json_array_size(seqs) > 0)
			ward_buf_printf(b, "#%" JSON_INTEGER_FORMAT,
				json_integer_value(json_array_get(seqs, 0)));
		ward_buf_puts(b, " |\n");
	}
	if (shown > WARD_REPORT_PATHS)
		ward_buf_printf(b, "\n%zu more file%s.\n", shown - WARD_REPORT_PATHS,
			ward_s(shown - WARD_REPORT_PATHS));
}

/* What others changed, and what was left for this host to execute. */
static void beside(struct ward_buf *b, const json_t *report)
{
	const json_t *detail = json_object_get(json_object_get(report, "end"), "detail");
	size_t i = 0;
	json_t *d = NULL;
	json_array_foreach(json_object_get(report, "external"), i, d)
	{
		ward_buf_puts(b, i ? "" : "\n## Changed by others meanwhile\n\n");
		ward_buf_printf(b, "- #%" JSON_INTEGER_FORMAT " ",
			json_integer_value(json_object_get(d, "seq")));
		word(b, ward_query_text(d, "action"));
		ward_buf_putc(b, ' ');
		code(b, ward_query_text(d, "path"));
		ward_buf_puts(b, "\n");
	}
	json_array_foreach(json_object_get(detail, "host_executed"), i, d)
	{
		ward_buf_puts(b, i ? "- " : "\n## New files that this host may execute\n\n- ");
		code(b, json_string_value(d));
		ward_buf_puts(b, "\n");
	}
	json_array_foreach(json_object_get(detail, "left"), i, d)
	{
		ward_buf_puts(b, i ? "- " : "\n## Left in the project, and no files of it\n\n- ");
		word(b, ward_query_text(d, "kind"));
		ward_buf_putc(b, ' ');
		code(b, ward_query_text(d, "path"));
		if (ward_query_text(d, "to")) {
			ward_buf_puts(b, " to ");
			code(b, ward_query_text(d, "to"));
		}
		ward_buf_puts(b, "\n");
	}
}

static void probes(struct ward_buf *b, const json_t *report)
{
	size_t i = 0;
	json_t *d = NULL;
	section(b, WARD_REPORT_ENFORCED);
	ward_buf_puts(b,
		"Before the command started, a process inside tried to pass each layer. `held` "
		"means that the layer refused the attempt.\n\n"
		"| layer | result | answer | attempt "
		"|\n|---|---|---|---|\n");
	json_array_foreach(json_object_get(report, "probes"), i, d)
	{
		ward_buf_puts(b, "| ");
		code(b, ward_query_text(d, "layer"));
		ward_buf_puts(b, " | ");
		word(b, ward_query_text(d, "result"));
		ward_buf_puts(b, " | ");
		word(b, ward_query_text(d, "attempt") ? ward_query_text(d, "attempt") : "");
		ward_buf_puts(b, " | ");
		code(b, ward_query_text(d, "text"));
		ward_buf_puts(b, " |\n");
	}
}

static void network(struct ward_buf *b, const json_t *report)
{
	static const char *const figures_of[] = {"times", "sent", "received"};
	const json_t *all = json_object_get(report, "network");
	size_t i = 0;
	json_t *d = NULL;
	section(b, WARD_REPORT_NETWORK);
	ward_buf_puts(
		b, json_array_size(all)
			   ? "| decision | way | destination | program | times | bytes sent | "
			     "bytes received |\n|---|---|---|---|---|---|---|\n"
			   : ward_report_no_network(report));
	ward_buf_puts(b, json_array_size(all) ? "" : "\n");
	json_array_foreach(all, i, d)
	{
		const json_t *port = json_object_get(d, "port");
		ward_buf_puts(b, "| ");
		word(b, ward_query_text(d, "decision"));
		ward_buf_puts(b, " | ");
		word(b, ward_query_text(d, "direction"));
		ward_buf_puts(b, " | ");
		code(b, ward_query_text(d, "host") ? ward_query_text(d, "host")
						   : ward_query_text(d, "addr"));
		if (json_is_integer(port))
			ward_buf_printf(b, " port %" JSON_INTEGER_FORMAT, json_integer_value(port));
		ward_buf_puts(b, " | ");
		code(b, ward_query_text(d, "comm") ? ward_query_text(d, "comm") : "-");
		for (size_t k = 0; k < sizeof(figures_of) / sizeof(*figures_of); k++) {
			const json_t *v = json_object_get(d, figures_of[k]);
			if (json_is_integer(v))
				ward_buf_printf(
					b, " | %" JSON_INTEGER_FORMAT, json_integer_value(v));
			else
				ward_buf_puts(b, " | -");
		}
		ward_buf_puts(b, " |\n");
	}
}

/* What was executed, by path: one process can execute several, one after the other. */
static void programs(struct ward_buf *b, const json_t *report)
{
	json_t *all = json_object_get(json_object_get(report, "summary"), "executed");
	const char *path = NULL;
	json_t *n = NULL;
	section(b, WARD_REPORT_PROGRAMS);
	ward_buf_puts(b, json_object_size(all) ? "| program | times executed |\n|---|---|\n"
					       : "The trail names no program.\n");
	json_object_foreach(all, path, n)
	{
		ward_buf_puts(b, "| ");
		code(b, path);
		ward_buf_printf(b, " | %" JSON_INTEGER_FORMAT " |\n", json_integer_value(n));
	}
}

/* Indented by four: no line of it means anything to Markdown. */
static void policies(struct ward_buf *b, const json_t *report)
{
	size_t i = 0;
	json_t *p = NULL;
	json_array_foreach(json_object_get(report, "policies"), i, p)
	{
		const char *s = ward_query_text(p, "text");
		ward_buf_puts(b, i ? "\nFrom " : "\n## " WARD_REPORT_POLICY "\n\nFrom ");
		word(b, ward_query_text(p, "since"));
		ward_buf_puts(b, json_is_true(json_object_get(p, "good"))
					 ? ", SHA-256 "
					 : ", not the text whose SHA-256 is ");
		word(b, ward_query_text(p, "sha256"));
		ward_buf_puts(b, ":\n\n");
		while (s && *s) {
			const size_t n = strcspn(s, "\n");
			ward_buf_puts(b, "    ");
			ward_buf_add(b, s, n);
			ward_buf_putc(b, '\n');
			s += n + (s[n] == '\n');
		}
	}
}

static void plain(struct ward_buf *b, const char *words)
{
	ward_buf_puts(b, words);
}

/* In a paragraph a backslash before a bar would be shown. */
static void name(struct ward_buf *b, const char *text)
{
	span(b, text, false);
}

static void verifying(struct ward_buf *b, const json_t *report)
{
	const char *session = ward_query_text(report, "session");
	ward_buf_puts(b, "\n## " WARD_REPORT_VERIFY
			 "\n\nThe trail is the evidence; this page is not. On this "
			 "host:\n\n    wardfs audit verify ");
	ward_buf_puts(b, session);
	ward_buf_puts(b,
		"\n\nOn another host, with the public key of this one:\n\n    wardfs audit "
		"bundle -o evidence.tar ");
	ward_buf_puts(b, session);
	ward_buf_puts(b, "\n    wardfs audit verify --key KEY evidence.tar\n");
}

void ward_report_markdown(struct ward_buf *b, const json_t *report)
{
	static const struct ward_report_style style = {plain, name};
	const json_t *v = json_object_get(report, "verify");
	ward_buf_puts(b, "# Session ");
	code(b, ward_query_text(report, "session"));
	ward_buf_printf(b, "\n\nTrail: **%s**", ward_query_text(v, "state"));
	if (ward_query_text(v, "text") && *ward_query_text(v, "text")) {
		ward_buf_puts(b, ", ");
		code(b, ward_query_text(v, "text"));
	}
	ward_buf_printf(b, " (%" JSON_INTEGER_FORMAT " records verified)\n\n",
		json_integer_value(json_object_get(v, "records")));
	ward_report_words(b, report, &style);
	ward_buf_putc(b, '\n');
	files(b, report);
	beside(b, report);
	refusals(b, report);
	approvals(b, report);
	approved(b, report);
	reviewed(b, report);
	programs(b, report);
	network(b, report);
	section(b, WARD_REPORT_SESSION);
	ward_buf_puts(b, "| | |\n|---|---|\n");
	ward_report_facts(b, report, fact);
	reloads(b, report);
	probes(b, report);
	policies(b, report);
	verifying(b, report);
	section(b, WARD_REPORT_STANDARDS);
	ward_buf_puts(b, "| requirement | what answers to it |\n|---|---|\n");
	for (const struct ward_report_standard *s = ward_report_standards; s->requirement; s++)
		ward_buf_printf(b, "| %s | %s |\n", s->requirement, s->answer);
	ward_buf_printf(b, "\nWritten %s from the trail; the trail is the evidence.\n",
		ward_query_text(report, "generated"));
}
