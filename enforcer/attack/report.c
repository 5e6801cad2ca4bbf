/* SPDX-License-Identifier: Apache-2.0 */
#include "enforcer/attack/report.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "enforcer/attack/report_file.h"
#include "enforcer/base/buf.h"
#include "enforcer/base/build_id.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/base/out.h"

size_t ward_report_count(
	const struct ward_attack_run *r, int group, enum ward_attack_verdict verdict)
{
	size_t n = 0;
	for (size_t i = 0; i < r->n; i++)
		n += (group < 0 || (int)r->v[i].group == group) && r->v[i].verdict == verdict;
	return n;
}

int ward_report_status(const struct ward_attack_run *r)
{
	return ward_report_count(r, -1, WARD_ATTACK_BROKEN)	? 1
	       : ward_report_count(r, -1, WARD_ATTACK_UNTESTED) ? 3
								: 0;
}

/* --- for people --- */
static void print_group(const struct ward_attack_run *r, int group, bool all)
{
	size_t n = 0;
	for (size_t i = 0; i < r->n; i++)
		n += (int)r->v[i].group == group;
	if (!n)
		return;
	ward_outf("%-11s %3zu held %3zu broken %3zu n/a %3zu untested  %s\n",
		ward_attack_tables[group]->name, ward_report_count(r, group, WARD_ATTACK_HELD),
		ward_report_count(r, group, WARD_ATTACK_BROKEN),
		ward_report_count(r, group, WARD_ATTACK_NOT_APPLICABLE),
		ward_report_count(r, group, WARD_ATTACK_UNTESTED), ward_attack_tables[group]->what);
	for (size_t i = 0; i < r->n; i++) {
		const struct ward_attack_outcome *o = &r->v[i];
		if ((int)o->group != group)
			continue;
		if (o->verdict == WARD_ATTACK_BROKEN)
			ward_outf("  BROKEN     %s (%s): %s%s%s\n", o->attempt->name,
				ward_attack_severity_name(o->attempt->severity), o->attempt->what,
				*o->seen ? " Seen: " : "", o->seen);
		else if (o->verdict == WARD_ATTACK_UNTESTED)
			ward_outf("  untested   %s: %s (inside: %s; control: %s)\n",
				o->attempt->name, o->seen, *o->said ? o->said : "nothing",
				o->control);
		else if (all && o->verdict == WARD_ATTACK_HELD)
			ward_outf("  held       %s: %s\n", o->attempt->name, o->said);
		else if (all)
			ward_outf("  n/a        %s: %s\n", o->attempt->name, o->seen);
	}
}

void ward_report_table(const struct ward_attack_run *r, bool all)
{
	ward_outf("%s\n", r->sandbox);
	for (int g = 0; g < WARD_ATTACK_GROUPS; g++)
		print_group(r, g, all);
	ward_outf(
		"%zu attempts in %.1f s: %zu held, %zu broken, %zu not applicable, %zu untested\n",
		r->n, r->seconds, ward_report_count(r, -1, WARD_ATTACK_HELD),
		ward_report_count(r, -1, WARD_ATTACK_BROKEN),
		ward_report_count(r, -1, WARD_ATTACK_NOT_APPLICABLE),
		ward_report_count(r, -1, WARD_ATTACK_UNTESTED));
	if (ward_report_count(r, -1, WARD_ATTACK_BROKEN))
		ward_outf(
			"`wardfs attack --explain NAME` says how to repeat one, and what would stop it.\n");
}

void ward_report_list(void)
{
	for (int g = 0; g < WARD_ATTACK_GROUPS; g++) {
		ward_outf(g ? "\n%s: %s\n" : "%s: %s\n", ward_attack_tables[g]->name,
			ward_attack_tables[g]->what);
		for (size_t i = 0; i < ward_attack_tables[g]->n; i++)
			ward_outf("  %-22s %s\n", ward_attack_tables[g]->v[i].name,
				ward_attack_tables[g]->v[i].what);
	}
}

void ward_report_explain(
	const struct ward_attempt *a, enum ward_attack_group group, const char *target)
{
	static const char *const seen[] = {
		[WARD_SEEN_SECRET] = "the attempt brings back a secret that only the observer knew",
		[WARD_SEEN_CHANGE] = "the target outside has changed",
		[WARD_SEEN_VICTIM] = "the process outside has changed",
		[WARD_SEEN_PROCESS] = "a process is still there after the sandbox has ended",
		[WARD_SEEN_GAIN] =
			"/proc shows that the process has a new descriptor, namespace, mount, id or capability",
		[WARD_SEEN_LACK] =
			"the kernel carries it out; when refused, /proc shows the missing capability or the filter",
		[WARD_SEEN_TERMINAL] =
			"the terminal has changed, or what is typed or printed there",
		[WARD_SEEN_OUTPUT] = "what stood in the caller's file of errors has changed",
		[WARD_SEEN_TRAIL] =
			"a file has changed that no record names, or a record says what nobody did",
		[WARD_SEEN_STATE] = "/proc of this host shows it of the process",
	};
	ward_outf("%s (%s, %s)\n\n%s\n\n", a->name, ward_attack_tables[group]->name,
		ward_attack_severity_name(a->severity), a->what);
	ward_outf("Broken if:        %s.\nWould stop it:    %s.\nReference:        %s.\n",
		seen[a->evidence], a->stops, a->reference);
	ward_outf("Only this one:    wardfs attack%s --only %s\n", target, a->name);
	if (a->act)
		ward_outf("By hand:          wardfs attack%s --shell, then ./attempt %s%s\n",
			target, a->name, a->later ? "; then look in a second session" : "");
	ward_outf("Its source:       enforcer/attack/attempts/%s.c\n",
		ward_attack_tables[group]->name);
}

/* --- for programs --- */
static json_t *of_outcome(const struct ward_attack_outcome *o)
{
	return json_pack("{ss ss ss ss ss ss ss ss ss ss si si}", "name", o->attempt->name, "group",
		ward_attack_tables[o->group]->name, "severity",
		ward_attack_severity_name(o->attempt->severity), "what", o->attempt->what,
		"verdict", ward_attack_verdict_name(o->verdict), "inside", o->said, "control",
		o->control, "seen", o->seen, "stops", o->attempt->stops, "reference",
		o->attempt->reference, "runs", (int)o->runs, "broke", (int)o->broke);
}

static json_t *of_run(const struct ward_attack_run *r)
{
	struct utsname host;
	char build[WARD_BUILD_ID_SIZE];
	json_t *argv = json_array(), *all = json_array(), *counts = json_object();
	char *const *a;

	(void)uname(&host);
	for (a = r->argv; a && *a; a++)
		json_array_append_new(argv, json_string(*a));
	for (size_t i = 0; i < r->n; i++)
		json_array_append_new(all, of_outcome(&r->v[i]));
	for (int v = 0; v < WARD_ATTACK_VERDICTS; v++)
		json_object_set_new(counts, ward_attack_verdict_name(v),
			json_integer((json_int_t)ward_report_count(r, -1, v)));
	return json_pack("{ss so ss ss ss si sf ss? sI sI so so}", "sandbox", r->sandbox, "argv",
		argv, "kernel", host.release, "machine", host.machine, "build",
		ward_build_id(build), "uid", (int)getuid(), "seconds", r->seconds, "session",
		r->session, "repeat", (json_int_t)r->repeat, "seed", (json_int_t)r->seed, "counts",
		counts, "attempts", all);
}

static void print_json(json_t *o, FILE *out)
{
	char *text = o ? json_dumps(o, JSON_INDENT(1) | JSON_ENSURE_ASCII) : NULL;
	if (text && out)
		fprintf(out, "%s\n", text);
	else if (text) {
		ward_out_bytes(text, strlen(text));
		ward_out_bytes("\n", 1);
	}
	free(text);
	json_decref(o);
}

void ward_report_json(const struct ward_attack_run *r)
{
	print_json(of_run(r), NULL);
}

int ward_report_statement(const struct ward_attack_run *r, const char *file, int fd)
{
	json_t *o = json_pack("{ss so}", "file", file, "run", of_run(r));
	char *text = o ? json_dumps(o, JSON_COMPACT | JSON_ENSURE_ASCII) : NULL;
	const int result = text ? ward_fd_write_all(fd, text, strlen(text)) : -ENOMEM;
	free(text);
	json_decref(o);
	errno = -result;
	return result < 0 ? -1 : 0;
}

int ward_report_sarif(const struct ward_attack_run *r, const char *file)
{
	static const char *const levels[] = {"error", "warning", "note"};
	json_t *rules = json_array(), *results = json_array();

	for (size_t i = 0; i < r->n; i++) {
		const struct ward_attack_outcome *o = &r->v[i];
		const char *level =
			o->verdict == WARD_ATTACK_BROKEN ? levels[o->attempt->severity] : "none";
		json_array_append_new(rules,
			json_pack("{ss s{ss} s{ss}}", "id", o->attempt->name, "shortDescription",
				"text", o->attempt->what, "help", "text", o->attempt->stops));
		/* SARIF 2.1.0, 3.27.9: pass, fail, notApplicable, open */
		const char *kind = o->verdict == WARD_ATTACK_HELD	      ? "pass"
				   : o->verdict == WARD_ATTACK_BROKEN	      ? "fail"
				   : o->verdict == WARD_ATTACK_NOT_APPLICABLE ? "notApplicable"
									      : "open";
		json_array_append_new(
			results, json_pack("{ss ss ss s{ss}}", "ruleId", o->attempt->name, "kind",
					 kind, "level", level, "message", "text",
					 *o->seen ? o->seen : o->attempt->what));
	}
	json_t *o = json_pack("{ss ss s[{s{s{ssso}}so}]}", "$schema",
		"https://json.schemastore.org/sarif-2.1.0.json", "version", "2.1.0", "runs", "tool",
		"driver", "name", "wardfs attack", "rules", rules, "results", results);
	struct ward_report_file f;
	ward_report_begin(file, &f);
	if (f.out)
		print_json(o, f.out);
	else
		json_decref(o);
	return ward_report_end(&f);
}

int ward_report_junit(const struct ward_attack_run *r, const char *file)
{
	struct ward_report_file f;

	ward_report_begin(file, &f);
	FILE *out = f.out;
	if (!out)
		return ward_report_end(&f);
	fprintf(out,
		"<?xml version=\"1.0\"?>\n<testsuite name=\"wardfs attack\" tests=\"%zu\" failures=\"%zu\" skipped=\"%zu\">\n",
		r->n, ward_report_count(r, -1, WARD_ATTACK_BROKEN),
		ward_report_count(r, -1, WARD_ATTACK_UNTESTED) +
			ward_report_count(r, -1, WARD_ATTACK_NOT_APPLICABLE));
	for (size_t i = 0; i < r->n; i++) {
		const struct ward_attack_outcome *o = &r->v[i];
		fprintf(out, "<testcase classname=\"%s\" name=\"%s\">",
			ward_attack_tables[o->group]->name, o->attempt->name);
		if (o->verdict != WARD_ATTACK_HELD) {
			fputs(o->verdict == WARD_ATTACK_BROKEN ? "<failure message=\""
							       : "<skipped message=\"",
				out);
			ward_report_text(out, *o->seen ? o->seen : o->attempt->what);
			fputs("\"/>", out);
		}
		fputs("</testcase>\n", out);
	}
	fputs("</testsuite>\n", out);
	return ward_report_end(&f);
}
