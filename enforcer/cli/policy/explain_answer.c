/* SPDX-License-Identifier: Apache-2.0 */
/* Prints a decision about a path. */
#include "enforcer/cli/policy/explain_answer.h"

#include <errno.h>
#include <string.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/escape.h"
#include "enforcer/base/out.h"
#include "enforcer/cli/base/say.h"
#include "enforcer/cli/policy/explain_running.h"
#include "enforcer/cli/policy/explain_staged.h"
#include "enforcer/cli/policy/policy_look.h"
#include "enforcer/policy/settings.h"

static const char *error_name(int error)
{
	switch (error) {
	case EACCES:
		return "EACCES";
	case ENOENT:
		return "ENOENT";
	case EXDEV:
		return "EXDEV";
	case EROFS:
		return "EROFS";
	default:
		return NULL;
	}
}

static json_t *rule_object(const struct ward_rule *r)
{
	ward_cleanup(ward_buf_clear) struct ward_buf place = WARD_BUF_INIT;
	ward_rule_place(r, &place);
	json_t *o = json_object();
	json_object_set_new(o, "rule", ward_json_text(ward_buf_str(&place)));
	json_object_set_new(o, "source", json_string(ward_source_name(r->source)));
	json_object_set_new(o, "section", json_string(ward_rule_section(r)));
	json_object_set_new(o, "verb", json_string(ward_verb_name(r->verb)));
	json_object_set_new(o, "pattern", ward_json_text(r->pattern));
	return o;
}

/* What decided: where it stands, and the line. */
static void deciding(const struct explain_answer *a, struct ward_buf *place, struct ward_buf *line)
{
	if (a->shown.shown) {
		ward_explain_shown(a->policy, a->shown.entry, place, line);
		return;
	}
	ward_rule_place(a->d.rule, place);
	ward_rule_text(a->d.rule, line);
}

void explain_answer_print_json(const struct explain_answer *a)
{
	ward_cleanup(ward_buf_clear) struct ward_buf place = WARD_BUF_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf line = WARD_BUF_INIT;
	deciding(a, &place, &line);
	json_t *o = json_object();
	json_object_set_new(o, "action", json_string(a->action));
	json_object_set_new(o, "path", ward_json_text(a->path));
	if (a->path2)
		json_object_set_new(o, "path2", ward_json_text(a->path2));
	json_object_set_new(o, "verdict", json_string(ward_verdict_name(a->d.verdict)));
	const char *error = error_name(a->d.error);
	json_object_set_new(o, "error", error ? json_string(error) : json_null());
	json_object_set_new(o, "rule", ward_json_text(ward_buf_str(&place)));
	json_object_set_new(
		o, "rule_text", line.len ? ward_json_text(ward_buf_str(&line)) : json_null());
	json_object_set_new(o, "staged", json_boolean(a->staged));
	json_object_set_new(o, "remembered", json_boolean(a->remembered));
	json_object_set_new(
		o, "fact", a->fact_why ? json_string(ward_fact_name(a->fact)) : json_null());
	json_object_set(o, "sessions", a->sessions);
	json_object_set(o, "running", a->running);
	json_object_set_new(o, "rights", ward_json_rights(a->d.granted));
	json_t *rules = json_array();
	for (size_t i = 0; i < a->trace.n; i++) {
		const struct ward_trace_entry *e = &a->trace.entries[i];
		json_t *r = rule_object(e->rule);
		json_object_set_new(r, "rights", ward_json_rights(e->rights));
		json_object_set_new(r, "decides", json_boolean(e->decides));
		json_array_append_new(rules, r);
	}
	json_object_set_new(o, "rules", rules);
	json_object_set_new(o, "in_tree", json_boolean(!a->outside));
	json_object_set_new(o, "rules_left_out", json_integer((json_int_t)a->trace.left_out));
	json_object_set_new(o, "permit",
		a->permit.len ? ward_json_text(ward_buf_str(&a->permit)) : json_null());
	json_t *quotas = json_array();
	const struct ward_quota *q;
	for (size_t i = 0; (q = ward_explain_quota(a->policy, a->path, i)); i++)
		for (size_t k = 0; k < WARD_QUOTA_KEYS_; k++)
			if (q->limits[k].text)
				json_array_append_new(quotas,
					json_pack("{s:o,s:o,s:o}", "quota", ward_json_text(q->path),
						"limit", ward_json_text(q->limits[k].text), "rule",
						ward_json_text(q->limits[k].place)));
	json_object_set_new(o, "quotas", quotas);
	ward_print_json(o);
}

/* What bounds a change that the rules allow. */
static void print_quotas(const struct explain_answer *a)
{
	const struct ward_quota *q, *last = NULL, *last2 = NULL;
	static const char *const reading[] = {"stat", "list", "read", "exec"};
	for (size_t i = 0; i < sizeof(reading) / sizeof(*reading); i++)
		if (strcmp(a->action, reading[i]) == 0)
			return;
	if (a->d.verdict != WARD_VERDICT_ALLOW)
		return;
	for (size_t i = 0; (q = ward_explain_quota(a->policy, a->path, i)); i++) {
		last = q;
		for (size_t k = 0; k < WARD_QUOTA_KEYS_; k++) {
			if (!q->limits[k].text)
				continue;
			ward_outf("  quota   %s  [quota %s] %s\n", q->limits[k].place, q->path,
				q->limits[k].text);
		}
	}
	for (size_t i = 0; a->path2 && (q = ward_explain_quota(a->policy, a->path2, i)); i++)
		last2 = q;
	if (a->path2 && last != last2)
		ward_outf(
			"  note    the second path lies in another quota: the answer is EXDEV, and mv copies the file the file\n");
}

static void print_sessions(const struct explain_answer *a)
{
	ward_cleanup(ward_buf_clear) struct ward_buf path = WARD_BUF_INIT;
	const char *name = json_string_value(json_array_get(a->sessions, 0));
	if (!name)
		return;
	ward_shell_word(&path, a->path);
	ward_outf(
		"\n  note    this is the answer in a session that starts now. Session %s is running, and a\n          file that it made is no secret to it: wardfs exec %s -- ls -l %s",
		name, name, ward_buf_str(&path));
}

void explain_answer_print(const struct explain_answer *a)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf line = WARD_BUF_INIT;
	const char *error = error_name(a->d.error);
	ward_outf("%s %s", a->action, a->path);
	if (a->path2)
		ward_outf(" %s", a->path2);
	ward_outf(": %s%s%s%s\n",
		a->staged ? "allow (staged, flagged)" : ward_verdict_name(a->d.verdict),
		error ? " (" : "", error ? error : "", error ? ")" : "");
	deciding(a, &b, &line);
	ward_outf("  rule    %s  %s", ward_buf_str(&b), ward_buf_str(&line));
	ward_print_shown_by(ward_buf_str(&b));
	if (a->own == WARD_SANDBOX_OWN_HOST)
		ward_outf("every session sees this path as it is on the host, read-only");
	else if (!a->d.rule && !a->shown.shown)
		ward_outf("%s", a->d.verdict == WARD_VERDICT_ALLOW
					? "a directory on the way to something visible"
					: "no line makes it visible");
	if (a->fact_why)
		ward_outf("\n  secret  %s: %s", ward_fact_name(a->fact), a->fact_why);
	if (a->program) {
		ward_outf(
			"\n  note    the list of programs begins there; on this host it allows %s",
			a->d.verdict == WARD_VERDICT_ALLOW ? "this file" : "other files only");
	} else if (a->shown.shown) {
		ward_outf(
			"\n  note    a session sees this path as it is on the host, read-only: rules apply only to trees");
	} else if (a->own == WARD_SANDBOX_OWN_HOST) {
		ward_outf(
			"\n  note    homes, credentials and sockets beneath this path stay hidden");
	} else if (a->own == WARD_SANDBOX_OWN_MADE) {
		ward_outf(
			"\n  note    %s is in no tree. Each session gets its own directory %.*s when it starts,\n          not that of the host: 'wardfs run -- ls -l PATH' shows what it sees",
			a->outside, (int)strcspn(a->outside + 1, "/") + 1, a->outside);
	} else if (a->outside) {
		ward_outf(
			"\n  note    %s is in no tree, so rules do not apply to it. Outside the trees a session\n          sees of the host only /usr, parts of /etc and what [system] read names, read-only",
			a->outside);
	}
	ward_cleanup(ward_buf_clear) struct ward_buf word = WARD_BUF_INIT;
	ward_shell_word(&word, a->repository ? a->repository : "PATH");
	if (a->remembered)
		ward_outf(
			"\n  note    remembered: an earlier start found a repository here. If it is gone:\n          wardfs policy forget %s",
			ward_buf_str(&word));
	if (a->staged)
		explain_staged_print();
	print_sessions(a);
	ward_buf_clear(&b);
	ward_explain_rules(a->d.granted, &a->trace, &b);
	ward_outf("\n");
	ward_out_lines(b.data, b.len);
	print_quotas(a);
	if (a->permit.len)
		ward_outf("  to permit it: %s\n", ward_buf_str(&a->permit));
	explain_running_print(a->running);
}
