/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs policy check: errors, and what does not do what it seems to. */
#include <argp.h>
#include <errno.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "conf/embedded.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/escape.h"
#include "enforcer/base/out.h"
#include "enforcer/cli/base/arguments.h"
#include "enforcer/cli/base/say.h"
#include "enforcer/cli/base/sessions.h"
#include "enforcer/cli/place/policy_place.h"
#include "enforcer/cli/policy/check_links.h"
#include "enforcer/cli/policy/check_machinery.h"
#include "enforcer/cli/policy/check_programs.h"
#include "enforcer/cli/policy/policy_look.h"
#include "enforcer/cli/policy/policy_options.h"
#include "enforcer/cli/policy/policy_verbs.h"
#include "enforcer/policy/check.h"
#include "enforcer/policy/explain.h"
#include "enforcer/session/control/control.h"
#include "enforcer/session/owner/as_owner.h"
#include "enforcer/session/owner/found_secrets.h"
#include "enforcer/session/owner/git_tracked.h"
#include "enforcer/session/plan/guards_say.h"

struct args {
	struct policy_options o;
	const char *as;
	bool strict;
	const char *file;
};

/* What was found, on its way out. */
struct report {
	const struct args *args;
	const char *name; /* display name of what is checked */
	json_t *list;
	unsigned errors, warnings;
	const struct ward_policy *lifted_in; /* whose [lift] is reported */
};

enum { OPT_AS = 256 };

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;
	switch (key) {
	case OPT_AS:
		if (strcmp(arg, "base") != 0 && strcmp(arg, "floor") != 0 &&
			strcmp(arg, "project") != 0)
			ward_arguments_wrong(state, "--as: base, floor or project");
		a->as = arg;
		return 0;
	case 's':
		a->strict = true;
		return 0;
	case ARGP_KEY_ARG:
		if (a->file)
			ward_arguments_wrong(state, "one file at a time");
		a->file = arg;
		return 0;
	default:
		return policy_option_take(key, arg, &a->o);
	}
}

static const struct argp_option options[] = {
	{"policy", 'p', "FILE|PROFILE", 0, "The same as the argument FILE|PROFILE", 0},
	{"as", OPT_AS, "KIND", 0,
		"Check FILE as base, floor or project file (default: what its name says, else "
		"base)",
		0},
	{"strict", 's', NULL, 0, "Exit with status 1 if there are warnings", 0},
	{"json", 'j', NULL, 0, "One JSON array of findings", 0},
	{0},
};
static const struct argp argp = {options, parse, "[FILE|PROFILE]",
	"Finds errors and misleading rules in FILE. Without FILE it checks the policy in force "
	"here, with all its sources.\vExit status: 0 no findings, or only warnings; 1 warnings "
	"with --strict; 2 errors or usage.",
	NULL, NULL, NULL};

static void put_finding(struct report *rp, const char *severity, const char *file, unsigned line,
	const char *what, const char *why, const char *fix)
{
	if (rp->args->o.json) {
		json_t *o = json_object();
		json_object_set_new(o, "severity", json_string(severity));
		json_object_set_new(o, "file", ward_json_text(file));
		json_object_set_new(o, "line", json_integer(line));
		json_object_set_new(o, "what", ward_json_text(what));
		json_object_set_new(o, "why", ward_json_text(why));
		json_object_set_new(o, "fix", ward_json_text(fix ? fix : ""));
		json_array_append_new(rp->list, o);
		return;
	}
	ward_outf("%s", file);
	if (line)
		ward_outf(":%u", line);
	ward_outf(": %s: %s: %s", severity, what, why);
	if (fix && *fix)
		ward_outf(" (%s)", fix);
	ward_outf("\n");
}

static bool is_profile(const char *file)
{
	for (const struct ward_embedded *e = ward_embedded_profiles; e->name; e++)
		if (strcmp(e->name, file) == 0)
			return true;
	return false;
}

static void on_finding(void *user, const struct ward_finding *f)
{
	struct report *rp = user;
	/* Report a shipped profile's lines only when that profile is checked: nobody here fixes
	 * them. */
	if (is_profile(f->file) && !(rp->args->file && strcmp(rp->args->file, f->file) == 0))
		return;
	rp->warnings += !f->note;
	put_finding(rp, f->note ? "note" : "warning", f->file, f->line, f->what, f->why, f->fix);
}

struct shown {
	struct report *rp;
	const struct ward_policy_place *place;
};

static bool shown_is_dir(void *user, const char *path)
{
	const struct shown *s = user;
	return S_ISDIR(ward_policy_place_type(s->place, path));
}

static void on_shown(void *user, const struct ward_finding *f)
{
	const struct shown *s = user;
	on_finding(s->rp, f);
}

/* Directories of the project are looked at: a rule for one file shows that file alone. */
static int check_shown(const struct ward_policy_place *place, struct report *rp)
{
	struct shown s = {rp, place};
	return ward_policy_check_shown(place->policy, shown_is_dir, on_shown, &s);
}

/* A shipped profile is not to blame for what this host lacks. */
static void on_missing(void *user, const struct ward_finding *f)
{
	struct report *rp = user;
	rp->warnings++;
	put_finding(rp, "warning", f->file, f->line, f->what, f->why, f->fix);
}

/* --- what git tracks --- */

/* One finding for each rule that hides tracked files, naming the first. */
static int check_tracked(const struct ward_policy_place *place, struct report *rp)
{
	if (!place->in_project)
		return 0;
	ward_cleanup(ward_buf_clear) struct ward_buf names = WARD_BUF_INIT;
	struct ward_err err = WARD_ERR_INIT;
	int r = ward_git_tracked(&place->id, place->project.path, &names, &err);
	if (r < 0 && r != -ENOMEM) {
		/* What an agent did to its repository must not keep its owner from checking. */
		rp->warnings++;
		put_finding(rp, "warning", place->project.path, 0, "git", err.text,
			"what git tracks was not checked");
		r = 0;
	}
	const struct ward_rule *said[64];
	size_t n_said = 0;
	for (size_t at = 0, len; r == 0 && at < names.len; at += len + 1) {
		ward_cleanup(ward_buf_clear) struct ward_buf path = WARD_BUF_INIT;
		const struct ward_state *s = NULL;
		len = strlen(names.data + at);
		ward_buf_printf(&path, "/workspace/%s", names.data + at);
		r = ward_policy_walk(place->policy, ward_buf_str(&path), path.len, &s);
		if (r < 0)
			return r;
		const struct ward_request req = {.action = WARD_ACTION_ACCESS,
			.rights = WARD_RIGHT_STAT,
			.state = s,
			/* what is tracked is no secret, or refused (check_secrets()) */
			.fact = WARD_FACT_DIFFERS};
		struct ward_decision d = ward_policy_decide(place->policy, &req, NULL);
		ward_policy_state_put(place->policy, s);
		bool known = d.verdict != WARD_VERDICT_HIDE || !d.rule || n_said == 64;
		for (size_t i = 0; i < n_said; i++)
			known = known || said[i] == d.rule;
		if (known)
			continue;
		said[n_said++] = d.rule;
		ward_cleanup(ward_buf_clear) struct ward_buf what = WARD_BUF_INIT;
		ward_cleanup(ward_buf_clear) struct ward_buf why = WARD_BUF_INIT;
		ward_rule_text(d.rule, &what);
		ward_buf_printf(&why,
			"hides what git tracks (%s): inside it looks deleted, and 'git commit -a' "
			"deletes it",
			names.data + at);
		rp->warnings++;
		put_finding(rp, "warning", d.rule->file, d.rule->line, ward_buf_str(&what),
			ward_buf_str(&why), "use deny");
	}
	return r;
}

/* --- repositories --- */

/* Places guarded without a known repository, and the place where the search ended early. */
static int check_guards(const struct ward_policy_place *place, struct report *rp)
{
	const struct ward_known *k = &place->known;
	int r = 0;
	for (size_t i = 0; i < k->n_trees && r == 0; i++) {
		ward_cleanup(ward_buf_clear) struct ward_buf why = WARD_BUF_INIT;
		ward_cleanup(ward_buf_clear) struct ward_buf fix = WARD_BUF_INIT;
		if (!k->trees[i].stopped)
			continue;
		ward_guards_stopped(&k->trees[i], &why, &fix);
		r = ward_buf_error(&why) < 0 ? -ENOMEM : ward_buf_error(&fix);
		rp->warnings++;
		put_finding(rp, "warning", k->trees[i].stopped, 0, "guards", ward_buf_str(&why),
			ward_buf_str(&fix));
	}
	for (size_t i = 0; i < k->n && r == 0; i++) {
		ward_cleanup(ward_buf_clear) struct ward_buf why = WARD_BUF_INIT;
		ward_cleanup(ward_buf_clear) struct ward_buf fix = WARD_BUF_INIT;
		if (!ward_guards_everywhere(k, &k->v[i], &why, &fix))
			continue;
		r = ward_buf_error(&why) < 0 ? -ENOMEM : ward_buf_error(&fix);
		rp->warnings++;
		put_finding(rp, "warning", k->v[i].path, 0, "guards", ward_buf_str(&why),
			ward_buf_str(&fix));
	}
	for (size_t i = 0; i < k->n && r == 0; i++) {
		ward_cleanup(ward_buf_clear) struct ward_buf fix = WARD_BUF_INIT;
		if (!ward_guards_remembered(k, &k->v[i]))
			continue;
		ward_buf_puts(&fix, "if this is no longer a repository: wardfs policy forget ");
		ward_shell_word(&fix, k->v[i].path);
		r = ward_buf_error(&fix);
		put_finding(rp, "note", k->v[i].path, 0, "remembered",
			"an earlier start found a repository here, and this look does not: what is "
			"left of it is guarded",
			ward_buf_str(&fix));
	}
	return r;
}

/* --- trees that serve the same files --- */

static void say_elsewhere(struct report *rp, const struct ward_policy *p,
	const struct ward_tree *outer, const struct ward_tree *inner)
{
	ward_cleanup(ward_buf_clear) struct ward_buf what = WARD_BUF_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf why = WARD_BUF_INIT;
	const char *file;
	unsigned line;
	ward_policy_tree_place(p, inner->path, &file, &line);
	ward_buf_printf(&what, "[tree %s] source = %s", inner->path, inner->source);
	ward_buf_printf(&why,
		"the tree %s serves the same files under other rules: there wardfs shows their names "
		"and refuses the rest",
		outer->path);
	put_finding(rp, "note", *file ? file : rp->name, line, ward_buf_str(&what),
		ward_buf_str(&why), "");
}

/* Two trees of one directory, or one beneath the other, where a rule holds in the one alone. */
static int check_same_files(
	const struct ward_policy_place *place, const struct ward_policy *p, struct report *rp)
{
	const struct ward_settings *set = ward_policy_settings(p);
	ward_cleanup(ward_tree_spots_clear) struct ward_tree_spots spots = {0};
	struct ward_err why = WARD_ERR_INIT;
	int r = ward_place_trees(place, &spots, &why);
	if (r == 0)
		r = ward_tree_spots_check(&spots, p, &why);
	if (r < 0 && r != -ENOMEM) {
		rp->warnings++;
		put_finding(rp, "warning", rp->name, 0, "trees", why.text, "run refuses this");
		return 0;
	}
	for (size_t i = 0; i < spots.n && r == 0; i++)
		for (size_t j = 0; j < spots.n; j++)
			if (spots.elsewhere[i] & 1U << j)
				say_elsewhere(rp, p, &set->trees[i], &set->trees[j]);
	return r;
}

/* --- secrets --- */

static void on_lift(void *user, const struct ward_rule *lift, uint32_t want)
{
	struct report *rp = user;
	const struct ward_rule *lifts = NULL, *left = NULL;
	ward_cleanup(ward_buf_clear) struct ward_buf what = WARD_BUF_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf why = WARD_BUF_INIT;
	if (ward_policy_lift_look(rp->lifted_in, lift->pattern, want, &lifts, &left) < 0)
		return;
	ward_rule_text(lift, &what);
	if (lifts && !left) {
		ward_buf_puts(&why, "lifts ");
		ward_rule_place(lifts, &why);
		ward_buf_puts(&why, "  ");
		ward_rule_text(lifts, &why);
		put_finding(rp, "note", lift->file, lift->line, ward_buf_str(&what),
			ward_buf_str(&why), "each run says so");
		return;
	}
	if (left) {
		ward_buf_puts(&why, "has no effect: it is taken by ");
		ward_rule_place(left, &why);
		ward_buf_puts(&why, "  ");
		ward_rule_text(left, &why);
	} else {
		ward_buf_puts(&why, "lifts nothing: no guard of a shipped profile covers it");
	}
	rp->warnings++;
	put_finding(rp, "warning", lift->file, lift->line, ward_buf_str(&what), ward_buf_str(&why),
		"take the line out");
}

static void on_found(void *user, enum ward_fact fact, const char *path)
{
	struct report *rp = user;
	if (fact == WARD_FACT_COMMITTED)
		put_finding(rp, "note", path, 0, "secret",
			"git has committed this content, so everybody who reads the repository has "
			"it: it can also be read inside",
			"to refuse it all the same, write deny in place of secret");
	else
		put_finding(rp, "note", path, 0, "secret",
			"git tracks it, and it holds something else, or could not be compared: it "
			"is refused, so 'git add' and 'git commit -a' fail inside",
			"commit it, or 'git restore' it, or 'wardfs policy add --lift-guard read' "
			"it");
}

static void check_secrets(const struct ward_policy *p, struct report *rp)
{
	rp->lifted_in = p;
	ward_policy_each_lift(p, on_lift, rp);
	ward_policy_each_found(p, on_found, rp);
}

/* --- [test] --- */

/* A line that no policy can meet. Whether this policy meets the others, `policy test` says. */
static void on_expectation(void *user, const struct ward_expectation *e)
{
	struct report *rp = user;
	ward_cleanup(ward_buf_clear) struct ward_buf what = WARD_BUF_INIT;
	if (!e->wrong)
		return;
	ward_buf_printf(&what, "[test] expect = %s", e->text);
	rp->warnings++;
	put_finding(rp, "warning", e->file, e->line, ward_buf_str(&what),
		"'wardfs policy test' can never pass this line", e->got);
}

/* --- who else is at work there --- */

/* Is one of two absolute host paths the other, or beneath it? Both as they were resolved. */
static bool overlap(const char *a, const char *b)
{
	size_t n = strlen(a), m = strlen(b);
	const char *longer = n < m ? b : a;
	size_t k = n < m ? n : m;
	if (strncmp(a, b, k) != 0)
		return false;
	return !longer[k] || longer[k] == '/' || (k == 1 && *a == '/');
}

static void say_shared(struct report *rp, const struct ward_policy *p, const struct ward_tree *t,
	const char *source, const json_t *session)
{
	ward_cleanup(ward_buf_clear) struct ward_buf what = WARD_BUF_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf why = WARD_BUF_INIT;
	const char *name = json_string_value(json_object_get(session, "session"));
	const char *file;
	unsigned line;
	ward_policy_tree_place(p, t->path, &file, &line);
	ward_buf_printf(&what, "[tree %s] source = %s", t->path, source);
	ward_buf_printf(&why,
		"the running session %s serves it too: each reads and runs what the other wrote, and "
		"what one policy protects the other may not",
		name ? name : "?");
	rp->warnings++;
	put_finding(rp, "warning", file, line, ward_buf_str(&what), ward_buf_str(&why),
		"give each session a directory of its own, such as a git worktree");
}

/* Does the session serve files of this directory? source: as sessions write theirs. */
static bool serves(const json_t *session, const char *source)
{
	const json_t *tree;
	size_t i;
	json_array_foreach(json_object_get(session, "trees"), i, tree)
	{
		const char *theirs = json_string_value(json_object_get(tree, "source"));
		if (theirs && overlap(source, theirs))
			return true;
	}
	return false;
}

/*
 * The sessions of the caller that serve files of this tree now. One that runs under the owner's
 * file that is checked (own, as sessions write it; NULL: another is checked) is what that file is
 * for. Two of them share the tree.
 */
static int check_tree_shared(struct report *rp, const struct ward_policy *p,
	const struct ward_tree *t, const char *source, const char *own, const json_t *sessions)
{
	ward_cleanup(ward_buf_clear) struct ward_buf mine = WARD_BUF_INIT;
	const json_t *session;
	size_t i, n = 0, n_own = 0;
	/* as they write theirs */
	ward_escape(&mine, source, strlen(source));
	int r = ward_buf_error(&mine);
	if (r < 0)
		return r;
	json_array_foreach(sessions, i, session)
	{
		const char *follows = json_string_value(json_object_get(session, "follows"));
		if (!serves(session, ward_buf_str(&mine)))
			continue;
		n++;
		n_own += own && follows && strcmp(follows, own) == 0;
	}
	if (n == 1 && n_own == 1)
		return 0;
	json_array_foreach(sessions, i, session)
	{
		if (serves(session, ward_buf_str(&mine)))
			say_shared(rp, p, t, source, session);
	}
	return 0;
}

/* own: it is the policy in force here that is checked. */
static int check_sessions(const struct ward_policy_place *place, const struct ward_policy *p,
	bool own, struct report *rp)
{
	const struct ward_settings *set = ward_policy_settings(p);
	ward_cleanup(ward_buf_clear) struct ward_buf file = WARD_BUF_INIT;
	ward_cleanup_free char *runtime = NULL;
	struct ward_err ignored = WARD_ERR_INIT;
	if (ward_control_runtime(&runtime, &ignored) < 0)
		return 0;
	json_t *sessions = ward_sessions_running(runtime);
	own = own && place->owner_file;
	if (own)
		ward_escape(&file, place->owner_file, strlen(place->owner_file));
	int r = ward_buf_error(&file);
	for (size_t i = 0; r == 0 && i < set->n_trees; i++) {
		ward_cleanup(ward_buf_clear) struct ward_buf source = WARD_BUF_INIT;
		if (!set->trees[i].source ||
			ward_tree_source_resolve(set->trees[i].source, place->id.home,
				place->in_project ? place->project.path : NULL, &source,
				&ignored) < 0)
			continue;
		r = check_tree_shared(rp, p, &set->trees[i], ward_buf_str(&source),
			own ? ward_buf_str(&file) : NULL, sessions);
	}
	json_decref(sessions);
	return r;
}

/* --- loading --- */

static enum ward_source_kind kind_of(const struct args *a)
{
	const char *slash = a->file ? strrchr(a->file, '/') : NULL;
	const char *name = slash ? slash + 1 : a->file;
	const char *as = a->as					       ? a->as
			 : name && strcmp(name, ".wardfs.policy") == 0 ? "project"
			 : name && strcmp(name, "floor.policy") == 0   ? "floor"
								       : "base";
	return strcmp(as, "project") == 0 ? WARD_SOURCE_PROJECT
	       : strcmp(as, "floor") == 0 ? WARD_SOURCE_FLOOR
					  : WARD_SOURCE_BASE;
}

/* Compiles a file that only takes away beside a base that gives everything. */
static int load_other(const struct args *a, enum ward_source_kind kind, struct ward_policy **ret,
	struct ward_err *err)
{
	static const char all[] = "[policy]\nversion = 1\n[files]\nwrite = /\n";
	ward_cleanup(ward_buf_clear) struct ward_buf text = WARD_BUF_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf file = WARD_BUF_INIT;
	int r = ward_policy_find(a->file, &text, &file, err);
	if (r < 0)
		return r;
	const struct ward_source_text s[] = {
		{.kind = WARD_SOURCE_BASE,
			.file = "everything",
			.text = all,
			.len = sizeof(all) - 1},
		{.kind = kind, .file = a->file, .text = ward_buf_str(&text), .len = text.len},
	};
	return ward_policy_compile(s, 2, ret, err);
}

/* The error's "FILE:LINE: text" taken apart for the report. */
static void put_error(struct report *rp, const char *message)
{
	const char *colon = strstr(message, ": ");
	unsigned line = 0;
	ward_cleanup_free char *file = colon ? strndup(message, (size_t)(colon - message)) : NULL;
	char *number = file ? strrchr(file, ':') : NULL;
	if (number && sscanf(number + 1, "%u", &line) == 1)
		*number = 0;
	rp->errors++;
	if (rp->args->o.json)
		put_finding(rp, "error", line ? file : rp->name, line, "",
			line ? colon + 2 : message, "");
	else
		ward_say(message);
}

/* What a session under this file would know. */
static int look_for_secrets(
	const struct ward_policy_place *place, struct ward_policy *p, struct ward_err *err)
{
	struct ward_as_owner as;
	int r = ward_as_owner_begin(&place->id, &as, err);
	if (r == 0 && place->in_project)
		r = ward_found_secrets(&place->id, place->project.path, p, err);
	ward_as_owner_end(&as);
	return r;
}

static int check(const struct args *a, struct report *rp, struct ward_err *err)
{
	enum ward_source_kind kind = kind_of(a);
	struct ward_policy *p = NULL;
	if (!a->file) {
		ward_cleanup(ward_policy_place_clear) struct ward_policy_place place;
		int r = ward_policy_place_find(NULL, &place, err);
		if (r == 0)
			ward_policy_place_say_none(&place);
		if (r == 0)
			r = ward_policy_check(place.policy, on_finding, rp);
		if (r == 0)
			r = check_shown(&place, rp);
		if (r == 0)
			r = ward_check_programs(place.policy, on_finding, rp, err);
		if (r == 0)
			r = check_sessions(&place, place.policy, true, rp);
		if (r == 0)
			r = ward_check_links(&place, place.policy, on_finding, rp);
		if (r == 0)
			r = ward_check_machinery(&place, NULL, place.policy, on_missing, rp);
		if (r == 0)
			r = check_guards(&place, rp);
		if (r == 0)
			r = check_same_files(&place, place.policy, rp);
		if (r == 0)
			check_secrets(place.policy, rp);
		if (r == 0)
			r = ward_policy_expectations(place.policy, on_expectation, rp);
		return r == 0 ? check_tracked(&place, rp) : r;
	}
	int r = kind == WARD_SOURCE_BASE ? ward_policy_load_alone(a->file, &p, err)
					 : load_other(a, kind, &p, err);
	if (r < 0)
		return r;
	if (kind == WARD_SOURCE_BASE)
		r = ward_policy_check(p, on_finding, rp);
	if (r == 0)
		r = ward_check_programs(p, on_finding, rp, err);
	/* tracked files of the project at hand, under this file */
	ward_cleanup(ward_policy_place_clear) struct ward_policy_place place = {
		.project = {.fd = -1}};
	struct ward_err ignored = WARD_ERR_INIT;
	if (r == 0 && ward_policy_place_find(NULL, &place, &ignored) == 0) {
		struct ward_policy *other = place.policy;
		place.policy = p;
		r = check_shown(&place, rp);
		if (r == 0)
			r = look_for_secrets(&place, p, err);
		if (r == 0)
			check_secrets(p, rp);
		if (r == 0)
			r = ward_policy_expectations(p, on_expectation, rp);
		if (r == 0)
			r = check_tracked(&place, rp);
		if (r == 0 && kind == WARD_SOURCE_BASE)
			r = check_sessions(&place, p, false, rp);
		if (r == 0 && kind == WARD_SOURCE_BASE)
			r = ward_check_links(&place, p, on_finding, rp);
		if (r == 0 && kind == WARD_SOURCE_BASE)
			r = ward_check_machinery(&place, a->file, p, on_missing, rp);
		place.policy = other;
	}
	ward_policy_unref(p);
	return r;
}

int ward_policy_cmd_check(int argc, char **argv)
{
	struct args a = {0};
	if (ward_arguments_parse(&argp, argc, argv, 0, &a))
		return 2;
	if (!a.file)
		a.file = a.o.policy;
	struct report rp = {.args = &a, .name = a.file ? a.file : "", .list = json_array()};
	struct ward_err err = WARD_ERR_INIT;
	int r = check(&a, &rp, &err);
	if (r < 0)
		put_error(&rp, err.text[0] ? err.text : strerror(-r));
	if (a.o.json)
		ward_print_json(json_incref(rp.list));
	json_decref(rp.list);
	if (rp.errors)
		return 2;
	return a.strict && rp.warnings ? 1 : 0;
}
