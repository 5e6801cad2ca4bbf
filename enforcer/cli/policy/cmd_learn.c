/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs learn: a command runs under a shipped policy; what it used becomes one of its own. */
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/log/chain.h"
#include "audit/query/query.h"
#include "audit/store/store.h"
#include "enforcer/base/budget.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"
#include "enforcer/base/escape.h"
#include "enforcer/base/fd.h"
#include "enforcer/base/out.h"
#include "enforcer/cli/base/arguments.h"
#include "enforcer/cli/base/cli.h"
#include "enforcer/cli/base/output.h"
#include "enforcer/cli/base/progress.h"
#include "enforcer/cli/base/say.h"
#include "enforcer/cli/place/agent_profile.h"
#include "enforcer/cli/place/owner_file.h"
#include "enforcer/cli/policy/learn.h"
#include "enforcer/cli/policy/learn_again.h"
#include "enforcer/cli/policy/learn_made.h"
#include "enforcer/cli/policy/learn_merge.h"
#include "enforcer/cli/policy/policy_lines.h"
#include "enforcer/cli/run/run_once.h"
#include "enforcer/ipc/system.h"
#include "enforcer/policy/check.h"
#include "enforcer/policy/diff.h"
#include "enforcer/policy/keys.h"
#include "enforcer/policy/read.h"
#include "enforcer/session/owner/as_owner.h"
#include "enforcer/session/run/run.h"

enum { OPT_WRITE = 0x100, OPT_NET, OPT_ONCE, OPT_READS };
/* Differences that get a message each. */
#define WIDER_MAX 5

struct args {
	struct ward_run_options o;
	bool write, force, json, once, reads;
	bool agent;	  /* the command has a profile of its own, which shows its program */
	const char *file; /* of --write; NULL: the owner's file for this project */
	const char *env[64], *net[64];
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;
	struct ward_run_options *o = &a->o;
	const size_t most = sizeof(a->env) / sizeof(*a->env);
	switch (key) {
	case 'p':
		o->policy = arg;
		return 0;
	case 'e':
		if (o->env.n == most)
			ward_arguments_wrong(state, "--env is given too often");
		a->env[o->env.n++] = arg;
		return 0;
	case OPT_NET:
		if (o->net.n == most)
			ward_arguments_wrong(state, "--net is given too often");
		a->net[o->net.n++] = arg;
		return 0;
	case OPT_WRITE:
		a->write = true;
		a->file = arg;
		return 0;
	case OPT_READS:
		a->reads = true;
		return 0;
	case OPT_ONCE:
		a->once = true;
		return 0;
	case 'f':
		a->force = true;
		return 0;
	case 'j':
		a->json = true;
		return 0;
	case ARGP_KEY_ARG:
		o->argv = state->argv + state->next - 1;
		state->next = state->argc;
		return 0;
	case ARGP_KEY_NO_ARGS:
		ward_arguments_wrong(state, "no command given");
		return EINVAL;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option options[] = {
	{"policy", 'p', "FILE|PROFILE", 0,
		"The policy while the command runs. Default: the profile for CMD if CMD is a "
		"known agent, else medium. wardfs learn ignores your file for the project",
		0},
	{"env", 'e', "NAME[=VALUE]", 0, "As in wardfs run; repeats", 0},
	{"net", OPT_NET, "HOST[:PORT]", 0, "As in wardfs run; repeats", 0},
	{"write", OPT_WRITE, "FILE", OPTION_ARG_OPTIONAL,
		"Write the proposal to FILE, which must not exist. Without FILE, add it to your "
		"file for this project; the next run uses it",
		0},
	{"force", 'f', NULL, 0, "Replace the file", 0},
	{"reads", OPT_READS, NULL, 0,
		"Also name what the command read, and refuse to read anything else", 0},
	{"once", OPT_ONCE, NULL, 0, "Do not run CMD again under the proposal", 0},
	{"json", 'j', NULL, 0,
		"One JSON object behind the command's output: session, text, rules, refused, asked, status, "
		"again",
		0},
	{0},
};
static const struct argp argp = {options, parse, "[--] CMD [ARG...]",
	"Runs CMD under a shipped policy, and prints a policy for what CMD used. The guards of "
	"the shipped policy stay in force, and CMD reaches no host except those of --net. Under "
	"the proposed policy CMD can read the project, and change what it changed now. Names "
	"that contain a time, a process id or a hash become patterns. If CMD succeeds, wardfs "
	"runs it again under the proposal. If CMD fails then, wardfs does not write the "
	"proposal.\vExit status: that of wardfs run; of the second run, if there was one.",
	NULL, NULL, NULL};

struct proposal {
	struct ward_learned learned;
	struct ward_learned_rules rules;
	struct ward_policy_place place; /* where we stand, and what held */
	struct ward_base base;		/* its text; then the proposal's */
	struct ward_buf text;
	bool named;   /* what was read has lines, and nothing else can be read */
	bool compare; /* with what held: that takes a while, and shipped profiles need none */
	bool had;     /* there is an owner's file */
	struct ward_buf made; /* learn_made_find() */
	struct ward_buf was;  /* the owner's file that the proposal is merged with; empty: none */
	char session[WARD_SESSION_NAME_MAX + 1];
	int status; /* of the first run */
	int again;  /* of the second one; -1: there was none */
};

static void proposal_clear(struct proposal *p)
{
	ward_learned_clear(&p->learned);
	ward_learned_rules_clear(&p->rules);
	ward_policy_place_clear(&p->place);
	ward_base_clear(&p->base);
	ward_buf_clear(&p->text);
	ward_buf_clear(&p->was);
	ward_buf_clear(&p->made);
}

/* --- what was used --- */

static int take(void *ctx, const char *line, size_t len, const json_t *record)
{
	(void)line;
	(void)len;
	return record ? ward_learned_take(ctx, record) : 0;
}

static int read_trail(
	struct proposal *p, const char *session, struct ward_learned *ret, struct ward_err *err)
{
	ward_cleanup_free char *path = NULL;
	struct ward_store *st = NULL;
	struct ward_log *log = NULL;
	int r;
	if (ward_policy_settings(p->place.policy)->writer == WARD_WRITER_SYSTEM) {
		r = ward_store_open_system(WARD_SYSTEM_STATE, p->place.id.owner_uid, &st, err);
	} else {
		r = ward_store_default_path(geteuid(), secure_getenv("XDG_STATE_HOME"),
			secure_getenv("HOME"), &path, err);
		if (r == 0)
			r = ward_store_open(path, false, &st, err);
	}
	if (r == 0)
		r = ward_store_open_log(st, session, &log, err);
	if (r == 0)
		r = ward_query_walk(log, true, take, ret, err);
	ward_log_close(log);
	ward_store_close(st);
	return r;
}

/* --- the text --- */

struct denials {
	struct ward_buf *b;
	const struct ward_section *section; /* NULL: none that there is */
	bool others;			    /* rules that take something and are not repeated */
};

static int files_section(
	void *user, const char *kind, const char *arg, unsigned line, struct ward_err *err)
{
	struct denials *d = user;
	(void)arg, (void)line, (void)err;
	d->section = NULL;
	int r = ward_section_find(kind, &d->section, NULL);
	return r == -EINVAL ? 0 : r;
}

static int files_pair(
	void *user, const char *key, const char *value, unsigned line, struct ward_err *err)
{
	struct denials *d = user;
	const struct ward_key *k = NULL;
	(void)line, (void)err;
	if (d->section != &ward_sections[WARD_SECTION_FILES] ||
		ward_key_find(d->section, key, &k, NULL) < 0)
		return 0;
	if (k->verb == WARD_VERB_DENY || k->verb == WARD_VERB_HIDE || k->verb == WARD_VERB_SECRET)
		ward_buf_printf(d->b, "%-5s = %s\n", key, value);
	else if (k->verb != WARD_VERB_WRITE)
		d->others = true;
	return 0;
}

/* What the base's [files] keep away stays away: our lines come behind them. */
static bool put_denials(const struct ward_base *base, struct ward_buf *b)
{
	static const struct ward_read_ops ops = {files_section, files_pair};
	struct denials d = {.b = b};
	for (size_t i = 2; i-- > 0;)
		if (base->text[i].len)
			(void)!ward_policy_read(ward_buf_str(&base->file[i]),
				ward_buf_str(&base->text[i]), base->text[i].len, &ops, &d, NULL);
	return d.others;
}

static int guard_pair(
	void *user, const char *key, const char *value, unsigned line, struct ward_err *err)
{
	struct denials *d = user;
	(void)line, (void)err;
	if (d->section != &ward_sections[WARD_SECTION_GUARD])
		return 0;
	if (!d->others)
		ward_buf_puts(d->b, "\n[guard]\n");
	d->others = true;
	ward_buf_printf(d->b, "%-6s = %s\n", key, value);
	return 0;
}

/* The proposal extends what the base extends, so the guards of the base itself are repeated. */
static void put_guards(const struct ward_base *base, struct ward_buf *b)
{
	static const struct ward_read_ops ops = {files_section, guard_pair};
	struct denials d = {.b = b};
	if (base->text[1].len)
		(void)!ward_policy_read(ward_buf_str(&base->file[0]), ward_buf_str(&base->text[0]),
			base->text[0].len, &ops, &d, NULL);
}

static void put_counts(struct ward_buf *b, const char *front, json_t *o, const char *behind)
{
	const char *key = NULL;
	json_t *v = NULL;
	json_object_foreach(o, key, v) ward_buf_printf(b, "; %s%s%s %" JSON_INTEGER_FORMAT "x\n",
		front, key, behind, json_integer_value(v));
}

static const char *verb_of(const struct ward_learned_rule *r)
{
	return r->append ? "append" : r->write ? "write" : "read ";
}

static void put_text(struct proposal *p, char *const *argv)
{
	struct ward_buf *b = &p->text;
	const struct ward_buf *file = p->base.file;
	ward_buf_printf(b, "; Proposed by wardfs learn, from what session %s used (", p->session);
	ward_escape(b, argv[0], strlen(argv[0]));
	ward_buf_printf(b, "%s).\n", argv[1] ? " ..." : "");
	put_counts(b, "Refused, and not proposed: ", p->learned.refused, "");
	ward_buf_printf(b, "\n[policy]\nversion = 1\nextends = %s\n",
		ward_buf_str(file[1].len ? &file[1] : &file[0]));
	if (p->base.text[1].len)
		learn_put_trees(ward_buf_str(&p->base.file[0]), &p->base.text[0], b);
	put_guards(&p->base, b);
	ward_buf_printf(b, "\n[files]\n" LEARN_BEGINS "\n%s = /workspace\n",
		p->named ? "; Of what the command did not use, only names can be seen.\ndeny "
			 : "read ");
	for (size_t i = 0; i < p->rules.n; i++) {
		const struct ward_learned_rule *r = &p->rules.v[i];
		/* Its line stands behind those of secrets. */
		if (learn_made_has_pattern(&p->made, r->pattern))
			continue;
		ward_buf_printf(b,
			"; names: %" JSON_INTEGER_FORMAT ", times: %" JSON_INTEGER_FORMAT
			"\n%s = %s\n",
			r->files, r->times, verb_of(r), r->pattern);
	}
	p->compare = put_denials(&p->base, b);
}

/* Behind all lines of [files]. */
static int put_end(struct proposal *p)
{
	struct ward_buf *b = &p->text;
	ward_buf_puts(b, LEARN_ENDS "\n");
	if (json_object_size(p->learned.asked)) {
		ward_buf_puts(b,
			"\n; The command asked for these hosts and did not reach them. To allow one, remove the \"; \":\n"
			"; [network]\n; mode = allowlist\n");
		put_counts(b, "allow = ", p->learned.asked, "   ;");
	}
	return ward_buf_error(b);
}

/* --- is it what was asked for? --- */

static uint32_t rights(const struct ward_policy *p, const char *path, size_t len)
{
	const struct ward_state *s = NULL;
	if (ward_policy_walk(p, path, len, &s) < 0)
		return 0;
	uint32_t r = ward_policy_rights(p, s);
	ward_policy_state_put(p, s);
	return r;
}

/* Of what was changed: which files could only grow under the policy that held. */
static int find_appends(struct proposal *p)
{
	const char *key = NULL;
	json_t *o = NULL;
	json_object_foreach(p->learned.used, key, o)
	{
		ward_cleanup(ward_buf_clear) struct ward_buf path = WARD_BUF_INIT;
		ward_buf_puts(&path, "/workspace/");
		if (ward_unescape(&path, key, strlen(key)) < 0 || ward_buf_error(&path))
			return -ENOMEM;
		const uint32_t held = rights(p->place.policy, ward_buf_str(&path), path.len);
		if (held & WARD_RIGHT_APPEND && !(held & WARD_RIGHT_WRITE) &&
			json_array_append_new(o, json_true()) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* What a relisted denial takes from what was used gets a line of its own. */
static int put_exceptions(struct proposal *p, const struct ward_policy *made)
{
	const uint32_t change = WARD_RIGHT_WRITE | WARD_RIGHT_CREATE | WARD_RIGHT_REMOVE;
	const char *key = NULL;
	json_t *o = NULL;
	json_object_foreach(p->learned.used, key, o)
	{
		ward_cleanup(ward_buf_clear) struct ward_buf path = WARD_BUF_INIT;
		ward_buf_puts(&path, "/workspace/");
		if (ward_unescape(&path, key, strlen(key)) < 0 || ward_buf_error(&path))
			return -ENOMEM;
		const bool write = json_integer_value(json_array_get(o, 1)) > 0;
		const uint32_t want = write ? change : WARD_RIGHT_READ;
		const char *s = ward_buf_str(&path);
		if (learn_made_has(&p->made, s) || (rights(made, s, path.len) & want) == want ||
			(rights(p->place.policy, s, path.len) & want) != want)
			continue;
		ward_buf_printf(&p->text, "%s = ", write ? "write" : "read ");
		ward_pattern_quote(&p->text, s, path.len);
		ward_buf_putc(&p->text, '\n');
	}
	return ward_buf_error(&p->text) ? -ENOMEM : 0;
}

static int compile(struct proposal *p, struct ward_policy **ret, struct ward_err *err)
{
	struct ward_base b = WARD_BASE_INIT;
	const size_t from = p->base.file[1].len ? 1 : 0;
	ward_buf_puts(&b.file[0], "proposal");
	ward_buf_add(&b.text[0], p->text.data, p->text.len);
	ward_buf_puts(&b.file[1], ward_buf_str(&p->base.file[from]));
	ward_buf_add(&b.text[1], p->base.text[from].data, p->base.text[from].len);
	const struct ward_load l = {.base = &b,
		.tree_fd = p->place.in_project ? p->place.project.fd : -1,
		.tree_path = p->place.in_project ? p->place.project.path : NULL,
		.home = p->place.id.home,
		.known = &p->place.known};
	int r = ward_policy_load_owned(&p->place.id, &l, ret, err);
	ward_base_clear(&b);
	return r;
}

/* Lines for what the command itself made at names of secrets. all: the policy that has a line for
 * each of them, which shows where a guard leaves it without effect; NULL: put them all. */
static void put_made_lines(struct proposal *p, const struct ward_policy *all)
{
	const struct ward_buf *made = &p->made;
	for (const char *s = made->data; s < made->data + made->len; s += strlen(s) + 1) {
		if (!all || !learn_made_is_secret(all, s)) {
			ward_buf_puts(&p->text,
				"; the command made this file; its name is that of a secret\nwrite = ");
			ward_pattern_quote(&p->text, s, strlen(s));
			ward_buf_putc(&p->text, '\n');
			continue;
		}
		ward_cleanup(ward_buf_clear) struct ward_buf word = WARD_BUF_INIT;
		ward_shell_word(&word, s);
		ward_sayf(
			"the command made %s. Later sessions cannot use it, because a guard takes it "
			"for a secret. If it is none: wardfs policy add --lift-guard write %s",
			s, ward_buf_str(&word));
	}
}

/*
 * For the session that makes it such a file is its own; for the next one, the second run already,
 * it is a secret that was there. A line with its name lets the owner decide.
 */
static int put_made(struct proposal *p, struct ward_err *err)
{
	struct ward_policy *all = NULL;
	const size_t before = p->text.len;
	if (!p->made.len)
		return 0;
	put_made_lines(p, NULL);
	int r = ward_buf_error(&p->text);
	if (r == 0)
		r = compile(p, &all, err);
	if (r == 0) {
		p->text.len = before;
		p->text.data[before] = '\0';
		put_made_lines(p, all);
		r = ward_buf_error(&p->text);
	}
	ward_policy_unref(all);
	return r;
}

struct wider {
	unsigned n;
	struct ward_progress progress;
};

static void tell_steps(void *user, uint64_t steps)
{
	struct wider *w = user;
	ward_progress_tell(&w->progress, steps);
}

static void tell_wider(void *user, const struct ward_difference *d)
{
	struct wider *w = user;
	if (!d->path || !d->gained || strncmp(d->path, "/workspace", 10) != 0)
		return;
	ward_progress_end(&w->progress); /* its place is this line's */
	if (w->n++ < WIDER_MAX)
		ward_sayf("the proposal allows more than the policy under which it was learned: %s",
			d->path);
}

/* What `wardfs policy check` would say of it. */
static void tell_finding(void *user, const struct ward_finding *f)
{
	(void)user;
	if (!f->note && strcmp(f->file, "proposal") == 0)
		ward_sayf(WARD_PLACE_FMT ": %s: %s", WARD_PLACE(f->file, f->line), f->what, f->why);
}

static int check(struct proposal *p, struct ward_err *err)
{
	struct ward_policy *made = NULL;
	enum ward_diff_reach reach = WARD_DIFF_CUT;
	struct wider w = {0};
	int r = compile(p, &made, err);
	if (r == 0)
		r = put_exceptions(p, made);
	ward_policy_unref(made);
	made = NULL;
	if (r == 0)
		r = put_made(p, err);
	if (r == 0)
		r = compile(p, &made, err);
	if (r == 0)
		ward_policy_study_until(made, ward_clock_mono_ns() + WARD_START_NS);
	ward_progress_begin(&w.progress, "comparing", "steps");
	if (r == 0 && p->compare)
		r = ward_policy_diff_rights(
			p->place.policy, made, tell_wider, tell_steps, &w, &reach);
	ward_progress_end(&w.progress);
	if (r == 0)
		r = ward_policy_check(made, tell_finding, NULL);
	if (r == 0 && p->rules.whole)
		ward_say(
			"write = /workspace allows changes in the whole project, because the command "
			"changed too many names at its top; narrow this line by hand");
	ward_policy_unref(made);
	if (r == 0)
		r = put_end(p);
	return r < 0 ? ward_err_sys(err, r, "the proposal") : 0;
}

/* --- the verb --- */

static int write_text(const struct args *a, struct proposal *p, struct ward_err *err)
{
	const char *file = a->file ? a->file : p->place.owner_file;
	int r = 0;
	if (!file)
		return ward_policy_place_need(&p->place, err);
	if (a->file) {
		r = ward_output_write(file, a->force, &p->text, err);
	} else {
		struct ward_policy_place after = {.project = {.fd = -1}};
		const struct ward_owner_change c = {.text = &p->text,
			.was = a->force ? NULL : &p->was,
			.replace = a->force || p->was.len};
		r = ward_owner_file_change(&p->place, &c, &after, err);
		ward_policy_place_clear(&after);
	}
	if (r == -EEXIST)
		return ward_err_set(err, r, "%s exists already; --force replaces it", file);
	if (r < 0)
		return r;
	ward_cleanup(ward_buf_clear) struct ward_buf word = WARD_BUF_INIT;
	const char *shown = ward_shell_quoted(&word, file);
	if (a->file)
		ward_sayf("written to %s: wardfs run --policy %s uses it", shown, shown);
	else
		ward_sayf(
			"written to %s, your file for this project. It is in force from the "
			"next run on, for every command here ('wardfs policy edit' changes it, 'wardfs policy undo' "
			"restores the old file)",
			shown);
	return 0;
}

static json_t *rules_json(const struct ward_learned_rules *rules)
{
	json_t *all = json_array();
	for (size_t i = 0; i < rules->n; i++) {
		const struct ward_learned_rule *r = &rules->v[i];
		/* as it is, where it is UTF-8 */
		json_t *pattern = json_string(r->pattern);
		json_array_append_new(
			all, json_pack("{s:s, s:o, s:I, s:I}", "verb",
				     r->append	? "append"
				     : r->write ? "write"
						: "read",
				     "pattern", pattern ? pattern : ward_json_text(r->pattern),
				     "names", r->files, "times", r->times));
	}
	return all;
}

/* Is it enough? What a run does not show, the next one asks for. */
static int try_again(const struct args *a, struct proposal *p, struct ward_err *err)
{
	struct ward_learned second = {0};
	char session[WARD_SESSION_NAME_MAX + 1];
	if (p->status != 0)
		ward_sayf(
			"the command ended with status %d. The proposal has what the command used until "
			"then, and wardfs did not try it",
			p->status);
	else if (!a->once && a->agent)
		ward_say("wardfs did not try the proposal: only the agent's own profile shows the "
			 "program of the agent");
	if (p->status != 0 || a->once || a->agent)
		return 0;
	ward_say("running the command again, under the proposal");
	snprintf(session, sizeof(session), "again-%s", p->session + strlen("learn-"));
	int r = learn_again(&a->o, &p->text, session, &p->again, err);
	if (r == 0)
		r = ward_learned_init(&second);
	if (r == 0)
		r = read_trail(p, session, &second, err);
	if (r == 0 && p->again != 0)
		ward_sayf("under the proposal the command fails with status %d", p->again);
	if (r == 0 && !learn_again_say_refused(&p->learned, &second, session) && p->again == 0)
		ward_say("under the proposal the command succeeds, and nothing more is refused");
	ward_learned_clear(&second);
	return r < 0 && !err->code ? ward_err_sys(err, r, "the second run") : r;
}

/* Can all of the project be read under the base, but for what it keeps away by name? */
static bool gives_project(const struct proposal *p)
{
	static const char top[] = "/workspace", any[] = "/workspace/.wardfs-any/x";
	ward_cleanup(ward_buf_clear) struct ward_buf ignored = WARD_BUF_INIT;
	return !put_denials(&p->base, &ignored) &&
	       rights(p->place.policy, top, strlen(top)) & WARD_RIGHT_READ &&
	       rights(p->place.policy, any, strlen(any)) & WARD_RIGHT_READ;
}

/* The owner's own lines stay, and decide. */
static int merge(struct proposal *p, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf text = WARD_BUF_INIT;
	int r = learn_merge(p->place.owner_file, &p->was, &p->text, &text, err);
	if (r < 0)
		return r;
	ward_buf_clear(&p->text);
	p->text = text;
	text = WARD_BUF_INIT;
	return 0;
}

/* All of it, or what tells it from the owner's file. */
static void print_text(const struct proposal *p)
{
	ward_cleanup(ward_buf_clear) struct ward_buf lines = WARD_BUF_INIT;
	if (!p->was.len) {
		ward_print_policy(p->text.data, p->text.len);
		return;
	}
	policy_lines_difference(&p->was, &p->text, &lines);
	ward_out_lines(ward_buf_str(&lines), lines.len);
}

static int propose(const struct args *a, struct proposal *p, struct ward_err *err)
{
	int r = read_trail(p, p->session, &p->learned, err);
	if (r == 0)
		r = ward_base_find(a->o.policy, &p->base, err);
	if (r == 0) {
		p->named = a->reads || !gives_project(p);
		r = find_appends(p);
	}
	if (r == 0)
		r = learn_made_find(&p->learned, &p->place, &p->made);
	if (r == 0)
		r = ward_learned_rules(&p->learned, p->named, &p->rules);
	if (r < 0)
		return err->code ? r : ward_err_sys(err, r, "learning");
	if (!p->learned.records)
		return ward_err_set(err, -ENODATA,
			"nothing of the project was used, or the floor keeps opens out of the trail: "
			"there is nothing to propose");
	put_text(p, a->o.argv);
	r = check(p, err);
	if (r == 0 && p->was.len)
		r = merge(p, err);
	if (r == 0)
		r = try_again(a, p, err);
	const bool write = a->write && p->again <= 0;
	const bool same = p->was.len && p->was.len == p->text.len; /* merging only adds */
	if (r == 0 && write && same)
		ward_sayf("%s has all lines that were learned", p->place.owner_file);
	else if (r == 0 && write)
		r = write_text(a, p, err);
	if (r < 0)
		return r;
	if (a->write && !write)
		ward_say("the proposal is not written");
	if (a->json)
		ward_print_json(json_pack("{s:s, s:s#, s:o, s:O, s:O, s:i, s:o}", "session",
			p->session, "text", p->text.data, p->text.len, "rules",
			rules_json(&p->rules), "refused", p->learned.refused, "asked",
			p->learned.asked, "status", p->status, "again",
			p->again < 0 ? json_null() : json_integer(p->again)));
	else
		print_text(p);
	if (!a->write && p->place.owner_file)
		ward_sayf("not written: --write %s your file for this project, %s",
			p->had ? "adds it to" : "stores it as", p->place.owner_file);
	return 0;
}

/* The profile that the command's name stands for, as run would take it; else medium. */
static int choose_policy(struct args *a, struct ward_err *err)
{
	struct ward_run_options probe = a->o;
	struct ward_agent agent = {0};
	if (a->o.policy)
		return 0;
	int r = ward_agent_find(&probe, &agent, err);
	a->agent = r == 0 && agent.profile;
	a->o.policy = a->agent ? agent.profile : "medium";
	ward_agent_clear(&agent);
	return r;
}

/* All that can be wrong about the request, before anything runs. */
static int look_first(struct args *a, struct proposal *p, struct ward_err *err)
{
	ward_cleanup(policy_lines_clear) struct policy_lines lines = POLICY_LINES_INIT;
	struct stat st;
	int r = choose_policy(a, err);
	if (r == 0)
		r = ward_policy_place_look(a->o.policy, WARD_PROJECT_OWNERS, &p->place, err);
	/* No session runs outside of a project. */
	if (r == 0 && !p->place.in_project)
		r = ward_err_set(err, -ENOENT, "%s", p->place.no_project);
	if (r == 0)
		r = ward_learned_init(&p->learned);
	if (r < 0)
		return r;
	const char *file = a->file ? a->file : p->place.owner_file;
	p->had = p->place.owner_file && lstat(p->place.owner_file, &st) == 0;
	if (!a->write || a->force)
		return 0;
	if (!file)
		return ward_policy_place_need(&p->place, err);
	if (a->file)
		return lstat(file, &st) == 0
			       ? ward_err_set(err, -EEXIST,
					 "%s exists already; --force replaces it", file)
			       : 0;
	if (!p->had)
		return 0;
	/* Whether it is a policy is known before the command runs, not afterwards. */
	r = ward_owner_file_get(file, &p->place.id, &p->was, err);
	if (r >= 0)
		r = policy_lines_read(file, &p->was, &lines, err);
	return r;
}

/* What is going to happen, before it does. */
static void say_first(const struct args *a, const struct proposal *p)
{
	if (a->once || a->agent)
		ward_sayf("learning under %s", a->o.policy);
	else
		ward_sayf(
			"learning under %s. If the command succeeds, it runs a second time, under the "
			"proposal (--once leaves this out)",
			a->o.policy);
	if (!p->had)
		return;
	if (p->was.len)
		ward_sayf(
			"in the first run, wardfs learn ignores your file for this project, %s; the "
			"learned lines are added to it, and your own lines still decide",
			p->place.owner_file);
	else
		ward_sayf(
			"wardfs learn ignores your file for this project, %s", p->place.owner_file);
}

int ward_cmd_learn(int argc, char **argv)
{
	struct args a = {.o = {.say = ward_say, .verb = "learn", .learn = true}};
	struct ward_err err = WARD_ERR_INIT;
	ward_cleanup(proposal_clear) struct proposal p = {.place = {.project = {.fd = -1}}};
	char id[WARD_SESSION_ID_MAX];
	a.o.env.v = a.env;
	a.o.net.v = a.net;
	if (ward_arguments_parse(&argp, argc, argv, ARGP_IN_ORDER, &a))
		return WARD_EXIT_USAGE;
	if (ward_chain_setup() < 0 || ward_store_session_id(id, &err) < 0) {
		ward_say(err.code ? err.text : "libsodium cannot be used");
		return WARD_EXIT_SETUP;
	}
	if (look_first(&a, &p, &err) < 0) {
		ward_say(err.text);
		return WARD_EXIT_USAGE;
	}
	snprintf(p.session, sizeof(p.session), "learn-%s", id);
	a.o.session = p.session;
	say_first(&a, &p);
	int status = ward_run_once(&a.o, argv);
	p.status = status;
	p.again = -1;
	if (status == WARD_EXIT_USAGE || status == WARD_EXIT_SETUP ||
		status == WARD_EXIT_NOT_EXECUTABLE || status == WARD_EXIT_NOT_FOUND)
		return status;
	if (propose(&a, &p, &err) < 0) {
		if (err.code == -ENODATA && status)
			ward_sayf("the command failed with exit status %d; %s", status, err.text);
		else
			ward_say(err.text);
		return err.code == -ENODATA ? status : WARD_EXIT_SETUP;
	}
	return p.again > 0 ? p.again : status;
}
