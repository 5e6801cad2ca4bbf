/* SPDX-License-Identifier: Apache-2.0 */
/* Finds what is odd about a policy that compiles. */
#include "enforcer/policy/check.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf/embedded.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/plural.h"
#include "enforcer/base/quantity.h"
#include "enforcer/modes/table/mode.h"
#include "enforcer/policy/explain.h"
#include "enforcer/policy/open_hosts.h"
#include "enforcer/policy/internal.h"
#include "enforcer/policy/load.h"
#include "enforcer/policy/shadow.h"

struct checker {
	const struct ward_policy *p;
	ward_finding_fn fn;
	void *user;
	enum ward_finding_about about; /* of what is said next */
};

static void say(const struct checker *c, const char *file, unsigned line, const char *what,
	const char *why, const char *fix)
{
	const struct ward_finding f = {.about = c->about,
		.file = file,
		.line = line,
		.what = what,
		.why = why,
		.fix = fix};
	c->fn(c->user, &f);
}

static void say_rule(
	const struct checker *c, const struct ward_rule *r, const char *why, const char *fix)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	ward_rule_text(r, &b);
	say(c, r->file, r->line, ward_buf_str(&b), why, fix);
}

static void say_entry(
	const struct checker *c, const struct ward_entry *e, const char *why, const char *fix)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	ward_entry_name(&b, e);
	ward_buf_printf(&b, " = %s", e->value);
	say(c, e->file, e->line, ward_buf_str(&b), why, fix);
}

/* A byte that valid UTF-8 never holds: what a wildcard stands for, and no literal names. */
#define FRESH 0xfe

/* One way to turn a pattern into a path: how long a '*' is, how many names `**` stands for. */
struct sample {
	unsigned star, names;
};

static void put_fresh(struct ward_buf *b, unsigned n)
{
	while (n--)
		ward_buf_putc(b, (char)FRESH);
}

static uint8_t member(const struct ward_byte_set *s)
{
	if (ward_byte_set_has(s, FRESH))
		return FRESH;
	for (unsigned b = 1; b < 256; b++)
		if (b != '/' && ward_byte_set_has(s, (uint8_t)b))
			return (uint8_t)b;
	return 0;
}

/* Appends a path that the pattern names. False: this sample is not a path (an empty or too long
 * name). */
static bool sample_path(const struct ward_pattern *p, struct sample s, struct ward_buf *b)
{
	if (p->n == 0)
		ward_buf_putc(b, '/');
	for (size_t i = 0; i < p->n; i++) {
		const struct ward_component *c = &p->components[i];
		for (unsigned k = 0; c->loop && k < s.names; k++) {
			ward_buf_putc(b, '/');
			put_fresh(b, 1 + s.star);
		}
		ward_buf_putc(b, '/');
		size_t from = b->len;
		for (size_t k = 0; k < c->n; k++) {
			const struct ward_glob_elem *e = &p->elems[c->first + k];
			switch ((enum ward_glob_kind)e->kind) {
			case WARD_GLOB_BYTE:
				ward_buf_putc(b, (char)e->byte);
				break;
			case WARD_GLOB_ANY:
				put_fresh(b, 1);
				break;
			case WARD_GLOB_SET:
				ward_buf_putc(b, (char)member(&p->sets[e->set]));
				break;
			case WARD_GLOB_STAR:
				put_fresh(b, s.star);
				break;
			case WARD_GLOB_END:
				break;
			}
		}
		if (b->len == from || b->len - from > WARD_NAME_MAX)
			return false;
	}
	return ward_buf_error(b) == 0;
}

/* Who leaves the rule nothing: "a:3  [files] read = x, a:4  [guard] …". */
static void put_beaters(const struct ward_shadow *x, struct ward_buf *why)
{
	for (size_t i = 0; i < x->n_by; i++) {
		ward_buf_puts(why, i ? ", " : "");
		ward_rule_place(x->by[i], why);
		ward_buf_puts(why, "  ");
		ward_rule_text(x->by[i], why);
	}
	ward_buf_puts(why, x->more ? " and others" : "");
}

/* Of a rule: what it leaves nothing of, among the refusals that the shipped profile has. */
struct lifted {
	const struct ward_rule *first;
	unsigned n;
};

/* What check_rules() goes on with. */
struct shadowed {
	const struct checker *c;
	unsigned undecided;
	const struct ward_rule *first; /* of these; one that is not a shipped profile's, if any */
	struct lifted *lifted;	       /* one for each rule */
};

/* The name that a pattern ends in. */
static const char *last_name(const char *pattern)
{
	const char *slash = strrchr(pattern, '/');
	return slash ? slash + 1 : pattern;
}

static bool refuses(const struct ward_rule *r)
{
	return r->verb == WARD_VERB_HIDE || r->verb == WARD_VERB_DENY ||
	       r->verb == WARD_VERB_SECRET;
}

/* Does a line behind `by` refuse the same again, as the advice below says? */
static bool is_repeated(
	const struct ward_policy *p, const struct ward_rule *by, const struct ward_rule *r)
{
	for (const struct ward_rule *x = by + 1; x < p->rules + p->n_rules; x++)
		if (x->source == by->source && !x->guard && refuses(x) &&
			strcmp(x->pattern, r->pattern) == 0)
			return true;
	return false;
}

/*
 * A refusal of the shipped profile that a rule of the owner's beats everywhere without naming
 * the same: it goes unseen, the owner's rule says more than was meant.
 */
static void note_lifted(struct shadowed *s, const struct ward_rule *r, const struct ward_shadow *x)
{
	const struct ward_rule *by = x->n_by == 1 && !x->more ? x->by[0] : NULL;
	if (r->source != WARD_SOURCE_PROFILE || r->guard || !by || by->source == r->source)
		return;
	bool gives = by->verb == WARD_VERB_READ || by->verb == WARD_VERB_APPEND ||
		     by->verb == WARD_VERB_WRITE;
	if (!refuses(r) || !gives || strcmp(last_name(r->pattern), last_name(by->pattern)) == 0 ||
		is_repeated(s->c->p, by, r))
		return;
	struct lifted *l = &s->lifted[by - s->c->p->rules];
	l->first = l->first ? l->first : r;
	l->n++;
}

static void say_lifted(const struct shadowed *s)
{
	for (uint32_t i = 0; i < s->c->p->n_rules; i++) {
		const struct lifted *l = &s->lifted[i];
		ward_cleanup(ward_buf_clear) struct ward_buf why = WARD_BUF_INIT;
		if (!l->n)
			continue;
		ward_buf_puts(&why, "too wide: it also allows what other lines refuse: ");
		ward_rule_place(l->first, &why);
		ward_buf_puts(&why, "  ");
		ward_rule_text(l->first, &why);
		if (l->n > 1)
			ward_buf_printf(&why, " and %u more line%s", l->n - 1, ward_s(l->n - 1));
		say_rule(s->c, &s->c->p->rules[i], ward_buf_str(&why),
			"write narrower paths, or repeat those lines after this one");
	}
}

/* Is it one of the guards that were added to a shipped profile for the project at hand? */
static bool is_added(const struct ward_rule *r)
{
	size_t len = 0;
	const char *text = r->guard ? ward_profile_text(r->file, &len) : NULL;
	unsigned lines = 0;
	for (size_t i = 0; text && i < len; i++)
		lines += text[i] == '\n';
	return text && r->line > lines;
}

static void say_never(
	const struct checker *c, const struct ward_rule *r, const struct ward_shadow *x)
{
	ward_cleanup(ward_buf_clear) struct ward_buf why = WARD_BUF_INIT;
	const char *fix = "remove the line, or move it after";
	/* `init` writes guards of a git directory that a session adds too: neither is too much. */
	if (r->guard && x->n_by == 1 && !x->more && is_added(x->by[0]))
		return;
	/* that a file decides otherwise than what it extends is what extending is for */
	for (size_t i = 0; r->source == WARD_SOURCE_PROFILE && i < x->n_by; i++)
		if (x->by[i]->source != r->source)
			return;
	if (!x->n_by) {
		ward_buf_puts(&why, "never decides: no name can match this pattern");
		fix = "remove the line";
	} else if (r->guard) {
		ward_buf_puts(
			&why, "takes nothing away, because other lines already take all of it: ");
		fix = "remove the line";
	} else if (x->taken) {
		ward_buf_puts(
			&why, "never gives what it says, because each of its paths has a guard: ");
		fix = "no line lifts a guard: change the guard, or remove the line";
	} else {
		ward_buf_puts(&why, "never decides, because other lines decide all of it: ");
	}
	put_beaters(x, &why);
	say_rule(c, r, ward_buf_str(&why), fix);
}

static void on_shadow(void *user, uint32_t number, const struct ward_shadow *x)
{
	struct shadowed *s = user;
	const struct ward_rule *r = &s->c->p->rules[number];
	/* what was found twice in the project is nobody's mistake */
	if (r->source == WARD_SOURCE_NONE || r->verb == WARD_VERB_PROGRAM || is_added(r))
		return;
	switch (x->answer) {
	case WARD_SHADOW_UNDECIDED:
		s->undecided++;
		if (!s->first || s->first->source == WARD_SOURCE_PROFILE)
			s->first = r;
		return;
	case WARD_SHADOW_COUNTS:
		return;
	case WARD_SHADOW_NEVER:
		note_lifted(s, r, x);
		say_never(s->c, r, x);
		return;
	case WARD_SHADOW_NOWHERE:
		if (r->source != WARD_SOURCE_PROFILE)
			say_rule(s->c, r, "names no path in any [tree]",
				"write paths as they are inside: /workspace/… is the project. To show a path of the host, read-only: wardfs run --read PATH, or read = PATH in [system]");
		return;
	}
}

static int check_rules(const struct checker *c)
{
	ward_cleanup_free struct lifted *lifted = calloc(c->p->n_rules + 1, sizeof(*lifted));
	struct shadowed s = {.c = c, .lifted = lifted};
	int r = lifted ? ward_policy_shadows(c->p, on_shadow, &s) : -ENOMEM;
	if (r == 0)
		say_lifted(&s);
	if (r < 0 || !s.undecided)
		return r;
	ward_cleanup(ward_buf_clear) struct ward_buf what = WARD_BUF_INIT;
	ward_buf_printf(&what, "%u of %zu rules", s.undecided, c->p->n_rules);
	const struct ward_finding f = {.note = true,
		.file = s.first->file,
		.line = s.first->line,
		.what = ward_buf_str(&what),
		.why = "too many patterns match the same names, so wardfs cannot tell whether these rules ever decide",
		.fix = "for one path, 'wardfs policy explain' says what decides"};
	c->fn(c->user, &f);
	return 0;
}

/* --- what people regret --- */

static int rights_at(const struct ward_policy *p, const char *path, struct ward_decision *ret)
{
	const struct ward_state *s = NULL;
	int r = ward_policy_walk(p, path, strlen(path), &s);
	if (r < 0)
		return r;
	const struct ward_request req = {
		.action = WARD_ACTION_ACCESS, .rights = WARD_RIGHT_WRITE, .state = s};
	*ret = ward_policy_decide(p, &req, NULL);
	ward_state_put(s);
	return 0;
}

static int check_trees(const struct checker *c)
{
	const struct ward_policy *p = c->p;
	for (size_t i = 0; i < p->n_effective; i++) {
		const struct ward_entry *e = p->effective[i];
		if (e->key->type != WARD_KEY_TYPE_TREE_SOURCE)
			continue;
		bool root = strcmp(e->value, "/") == 0;
		bool home = strcmp(e->value, "~") == 0 || strcmp(e->value, "~/") == 0;
		struct ward_decision d;
		int r = rights_at(p, e->instance, &d);
		if (r < 0)
			return r;
		if (root)
			say_entry(c, e, "serves the whole host, so you must name every secret",
				"serve only the directories that the command needs");
		else if (home && d.granted & WARD_RIGHT_WRITE)
			say_entry(c, e,
				"the command can write the home, and the host runs shell start-up files later",
				"serve it with read, or serve only the directories that the command needs");
	}
	return 0;
}

/* About what lies beneath a directory that [system] shows no rule of [files] and no guard decides.
 */
static void check_system(const struct checker *c)
{
	static const char *const homes[] = {"/", "~", "~/", "/home", "/home/", "/root", "/root/"};
	for (size_t i = 0; i < c->p->n_effective; i++) {
		const struct ward_entry *e = c->p->effective[i];
		if (!WARD_ENTRY_IS(e, system_read))
			continue;
		for (size_t k = 0; k < sizeof(homes) / sizeof(*homes); k++)
			if (strcmp(e->value, homes[k]) == 0)
				say_entry(c, e,
					"too wide: shows whole homes with their keys and tokens, and no rule or guard applies to what [system] shows",
					"name only directories of programs; for others use --read, or a [tree] with rules");
	}
}

/* Is path dir, or beneath it? Both as written. */
static bool lies_in(const char *path, const char *dir)
{
	size_t n = strlen(dir);
	while (n > 1 && dir[n - 1] == '/')
		n--;
	if (n == 1 && *dir == '/')
		return *path == '/';
	return strncmp(path, dir, n) == 0 && (path[n] == '/' || !path[n]);
}

static bool is_served(const struct ward_entry *e)
{
	return e->key->type == WARD_KEY_TYPE_TREE_SOURCE && strncmp(e->value, "tmpfs:", 6) != 0;
}

/* Trees whose files are seen elsewhere too: by other rules, other sessions, as the policy itself.
 */
static int check_shared(const struct checker *c)
{
	static const char *const common[] = {
		"/tmp", "/var/tmp", "/dev/shm", "/home", "/srv", "/mnt", "/media", "/opt"};
	static const char *const ours[] = {"~/.config", "~/.config/wardfs", "/etc", "/etc/wardfs",
		"~/.local/state", "~/.local/state/wardfs", "/var/lib", "/var/lib/wardfs"};
	const struct ward_policy *p = c->p;
	for (size_t i = 0; i < p->n_effective; i++) {
		const struct ward_entry *e = p->effective[i];
		struct ward_decision d;
		if (!is_served(e))
			continue;
		for (size_t k = 0; k < i; k++) {
			const struct ward_entry *o = p->effective[k];
			if (is_served(o) &&
				(lies_in(e->value, o->value) || lies_in(o->value, e->value)))
				say_entry(c, e,
					"serves files that another [tree] also serves, so a rule on one path does not apply to the other",
					"serve them once, and use at = for a second path");
		}
		int r = rights_at(p, e->instance, &d);
		if (r < 0)
			return r;
		for (size_t k = 0; k < sizeof(common) / sizeof(common[0]); k++)
			if (d.granted & WARD_RIGHT_WRITE && strcmp(e->value, common[k]) == 0)
				say_entry(c, e,
					"other sessions and programs share this tree, so each reads what another one wrote",
					"serve a directory that only this project uses");
		for (size_t k = 0; k < sizeof(ours) / sizeof(ours[0]); k++)
			if (d.granted & WARD_RIGHT_WRITE && strcmp(e->value, ours[k]) == 0)
				say_entry(c, e,
					"policies or trails lie there, so the agent could write its own",
					"serve it with read, or not at all");
	}
	return 0;
}

void ward_policy_tree_place(
	const struct ward_policy *p, const char *path, const char **ret_file, unsigned *ret_line)
{
	*ret_file = "";
	*ret_line = 1;
	for (size_t i = 0; i < p->n_sources; i++)
		if (p->sources[i].kind == WARD_SOURCE_BASE)
			*ret_file = p->sources[i].file;
	for (size_t i = 0; i < p->n_effective; i++) {
		const struct ward_entry *e = p->effective[i];
		if (e->key->type != WARD_KEY_TYPE_TREE_SOURCE || strcmp(e->instance, path) != 0)
			continue;
		*ret_file = e->file;
		*ret_line = e->line;
	}
}

/* Does rule i hide the path, in a directory that may be removed? */
static int hides_in_removable(
	const struct ward_policy *p, uint32_t i, const struct ward_buf *path, bool *ret)
{
	const struct ward_state *s = NULL, *above = NULL;
	const char *slash = strrchr(ward_buf_str(path), '/');
	int r = ward_policy_walk(p, ward_buf_str(path), path->len, &s);
	if (r < 0)
		return r == -EINVAL ? 0 : r;
	if (slash > path->data)
		r = ward_policy_walk(p, path->data, (size_t)(slash - path->data), &above);
	if (r == 0 && above)
		*ret = !s->outcome.give && s->outcome.rule[0] == i + 1 &&
		       above->outcome.give & WARD_RIGHT_REMOVE;
	ward_state_put(s);
	if (above)
		ward_state_put(above);
	return r;
}

static void say_kept_dir(const struct checker *c, const struct ward_rule *r)
{
	ward_cleanup(ward_buf_clear) struct ward_buf what = WARD_BUF_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf fix = WARD_BUF_INIT;
	ward_rule_text(r, &what);
	/* One name may be that of a directory, and is meant once, perhaps. */
	if (*r->pattern == '/' || strpbrk(r->pattern, "*?[\\/"))
		ward_buf_puts(&fix, "use deny, which shows the name; or hide the whole directory");
	else
		ward_buf_printf(&fix,
			"if you mean the one at the top, write /workspace/%s; else use deny, which shows the name",
			r->pattern);
	const struct ward_finding f = {.advice = true,
		.file = r->file,
		.line = r->line,
		.what = ward_buf_str(&what),
		.why = "what it hides keeps the directory around it from being removed: rm -r, git checkout and the like fail with 'Directory not empty', and do not show why",
		.fix = ward_buf_str(&fix)};
	c->fn(c->user, &f);
}

/* Hidden names in directories that programs will want to remove: rm -r sees an empty directory. */
static int check_hidden(const struct checker *c)
{
	static const struct sample sample = {1, 0};
	const struct ward_policy *p = c->p;
	for (uint32_t i = 0; i < p->n_rules; i++) {
		const struct ward_rule *rule = &p->rules[i];
		bool found = false;
		struct ward_pattern pattern;
		if (rule->verb != WARD_VERB_HIDE || rule->source == WARD_SOURCE_NONE)
			continue;
		int r = ward_pattern_parse(rule->pattern, ward_rule_folds(p, rule), &pattern, NULL);
		if (r < 0)
			return r;
		for (size_t k = 0; r == 0 && !found && k < p->settings.n_trees; k++) {
			const struct ward_tree *t = &p->settings.trees[k];
			ward_cleanup(ward_buf_clear) struct ward_buf path = WARD_BUF_INIT;
			if (*rule->pattern != '/')
				ward_buf_printf(&path, "%s/%c", t->path, FRESH);
			if (t->tmpfs_size || !sample_path(&pattern, sample, &path))
				continue;
			const char *slash = strrchr(path.data, '/');
			/* the tree's root itself is nobody's to remove */
			if (lies_in(path.data, t->path) &&
				(size_t)(slash - path.data) > strlen(t->path))
				r = hides_in_removable(p, i, &path, &found);
		}
		ward_pattern_clear(&pattern);
		if (r < 0)
			return r;
		if (found)
			say_kept_dir(c, rule);
	}
	return 0;
}

/* Files that the host executes later and that the policy lets be written, at the top. */
static int check_host_executed(const struct checker *c)
{
	ward_cleanup(ward_buf_clear) struct ward_buf names = WARD_BUF_INIT;
	const struct ward_rule *rule = NULL;
	const struct ward_settings *set = &c->p->settings;
	for (size_t i = 0; i < set->n_trees; i++)
		if (strcmp(set->trees[i].path, "/workspace") == 0 && set->trees[i].tmpfs_size)
			return 0; /* gone at the end: no host executes it */
	const char *list = ward_embedded_lists[0].data;
	while (*list) {
		char where[8], verb[8], pattern[64], path[96];
		/* sscanf() would go on to the next line */
		bool empty = *list == '\n' || *list == '#';
		int fields = empty ? 0 : sscanf(list, "%7s %7s %63s", where, verb, pattern);
		list += strcspn(list, "\n");
		list += *list == '\n';
		bool git = fields == 3 && strcmp(where, "git") == 0;
		if (!git && !(fields == 3 && strcmp(where, "top") == 0))
			continue;
		snprintf(path, sizeof(path), "/workspace/%s%s", git ? ".git/" : "", pattern);
		struct ward_decision d;
		int r = rights_at(c->p, path, &d);
		if (r < 0)
			return r;
		/* shipped profiles guard git directories only where there are any */
		if (d.verdict != WARD_VERDICT_ALLOW || !d.rule)
			continue;
		size_t len;
		if (git && (ward_profile_text(d.rule->file, &len) ||
				   c->p->sources[0].kind == WARD_SOURCE_PROFILE))
			continue;
		rule = d.rule;
		ward_buf_printf(
			&names, "%s%s", names.len ? ", " : "", path + strlen("/workspace/"));
	}
	if (!rule)
		return 0;
	ward_cleanup(ward_buf_clear) struct ward_buf why = WARD_BUF_INIT;
	ward_buf_printf(&why,
		"the host executes these files later, and the agent can write them: %s",
		ward_buf_str(&names));
	say_rule(c, rule, ward_buf_str(&why),
		"add 'read = …' for each under [guard], or extend medium");
	return ward_buf_error(&why);
}

static bool one_of(const char *host, const char *const *patterns, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (fnmatch(patterns[i], host, FNM_CASEFOLD) == 0)
			return true;
	return false;
}

/* A block of addresses that nobody has looked through: wider than a /16, than a /32 of IPv6. */
static bool is_wide(const char *value)
{
	const char *slash = strchr(value, '/'), *colon = strchr(value, ':');
	const char *s = slash ? slash + 1 : "";
	bool v6 = colon && colon < slash;
	uint64_t bits;
	return ward_quantity_digits(&s, &bits) && bits < (v6 ? 32U : 16U);
}

/* An entry that allows nothing, whatever it says. */
static void check_allowed(const struct checker *c, const struct ward_entry *e)
{
	ward_cleanup(ward_buf_clear) struct ward_buf place = WARD_BUF_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf text = WARD_BUF_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf why = WARD_BUF_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf fix = WARD_BUF_INIT;
	if (c->p->settings.net == WARD_NET_HOST) {
		say_entry(c, e, "never applies: mode = host allows everything",
			"use mode = allowlist");
		return;
	}
	const char *udp = strrchr(e->value, '/');
	if (c->p->settings.net == WARD_NET_PROXY && udp && strcmp(udp, "/udp") == 0) {
		say_entry(c, e, "allows nothing, because mode = proxy carries no datagrams",
			"remove the line");
		return;
	}
	/* of a wildcard, a block or several ports something may be left */
	if (strpbrk(e->value, "*/,"))
		return;
	if (ward_policy_connect(c->p, e->value, &place, &text) != WARD_VERDICT_DENY)
		return;
	ward_buf_printf(&why, "%s nothing: %s  %s",
		e->key->type == WARD_KEY_TYPE_ALLOW ? "allows" : "asks", ward_buf_str(&place),
		ward_buf_str(&text));
	/* the rest of a profile is rarely what was meant to go */
	if (strcmp(ward_buf_str(&text), "[network] mode = none") == 0)
		ward_buf_printf(
			&fix, "add 'mode = allowlist' to [network], above line %u", e->line);
	else
		ward_buf_puts(&fix, "remove one of the two lines");
	say_entry(c, e, ward_buf_str(&why), ward_buf_str(&fix));
}

/* What it reaches beyond the hosts that somebody has named. */
static void say_reach(
	const struct checker *c, const struct ward_entry *e, const char *why, const char *fix)
{
	struct checker reach = *c;
	reach.about = WARD_ABOUT_REACH;
	say_entry(&reach, e, why, fix);
}

static void check_allow(const struct checker *c, const struct ward_entry *e)
{
	/* what trusts everybody who reaches it: the host itself, and what clouds tell their
	 * machines */
	static const char *const near_hosts[] = {"localhost", "*.localhost", "127.*", "::1",
		"0.0.0.0", "169.254.*", "fd00:ec2::254", "metadata.google.internal",
		"host.docker.internal"};
	char host[256];
	if (strchr(e->value, '*'))
		say_reach(
			c, e, "a wildcard allows hosts that nobody has checked", "name the hosts");
	if (is_wide(e->value))
		say_reach(c, e, "a wide block allows addresses that nobody has checked",
			"name the hosts or blocks that the command needs");
	check_allowed(c, e);
	if (!ward_open_host_name(e->value, host))
		return;
	if (ward_open_host(e->value) == WARD_HOST_DROP)
		say_reach(c, e, "anybody can write there, so the agent can send out what it reads",
			"remove the line");
	if (one_of(host, near_hosts, sizeof(near_hosts) / sizeof(near_hosts[0])))
		say_entry(c, e,
			"this is the host itself, or a service that gives a machine its keys. It trusts everybody who can reach it",
			"remove the line; 'wardfs policy add forward PORT' leads one port of this host in");
}

/* What a broker leads through is missing without one. */
static void check_led(const struct checker *c, const struct ward_entry *e)
{
	enum ward_net net = c->p->settings.net;
	bool led = WARD_ENTRY_IS(e, net_socket) || WARD_ENTRY_IS(e, net_publish) ||
		   WARD_ENTRY_IS(e, net_forward);
	if (led && (net == WARD_NET_NONE || net == WARD_NET_HOST))
		say_entry(c, e,
			"has no effect: only mode = allowlist and proxy lead ports and sockets through",
			"use mode = allowlist; without any allow, the session reaches only this");
}

/* A socket of the host: what answers there, where that is known. */
static void check_socket(const struct checker *c, const struct ward_entry *e)
{
	static const struct {
		const char *pattern, *why, *fix;
	} known[] = {
		{"*/docker.sock", NULL, NULL}, /* named below, whatever key it stands in */
		{"*/containerd*.sock", "everybody who can connect to it is root on the host",
			"remove the line; build images outside"},
		{"*/podman.sock", "everybody who can connect to it can start programs on the host",
			"remove the line; build images outside"},
		{"*/libvirt/*",
			"everybody who can connect to it can start machines with the host's files",
			"remove the line"},
		{"*/systemd/*",
			"systemd: everybody who can connect to it can start programs on the host",
			"remove the line"},
		{"*/system_bus_socket", "D-Bus: services of the host do what a client asks",
			"remove the line"},
		{"/run/user/*/bus",
			"D-Bus: systemd and the desktop start programs of yours when told to",
			"remove the line"},
		{"*/ssh-*/agent.*", "an ssh-agent signs with your keys for everybody who asks",
			"an agent of its own for the session, with a key for one purpose"},
		{"*/keyring/ssh", "an ssh-agent signs with your keys for everybody who asks",
			"an agent of its own for the session, with a key for one purpose"},
		{"*/S.gpg-agent*",
			"gpg-agent signs and decrypts with your keys for everybody who asks",
			"remove the line; sign outside"},
		{"*/ssh-agent*", "an ssh-agent signs with your keys for everybody who asks",
			"an agent of its own for the session, with a key for one purpose"},
		{"/tmp/.X11-unix/*", "X11: sees and types all that you do", "remove the line"},
		{"*/wayland-*", "the desktop: a window can look like any other", "remove the line"},
	};
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (fnmatch(known[i].pattern, e->value, 0) != 0)
			continue;
		if (known[i].why)
			say_entry(c, e, known[i].why, known[i].fix);
		return;
	}
}

static void check_network(const struct checker *c)
{
	for (size_t i = 0; i < c->p->n_effective; i++) {
		const struct ward_entry *e = c->p->effective[i];
		check_led(c, e);
		if (WARD_ENTRY_IS(e, net_socket))
			check_socket(c, e);
		if (strcmp(e->value, "/var/run/docker.sock") == 0 ||
			strcmp(e->value, "/run/docker.sock") == 0)
			say_entry(c, e, "everybody who can connect to it is root on the host",
				"remove the line; build images outside");
		if (e->key->type == WARD_KEY_TYPE_ALLOW || e->key->type == WARD_KEY_TYPE_ASK_HOST)
			check_allow(c, e);
		if (WARD_ENTRY_IS(e, net) && e->number == WARD_NET_HOST)
			say_reach(c, e,
				"too wide: the session reaches every host that this one reaches, and its loopback; wardfs checks and records nothing",
				"use mode = allowlist, and an allow for each host that the command needs");
	}
}

/* Of quotas in one another the one with least decides: an inner one must have less. */
static void check_quotas(const struct checker *c)
{
	const struct ward_policy *p = c->p;
	for (size_t i = 0; i < p->n_effective; i++) {
		const struct ward_entry *e = p->effective[i];
		for (size_t k = 0; ward_key_in(e->key, WARD_SECTION_QUOTA) && k < p->n_effective;
			k++) {
			const struct ward_entry *o = p->effective[k];
			/* Of rates in different times neither need be the less. */
			if (o->key != e->key || o == e || o->number > e->number ||
				(e->key->type == WARD_KEY_TYPE_COUNT_RATE &&
					strcmp(strchr(e->value, '/'), strchr(o->value, '/')) !=
						0) ||
				!lies_in(e->instance, o->instance))
				continue;
			ward_cleanup(ward_buf_clear) struct ward_buf why = WARD_BUF_INIT;
			ward_buf_printf(&why,
				"never decides: " WARD_PLACE_FMT
				" gives the quota around it, [quota %s], %s = %s",
				WARD_PLACE(o->file, o->line), o->instance, o->key->name, o->value);
			say_entry(c, e, ward_buf_str(&why), "lower its number, or remove the line");
			break;
		}
	}
}

/* What mode auto never picks, whatever the line says. */
static void check_auto(const struct checker *c)
{
	const struct ward_entry *least = WARD_ENTRY(c->p, auto_least);
	const struct ward_settings *s = &c->p->settings;
	if (least && !(s->auto_least->guarantees & WARD_GUARANTEE_BIT(WARD_GUARANTEE_PROCESSES)) &&
		s->trust != WARD_TRUST_HIGH)
		say_entry(c, least, "never picked, because that mode also needs trust = high",
			"trust = high in [policy], and run --trust high; or least = process");
}

/* The time of a command that nothing names, and how no command begins. */
static void check_shells(const struct checker *c)
{
	const struct ward_settings *s = &c->p->settings;
	const struct ward_entry *time = WARD_ENTRY(c->p, command_ns);
	if (time && s->command_ns != WARD_UNLIMITED && !s->shells.n && s->python == WARD_PYTHON_ANY)
		say_entry(c, time,
			"bounds only what 'wardfs exec' starts, because no [process] shell says how an agent's commands begin",
			"shell = bash -c in [process], if they begin so; wall in [limits] bounds the whole session");
	for (size_t i = 0; i < c->p->n_effective; i++) {
		const struct ward_entry *e = c->p->effective[i];
		if (WARD_ENTRY_IS(e, shells) && strpbrk(e->value, "*?["))
			say_entry(c, e,
				"never matches: it is no pattern, each word is compared as it is",
				"write only the words that every command begins with, as in bash -c");
	}
}

int ward_policy_check_regrets(const struct ward_policy *p, ward_finding_fn fn, void *user)
{
	struct checker c = {.p = p, .fn = fn, .user = user};
	int r = check_trees(&c);
	if (r == 0)
		r = check_shared(&c);
	if (r == 0)
		r = check_hidden(&c);
	c.about = WARD_ABOUT_HOST_EXECUTED;
	if (r == 0)
		r = check_host_executed(&c);
	c.about = WARD_ABOUT_POLICY;
	if (r == 0)
		check_system(&c);
	if (r == 0)
		check_network(&c);
	if (r == 0)
		check_quotas(&c);
	if (r == 0)
		check_auto(&c);
	if (r == 0)
		check_shells(&c);
	return r;
}

int ward_policy_check(const struct ward_policy *p, ward_finding_fn fn, void *user)
{
	const struct checker c = {.p = p, .fn = fn, .user = user};
	const int r = check_rules(&c);
	return r < 0 ? r : ward_policy_check_regrets(p, fn, user);
}
