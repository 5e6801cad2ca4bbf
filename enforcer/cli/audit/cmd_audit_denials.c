/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs audit denials: what was refused, how often, and what would permit it. */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "audit/query/denials.h"
#include "audit/query/query.h"
#include "enforcer/base/buf.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/escape.h"
#include "enforcer/base/out.h"
#include "enforcer/base/plural.h"
#include "enforcer/cli/audit/audit_guards.h"
#include "enforcer/cli/audit/audit_options.h"
#include "enforcer/cli/audit/audit_print.h"
#include "enforcer/cli/audit/audit_select.h"
#include "enforcer/cli/audit/audit_trail.h"
#include "enforcer/cli/audit/audit_verb.h"
#include "enforcer/cli/audit/audit_verbs.h"
#include "enforcer/cli/base/say.h"

#define RED "\033[31m"
#define PLAIN "\033[0m"

/* The command that writes the line that permits it; nothing where there is none. */
/* 'policy add' writes into the owner's file for the project, and into no other (policy_place.c). */
static bool is_projects(const char *file)
{
	return strstr(file, "/wardfs/projects/") != NULL;
}

static void put_command(struct ward_buf *b, const struct ward_denial *d)
{
	static const char between[] = " = ";
	const char *is = d->line && d->file ? strstr(d->line, between) : NULL;
	const char *path = ward_query_text(d->record, "path");
	if (d->lift && path) {
		ward_buf_printf(b, "wardfs policy add --lift-guard %s ", d->lift);
		ward_shell_word(b, path);
	}
	if (!is || !is_projects(d->file) || strcmp(d->section, "system") == 0)
		return;
	ward_buf_printf(b, "wardfs policy add %.*s ", (int)(is - d->line), d->line);
	ward_shell_word(b, is + strlen(between));
}

/* Where a person was asked: what became of the question. */
static const char *result_of(const struct ward_denials *all, const struct ward_denial *d)
{
	return d->result ? json_string_value(d->result) : all->ended ? "ended" : NULL;
}

static void print_asked(const struct ward_denials *all, const struct ward_denial *d)
{
	const char *name = json_string_value(d->question), *result = result_of(all, d);
	const char *by = json_string_value(d->by), *how = json_string_value(d->how);
	if (!name)
		return;
	ward_outf("\n    question:  %s, ", name);
	if (!result)
		ward_outf("it waits: wardfs approve %s", name);
	else if (strcmp(result, "refused") == 0 || strcmp(result, "granted") == 0)
		ward_outf("%s by %s (wardfs %s)", result, by ? by : "?", how ? how : "?");
	else
		ward_outf("nobody answered");
}

static json_t *question_json(const struct ward_denials *all, const struct ward_denial *d)
{
	const char *result = result_of(all, d);
	return d->question ? json_pack("{s:O, s:s?, s:O?, s:O?}", "name", d->question, "result",
				     result, "by", d->by, "how", d->how)
			   : json_null();
}

static json_t *denial_json(const struct ward_denials *all, const struct ward_denial *d)
{
	static const char *const members[] = {"action", "path", "path2", "host", "addr", "port",
		"asked", "given", "verdict", "errno", "rule", "rule_text", "source", "text", "comm",
		"pid", "via", "time", "expected"};
	json_t *o = json_pack(
		"{s:I, s:I}", "count", (json_int_t)d->count, "first_seq", (json_int_t)d->first_seq);
	for (size_t i = 0; i < sizeof(members) / sizeof(*members); i++) {
		json_t *v = json_object_get(d->record, members[i]);
		if (v)
			json_object_set(o, members[i], v);
	}
	ward_cleanup(ward_buf_clear) struct ward_buf command = WARD_BUF_INIT;
	put_command(&command, d);
	json_object_set_new(o, "permit",
		d->line || command.len
			? json_pack("{s:s?, s:s?, s:s?}", "line", d->line, "file", d->file,
				  "command", command.len ? ward_buf_str(&command) : NULL)
			: json_null());
	json_object_set_new(
		o, "forbidden_by", d->forbidden_by ? json_string(d->forbidden_by) : json_null());
	json_object_set_new(o, "question", question_json(all, d));
	if (d->host_file)
		json_object_set_new(o, "host_file", ward_json_text(d->host_file));
	if (d->reason)
		json_object_set_new(o, "reason", json_string(d->reason));
	return o;
}

/* A text of the trail, which is escaped there, as the bytes that it stands for. */
static const char *plain(struct ward_buf *b, const char *text)
{
	ward_buf_clear(b);
	return ward_unescape(b, text, strlen(text)) == 0 ? ward_buf_str(b) : text;
}

/* Of what would have left: which program, the first of them. */
static void print_asker(const struct ward_denial *d)
{
	const char *comm = ward_query_text(d->record, "comm");
	if (!comm || (!json_object_get(d->record, "host") && !json_object_get(d->record, "addr")))
		return;
	ward_cleanup(ward_buf_clear) struct ward_buf name = WARD_BUF_INIT;
	ward_outf("\n    asked by:  %s[%" JSON_INTEGER_FORMAT "]", plain(&name, comm),
		json_integer_value(json_object_get(d->record, "pid")));
	audit_print_text(" via ", ward_query_text(d->record, "via"), "");
	ward_outf("%s", d->count > 1 ? ", the first of them" : "");
}

static void print_denial(
	const struct audit_cmd *c, const struct ward_denials *all, const struct ward_denial *d)
{
	const json_t *rec = d->record;
	const char *verdict = ward_query_text(rec, "verdict");
	if (c->color)
		ward_outf(RED);
	ward_outf("%" PRIu64 "x %s", d->count, verdict ? verdict : "deny");
	if (c->color)
		ward_outf(PLAIN);
	audit_print_text("  ", ward_query_text(rec, "action"), "");
	audit_print_text(" ", ward_query_text(rec, "path"), "");
	audit_print_text(" -> ", ward_query_text(rec, "path2"), "");
	const char *host = ward_query_text(rec, "host"), *addr = ward_query_text(rec, "addr");
	bool brackets = !host && addr && strchr(addr, ':');
	audit_print_text(brackets ? " [" : " ", host ? host : addr, brackets ? "]" : "");
	if (json_object_get(rec, "port"))
		ward_outf(":%d", (int)json_integer_value(json_object_get(rec, "port")));
	audit_print_rights(json_object_get(rec, "asked"));
	audit_print_text("  (", ward_query_text(rec, "errno"), ")");
	ward_cleanup(ward_buf_clear) struct ward_buf text = WARD_BUF_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf word = WARD_BUF_INIT;
	const char *rule = ward_query_text(rec, "rule");
	ward_outf("\n    rule:      %s", plain(&text, rule ? rule : "?"));
	audit_print_text("  ", ward_query_text(rec, "rule_text"), "");
	audit_print_text("  (", ward_query_text(rec, "source"), ")");
	ward_print_shown_by(rule);
	audit_print_text("  (expected by ", ward_query_text(rec, "expected"), ")");
	audit_print_text("  (", ward_query_text(rec, "text"), ")");
	print_asker(d);
	print_asked(all, d);
	ward_cleanup(ward_buf_clear) struct ward_buf command = WARD_BUF_INIT;
	put_command(&command, d);
	if (d->line)
		ward_outf("\n    to permit: %s\n    in:        [%s] of %s\n", d->line, d->section,
			d->file ? ward_shell_quoted(&word, d->file)
				: "the owner's policy file for this project");
	if (!d->line && d->forbidden_by && rule && strncmp(rule, "--", 2) == 0)
		ward_outf("\n    to permit: start the session without '%s'\n", plain(&text, rule));
	else if (!d->line && d->forbidden_by)
		ward_outf("\n    nothing lifts %s: only a policy without this line permits it\n",
			plain(&text, d->forbidden_by));
	else if (!d->line)
		ward_outf("\n    %s\n", d->reason ? d->reason : "");
	if (command.len)
		ward_outf("    by:        %s\n", ward_buf_str(&command));
	if (d->line)
		return;
	if (!d->host_file)
		return;
	/* An editor cannot help with mkdir, or with the removal of a name. */
	const char *action = ward_query_text(rec, "action");
	const bool makes = action && strcmp(action, "mkdir") == 0;
	const bool goes = action && (strcmp(action, "unlink") == 0 || strcmp(action, "rmdir") == 0);
	ward_shell_word(&command, d->host_file);
	ward_outf("    on the host: you can change it outside of the session: %s%s\n",
		makes  ? "mkdir "
		: goes ? "it is "
		       : "${EDITOR:-vi} ",
		ward_buf_str(&command));
}

static int run_denials(struct audit_cmd *c, struct ward_err *err)
{
	ward_cleanup_free char *name = NULL;
	ward_cleanup(ward_log_closep) struct ward_log *log = NULL;
	ward_cleanup(audit_selected_clear) struct audit_selected s = {0};
	struct ward_denials d = {0};
	int r = audit_trail_open(c, &name, &log, err);
	if (r == 0)
		r = audit_select(c, name, log, &s, err);
	if (r == 0)
		r = ward_query_denials(log, s.sel, &d, err);
	if (r == 0)
		audit_guards_look(log, &d);
	if (r < 0)
		return r;
	json_t *all = json_array();
	for (size_t i = 0; i < d.n; i++) {
		if (c->json)
			json_array_append_new(all, denial_json(&d, &d.v[i]));
		else if (c->expected || !json_object_get(d.v[i].record, "expected"))
			print_denial(c, &d, &d.v[i]);
	}
	if (c->json) {
		ward_print_json(json_incref(all));
	} else {
		const uint64_t unseen = c->expected ? 0 : d.expected;
		ward_outf(d.total > unseen ? "\n" : "");
		ward_outf("%" PRIu64 " %srefusal%s in session %s\n", d.total - unseen,
			s.sel ? "such " : "", ward_s(d.total - unseen), name);
		if (unseen)
			ward_outf("%" PRIu64 " more expected by the policy: wardfs audit%s denials "
				  "--expected %s\n",
				unseen, c->system ? " --system" : "", name);
	}
	if (d.left_out > 0)
		ward_sayf("%" PRIu64 " more refusal%s of other kinds %s not listed", d.left_out,
			ward_s(d.left_out), d.left_out == 1 ? "is" : "are");
	json_decref(all);
	ward_denials_free(&d);
	if (ward_out_flush() < 0)
		return ward_err_sys(err, -EIO, "stdout");
	return audit_select_warn(c, name, log, s.indexed);
}

/* --- on the command line --- */

static const struct argp_option denials_options[] = {
	{"json", 'j', NULL, 0, "One JSON array of objects", 0},
	{"expected", AUDIT_OPTION_EXPECTED, NULL, 0,
		"Also list refusals that the policy expects ([expect])", 0},
	{0},
};
const struct argp audit_denials_argp = {denials_options, audit_verb_parse, "[SESSION]",
	"Lists each refusal, how often it happened, the rule that decided, and the line that "
	"would permit it. SESSION is a name, its unique beginning, or latest (the "
	"default).\vExit status: 0; 1 the trail was changed, or a later one is missing; 2 usage; 125 the trail cannot be read.",
	audit_options_asked, NULL, NULL};
static const struct audit_verb denials_verb = {
	.name = "denials",
	.argp = &audit_denials_argp,
	.words = "s",
	.run = run_denials,
};

int ward_audit_cmd_denials(int argc, char **argv)
{
	return audit_verb_call(&denials_verb, argc, argv);
}
