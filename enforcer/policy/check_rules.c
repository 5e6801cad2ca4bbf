/* SPDX-License-Identifier: Apache-2.0 */
/* Finds rules that never count, and rules that give more than was meant. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf/embedded.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/plural.h"
#include "enforcer/policy/check_say.h"
#include "enforcer/policy/explain.h"
#include "enforcer/policy/load.h"
#include "enforcer/policy/shadow.h"

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
	const struct ward_checker *c;
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
		ward_checker_say_rule(s->c, &s->c->p->rules[i], ward_buf_str(&why),
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
	const struct ward_checker *c, const struct ward_rule *r, const struct ward_shadow *x)
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
	ward_checker_say_rule(c, r, ward_buf_str(&why), fix);
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
			ward_checker_say_rule(s->c, r, "names no path in any [tree]",
				"write paths as they are inside: /workspace/… is the project. To show a path of the host, read-only: wardfs run --read PATH, or read = PATH in [system]");
		return;
	}
}

int ward_checker_rules(const struct ward_checker *c)
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
