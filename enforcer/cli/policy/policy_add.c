/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs policy add: one more rule in the owner's file for this project, where it decides. */
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/escape.h"
#include "enforcer/base/out.h"
#include "enforcer/base/patient.h"
#include "enforcer/cli/base/arguments.h"
#include "enforcer/cli/base/say.h"
#include "enforcer/cli/place/owner_file.h"
#include "enforcer/cli/place/policy_place.h"
#include "enforcer/cli/policy/policy_effect.h"
#include "enforcer/cli/policy/policy_lift.h"
#include "enforcer/cli/policy/policy_lines.h"
#include "enforcer/cli/policy/policy_now.h"
#include "enforcer/cli/policy/policy_rule.h"
#include "enforcer/cli/policy/policy_verbs.h"
#include "enforcer/policy/check.h"
#include "enforcer/policy/explain.h"
#include "enforcer/policy/settings.h"

struct args {
	bool guard, lift, force, now;
	const char *words[2]; /* VERB PATTERN */
	unsigned n;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;
	switch (key) {
	case 'g':
		a->guard = true;
		return 0;
	case 'L':
		a->lift = true;
		return 0;
	case 'f':
		a->force = true;
		return 0;
	case POLICY_OPT_NOW:
		a->now = true;
		return 0;
	case ARGP_KEY_ARG:
		if (a->n == 2)
			ward_arguments_wrong(state, "too many arguments");
		a->words[a->n++] = arg;
		return 0;
	case ARGP_KEY_END:
		if (a->n < 2)
			ward_arguments_wrong(state, "VERB and PATTERN are missing, such as 'read "
						    "/workspace/doc'");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option options[] = {
	{"guard", 'g', NULL, 0, "Add the line as a guard, which no other line lifts", 0},
	{"lift-guard", 'L', NULL, 0,
		"Lift a shipped profile's guard for secrets of one file; VERB is read or write", 0},
	{"force", 'f', NULL, 0,
		"Write the line even if it has no effect, is too wide, takes write access away "
		"or opens a secret",
		0},
	POLICY_OPTION_NOW,
	{0},
};
static const struct argp argp = {options, parse, "VERB PATTERN|HOST|PORT|PROGRAM",
	"Adds the line 'VERB = PATTERN' at the end of your file for this project, and prints "
	"what it changes. The last matching line decides. wardfs does not write a line that "
	"changes nothing, or that 'wardfs policy check' warns about. If you have no file yet, "
	"it writes one that extends medium.\vVERB is one of: " POLICY_RULE_WORDS ". allow takes "
	"HOST[:PORT]; publish takes PORT or PORT:PORT (host, then inside); forward takes PORT "
	"or PORT:PORT (inside, then host); exec takes a program, if [process] exec lists "
	"programs. The others take a pattern. allow, publish and forward "
	"also write 'mode = allowlist' if the session had no network.\nExit status: 0 written; "
	"1 written, but --now could not change a session; 2 not written.",
	NULL, NULL, NULL};

/* A line on its way into the file. */
struct adding {
	const struct args *a;
	const struct policy_rule *rule;
	const struct ward_policy_place *place; /* before */
	unsigned same;			       /* where it stood before; 0: nowhere */
	unsigned line;			       /* where it stands: the last one */
	struct policy_effect effect;
	struct ward_buf before, after; /* rights of an exact path, or of `named` */
	struct ward_buf findings;      /* what check says of the line */
	bool refuse;		       /* one of them says more than how it reads inside */
	bool compared;		       /* with all paths */
	bool opened;		       /* `mode = allowlist` stands before it */
	uint32_t was, is;	       /* rights of that path */
	/* What is there and is meant, perhaps, by a name without its leading `/`; owned, or NULL.
	 */
	char *named;
};

/* Its lines need a network: `mode = allowlist`, where there is none. */
static bool is_network(const struct policy_rule *r)
{
	return strcmp(r->section, "[network]") == 0;
}

/* The file's text, or that of a new one, with the line behind it. */
static int make_text(
	struct adding *x, struct ward_buf *was, struct ward_buf *b, struct ward_err *err)
{
	const char *file = x->place->owner_file;
	const struct policy_rule *rule = x->rule;
	ward_cleanup(policy_lines_clear) struct policy_lines lines = POLICY_LINES_INIT;
	int r = ward_owner_file_get(file, &x->place->id, was, err);
	if (r < 0)
		return r;
	if (r == 0)
		ward_buf_puts(b, WARD_OWNER_FILE_NEW);
	ward_buf_add(b, was->data, was->len);
	x->opened =
		is_network(rule) && ward_policy_settings(x->place->policy)->net == WARD_NET_NONE;
	if (x->opened)
		policy_lines_append(b, rule->section, "mode", "allowlist");
	policy_lines_append(b, rule->section, rule->verb, rule->value);
	r = ward_buf_error(b);
	if (r < 0)
		return ward_err_sys(err, r, "%s", file);
	for (size_t i = 0; i < b->len; i++)
		x->line += b->data[i] == '\n';
	/* In [files] the order counts, so the same line may stand twice: its effect is looked at.
	 */
	r = policy_lines_read(file, b, &lines, err);
	const struct policy_line *same =
		r == 0 ? policy_lines_find(&lines, 0, rule->section, rule->verb, rule->value)
		       : NULL;
	if (same && same->line != x->line && strcmp(rule->section, "[files]") != 0 && !x->a->force)
		return ward_err_set(err, -EEXIST,
			"%s:%u has that line already; nothing was written (--force writes it again)",
			file, same->line);
	x->same = same && same->line != x->line ? same->line : 0;
	return r;
}

/* Nothing lies beneath a file: what the rule would do to names there is of no interest. */
static bool is_file(const struct ward_policy_place *place, const char *path)
{
	static const char top[] = "/workspace/";
	struct stat st;
	ward_cleanup_free char *host = ward_policy_place_host(place, path);
	return host && ward_patient_reach(host, NULL) == 0 && place->project.fd >= 0 &&
	       strncmp(path, top, strlen(top)) == 0 &&
	       fstatat(place->project.fd, path + strlen(top), &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       !S_ISDIR(st.st_mode);
}

static bool is_path(const char *pattern)
{
	return pattern[0] == '/' && !strpbrk(pattern, "*?[\\");
}

/* What `wardfs policy check` would say of it. The file still has another name, which begins so. */
static void take_finding(void *user, const struct ward_finding *f)
{
	struct adding *x = user;
	const char *file = x->place->owner_file;
	if (f->note || f->line != x->line || strncmp(f->file, file, strlen(file)) != 0)
		return;
	x->refuse = x->refuse || !f->advice;
	ward_buf_printf(&x->findings, "%s:%u: %s: %s%s%s%s\n", file, f->line, f->what, f->why,
		f->fix ? " (" : "", f->fix ? f->fix : "", f->fix ? ")" : "");
}

/* A list that begins here would close every other program. */
static const char *judge_program(const struct adding *x)
{
	const struct ward_policy *p = x->place->policy;
	const struct ward_state *s = NULL;
	if (!ward_policy_has_programs(p))
		return "the policy has no list of programs: this line would begin one, and no other "
		       "program could be executed";
	if (!is_path(x->rule->value) ||
		ward_policy_walk(p, x->rule->value, strlen(x->rule->value), &s) < 0)
		return NULL;
	const bool listed = ward_policy_listed(p, s) == WARD_LISTED;
	ward_policy_state_put(p, s);
	return listed ? "[process] exec lists that program already" : NULL;
}

/* Do the lines before allow host at that port (NULL: host names it)? Then *ret says which. */
static bool allowed(const struct adding *x, const char *port, struct ward_buf *ret)
{
	ward_cleanup(ward_buf_clear) struct ward_buf to = WARD_BUF_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf place = WARD_BUF_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf text = WARD_BUF_INIT;
	ward_buf_printf(&to, "%s%s", x->rule->value, port ? port : "");
	if (ward_buf_error(&to) < 0 || ward_policy_connect(x->place->policy, ward_buf_str(&to),
					       &place, &text) != WARD_VERDICT_ALLOW)
		return false;
	ward_buf_clear(ret);
	ward_buf_printf(ret, "%s  %s", ward_buf_str(&place), ward_buf_str(&text));
	return true;
}

/* One host by its name, which may be reached at all that the line allows. Without a port that is
 * 80 and 443. */
static bool is_allowed(const struct adding *x, struct ward_buf *ret)
{
	const char *value = x->rule->value, *colon = strchr(value, ':');
	if (strcmp(x->rule->verb, "allow") != 0 || strpbrk(value, "*?[/ \t"))
		return false;
	if (colon)
		return strspn(colon + 1, "0123456789") == strlen(colon + 1) &&
		       allowed(x, NULL, ret);
	return allowed(x, ":80", ret) && allowed(x, ":443", ret);
}

/* The path that the line is about, where it is about one; or NULL. */
static const char *one_path(const struct adding *x)
{
	return is_path(x->rule->value) ? x->rule->value : x->named;
}

/* Without its `/` a pattern is for every depth, where one path may have been meant. */
static void find_named(struct adding *x)
{
	const struct policy_rule *r = x->rule;
	struct ward_err ignored = WARD_ERR_INIT;
	ward_cleanup_free char *inside = NULL;
	bool dir = false;
	const bool gives = strcmp(r->verb, "read") == 0 || strcmp(r->verb, "write") == 0;
	if (gives && r->files && !x->a->guard && *r->value != '/' && !strpbrk(r->value, "*?[\\") &&
		ward_policy_place_path(x->place, r->value, &inside, &dir, &ignored) == 0 &&
		inside && ward_policy_place_type(x->place, inside))
		x->named = ward_steal_ptr(&inside);
}

static int compare(struct adding *x, const struct ward_policy_place *after, struct ward_err *err)
{
	if (!x->rule->files)
		return 0;
	find_named(x);
	const char *path = one_path(x);
	if (path) {
		x->was = policy_effect_rights(x->place, path, &x->before);
		x->is = policy_effect_rights(after, path, &x->after);
	}
	x->compared = x->named || !(path && is_file(x->place, path));
	if (x->compared)
		return policy_effect_find(x->place, after->policy, &x->effect, err);
	x->effect.paths = x->was != x->is;
	return 0;
}

static bool no_effect(const struct adding *x)
{
	/* What it names is here, and stays as closed as it was. */
	const uint32_t meant =
		strcmp(x->rule->verb, "read") == 0 ? WARD_RIGHT_READ : WARD_RIGHT_WRITE;
	if (x->named && !(x->is & meant) && !(x->is & ~x->was))
		return true;
	/* The lifted guard may be that of a file that does not exist yet. */
	return x->rule->files && !x->a->lift && !x->effect.paths && !x->effect.cut;
}

/* `read` and `append` are meant to give. Do they take from what is there, and give it nothing? */
static bool takes_away(const struct adding *x)
{
	const struct policy_rule *r = x->rule;
	const char *path = one_path(x);
	return r->files && !x->a->guard && !x->a->lift && path &&
	       (strcmp(r->verb, "read") == 0 || strcmp(r->verb, "append") == 0) &&
	       (x->was & ~x->is) && !(x->is & ~x->was) && ward_policy_place_type(x->place, path);
}

static int say_takes_away(const struct adding *x, struct ward_err *err)
{
	const struct policy_rule *r = x->rule;
	const char *path = one_path(x);
	const struct ward_policy *p = x->place->policy;
	ward_cleanup(ward_buf_clear) struct ward_buf lost = WARD_BUF_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf line = WARD_BUF_INIT;
	const struct ward_state *s = NULL;
	struct ward_request req = {.action = WARD_ACTION_ACCESS, .rights = WARD_RIGHT_READ};
	ward_rights_format(&lost, x->was & ~x->is);
	if (ward_policy_walk(p, path, strlen(path), &s) == 0) {
		req.state = s;
		const struct ward_decision d = ward_policy_decide(p, &req, NULL);
		ward_rule_place(d.rule, &line);
		ward_buf_puts(&line, " ");
		ward_rule_text(d.rule, &line);
		ward_policy_state_put(p, s);
	}
	return ward_err_set(err, -ECANCELED,
		"%s can be read already, by %s; '%s = %s' would take %s away; nothing was written "
		"(--force makes it so)",
		path, ward_buf_str(&line), r->verb, r->value, ward_buf_str(&lost));
}

/* With what would permit it instead, where one path is meant: as explain says it. */
static int say_no_effect(const struct adding *x, struct ward_err *err)
{
	const struct policy_rule *r = x->rule;
	const char *path = one_path(x);
	const struct ward_policy *p = x->place->policy;
	ward_cleanup(ward_buf_clear) struct ward_buf permit = WARD_BUF_INIT;
	const struct ward_state *s = NULL;
	struct ward_request req = {.action = WARD_ACTION_ACCESS,
		.rights = strcmp(r->verb, "read") == 0 ? WARD_RIGHT_READ : WARD_RIGHT_WRITE};
	const bool gives = strcmp(r->verb, "read") == 0 || strcmp(r->verb, "write") == 0;
	if (gives && path && !(x->was & req.rights) &&
		ward_policy_walk(p, path, strlen(path), &s) == 0) {
		req.state = s;
		const struct ward_decision d = ward_policy_decide(p, &req, NULL);
		ward_buf_puts(&permit, ". ");
		ward_explain_permit(&d, req.rights, path, x->place->owner_file, &permit);
		ward_policy_state_put(p, s);
	}
	if (x->same && !permit.len)
		return ward_err_set(err, -ECANCELED,
			"%s:%u has that line already, and it decides; nothing was written (--force "
			"writes it again)",
			x->place->owner_file, x->same);
	if (x->named)
		return ward_err_set(err, -ECANCELED,
			"%s %s = %s gives %s no right, since other rules decide; nothing was written "
			"(--force writes it)%s",
			r->section, r->verb, r->value, path, ward_buf_str(&permit));
	return ward_err_set(err, -ECANCELED,
		"%s %s = %s: no path gains or loses a right, since other rules decide "
		"(wardfs policy explain names them); nothing was written (--force writes it)%s",
		r->section, r->verb, r->value, ward_buf_str(&permit));
}

/* ward_owner_change.judge */
static int judge(void *user, const struct ward_policy_place *after, struct ward_err *err)
{
	struct adding *x = user;
	int r = compare(x, after, err);
	if (r == 0)
		r = ward_policy_check(after->policy, take_finding, x);
	if (r < 0)
		return err->code ? r : ward_err_sys(err, r, "checking");
	const char *program = strcmp(x->rule->verb, "exec") == 0 ? judge_program(x) : NULL;
	ward_cleanup(ward_buf_clear) struct ward_buf given = WARD_BUF_INIT;
	if (x->a->force)
		return 0;
	if (is_allowed(x, &given))
		return ward_err_set(err, -ECANCELED,
			"%s is allowed already, by %s; nothing was written (--force writes it)",
			x->rule->value, ward_buf_str(&given));
	if (program)
		return ward_err_set(
			err, -ECANCELED, "%s; nothing was written (--force writes it)", program);
	if (x->refuse)
		return ward_err_set(err, -ECANCELED,
			"%.*s; nothing was written (--force writes it)",
			(int)strcspn(ward_buf_str(&x->findings), "\n"), ward_buf_str(&x->findings));
	const char *opened = x->compared && is_path(x->rule->value)
				     ? policy_effect_opens(&x->effect, x->rule->value)
				     : NULL;
	if (opened)
		return ward_err_set(err, -ECANCELED,
			"'%s = %s' would also open %s, which is a secret until now; nothing was written "
			"(--force opens it; guards, as of .env, stay either way)",
			x->rule->verb, x->rule->value, opened);
	if (takes_away(x))
		return say_takes_away(x, err);
	return no_effect(x) ? say_no_effect(x, err) : 0;
}

static void say_every_depth(const struct adding *x)
{
	const struct policy_rule *r = x->rule;
	ward_cleanup(ward_buf_clear) struct ward_buf word = WARD_BUF_INIT;
	if (x->named)
		ward_sayf(
			"'%s' has no leading /, so it matches at every depth; for one path: wardfs "
			"policy undo, then wardfs policy add %s %s",
			r->value, r->verb, ward_shell_quoted(&word, x->named));
}

/* An agent that ran here before may have had the hosts of its own profile. */
static void say_opened(const struct adding *x)
{
	const struct ward_policy *p = x->place->policy;
	struct ward_source_text s;
	if (!ward_policy_source(p, WARD_SOURCE_PROFILE, &s) &&
		!ward_policy_source(p, WARD_SOURCE_BASE, &s))
		return;
	ward_outf(
		"  and     [network] mode = allowlist: %s has no network (the profile of an agent "
		"has hosts of its own)\n",
		s.file);
}

/* What a line gives that is about no path. */
static void say_given(const struct adding *x)
{
	const struct policy_rule *r = x->rule;
	const bool ports = strcmp(r->verb, "publish") == 0 || strcmp(r->verb, "forward") == 0;
	if (strcmp(r->verb, "allow") == 0)
		ward_outf("  sessions of this project may now connect to %s\n", r->value);
	else if (ports)
		ward_outf(
			strcmp(r->verb, "publish") == 0
				? "  http://127.0.0.1:%.*s of this host now leads into sessions of this project\n"
				: "  localhost:%.*s inside is now that port of this host\n",
			(int)strcspn(r->value, ":"), r->value);
	if (!x->a->now && strcmp(r->verb, "allow") == 0)
		ward_outf("  from the next session on; --now changes those that are running\n");
}

static void print(const struct adding *x)
{
	const struct policy_rule *rule = x->rule;
	ward_cleanup(ward_buf_clear) struct ward_buf word = WARD_BUF_INIT;
	ward_outf("added to %s: %s %s = %s\n", ward_shell_quoted(&word, x->place->owner_file),
		rule->section, rule->verb, rule->value);
	if (x->opened)
		say_opened(x);
	say_given(x);
	if (!x->named && (x->before.len || x->after.len)) {
		ward_outf("  before  %s\n", x->was ? ward_buf_str(&x->before) : "nothing");
		ward_outf("  now     %s\n", x->is ? ward_buf_str(&x->after) : "nothing");
	}
	if (x->compared)
		policy_effect_print(&x->effect, rule->value);
	for (const char *s = x->findings.data; s && *s; s += strcspn(s, "\n") + 1)
		ward_sayf("%.*s", (int)strcspn(s, "\n"), s);
	say_every_depth(x);
}

static int add(struct adding *x, struct ward_err *err)
{
	const struct ward_policy_place *place = x->place;
	if (ward_policy_place_need(place, err) < 0)
		return -ENOENT;
	ward_cleanup(ward_buf_clear) struct ward_buf was = WARD_BUF_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf text = WARD_BUF_INIT;
	ward_cleanup(ward_policy_place_clear) struct ward_policy_place after = {
		.project = {.fd = -1}};
	int r = make_text(x, &was, &text, err);
	const struct ward_owner_change c = {
		.text = &text, .was = &was, .replace = true, .judge = judge, .user = x};
	if (r == 0)
		r = ward_owner_file_change(place, &c, &after, err);
	if (r < 0)
		return r;
	print(x);
	r = x->a->now ? policy_now(place) : 0;
	return ward_out_flush() < 0 ? ward_err_sys(err, -EIO, "stdout") : r;
}

int ward_policy_cmd_add(int argc, char **argv)
{
	struct args a = {0};
	if (ward_arguments_parse(&argp, argc, argv, 0, &a))
		return 2;
	struct ward_err err = WARD_ERR_INIT;
	struct policy_rule rule;
	ward_cleanup(ward_policy_place_clear) struct ward_policy_place place = {
		.project = {.fd = -1}};
	ward_cleanup_free char *lifted = NULL;
	int r = policy_rule_make(a.words[0], a.words[1], a.guard, &rule, &err);
	if (r == 0 && a.guard && a.lift)
		r = ward_err_set(&err, -EINVAL, "--guard and --lift-guard exclude each other");
	if (r == 0)
		r = ward_policy_place_find(NULL, &place, &err);
	if (r == 0 && a.lift)
		r = policy_lift_check(&place, a.words[0], a.words[1], &lifted, &err);
	if (r == 0 && a.lift)
		rule = (struct policy_rule){a.words[0], lifted, "[lift]", true};
	struct adding x = {.a = &a, .rule = &rule, .place = &place, .effect = POLICY_EFFECT_INIT};
	if (r == 0)
		r = add(&x, &err);
	policy_effect_clear(&x.effect);
	free(x.named);
	ward_buf_clear(&x.before);
	ward_buf_clear(&x.after);
	ward_buf_clear(&x.findings);
	if (r < 0)
		ward_say(err.text);
	return r < 0 ? 2 : r;
}
