/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds rules that can never decide.
 *
 * For each rule the paths that complete its pattern are followed through the automaton: from a
 * state and a place in the pattern, either the next component matches, or, before a component that
 * any names may come before, some other name stands there. Of the names that would do, only those
 * are tried that match least besides: whatever beats the rule after one of these beats it after all
 * others, since more that matches is only more that can beat it. What is beaten stays beaten
 * beneath.
 */
#include "enforcer/policy/shadow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "enforcer/policy/classes.h"
#include "enforcer/policy/internal.h"

/* Steps between two looks at the clock. */
#define LOOK_EVERY 64U

struct node {
	const struct ward_state *state;
	size_t at; /* component of the rule's pattern */
};

struct shadows {
	const struct ward_policy *p;
	struct ward_classes *classes;
	bool whole;
	uint32_t *literals; /* 1 + class of each literal */
	uint32_t steps;
	uint64_t work;
	struct node nodes[WARD_SHADOW_STATES_MAX];
	size_t n_nodes;
	/* of the rule at hand */
	uint32_t rule;
	const struct ward_class_component *pattern;
	size_t n_pattern;
	struct ward_shadow answer;
};

static bool takes_by_itself(const struct ward_rule *r)
{
	return r->guard || r->verb == WARD_VERB_NOEXEC;
}

/*
 * Which rule makes rule i count for nothing in state s: one that decides over it, or a guard that
 * takes the same or more. NULL: it counts.
 */
static const struct ward_rule *who_beats(
	const struct ward_policy *p, const struct ward_state *s, uint32_t i, bool *ret_taken)
{
	const struct ward_rule *r = &p->rules[i], *taker = NULL;
	uint32_t rights = ward_verb_rights(r->verb);
	for (uint32_t k = s->n_hits; k-- > 0;) {
		uint32_t n = ward_state_hits(s)[k];
		const struct ward_rule *l = &p->rules[n];
		uint32_t left = ward_verb_rights(l->verb);
		if (n == i || l->source == WARD_SOURCE_NONE || l->verb == WARD_VERB_ASK ||
			ward_rule_lifts(l))
			continue;
		/* It changes nothing for files that are no secrets, so only another `secret` makes
		 * it needless. */
		if (l->verb == WARD_VERB_SECRET && !(r->verb == l->verb && r->guard == l->guard))
			continue;
		if (takes_by_itself(r)) {
			if (takes_by_itself(l) && !(left & ~rights) && (left != rights || n < i))
				return l;
		} else if (!takes_by_itself(l)) {
			if (n > i && ward_rule_group(l) == ward_rule_group(r))
				return l;
		} else if (l->guard && rights & ~left && l->verb != WARD_VERB_NOEXEC &&
			   ward_rule_group(r) == WARD_GROUP_BASE) {
			taker = l;
		}
	}
	*ret_taken = *ret_taken || taker;
	return taker;
}

static void name_beater(struct ward_shadow *a, const struct ward_rule *by)
{
	for (size_t i = 0; i < a->n_by; i++)
		if (a->by[i] == by)
			return;
	if (a->n_by == WARD_SHADOW_NAMED_MAX)
		a->more = true;
	else
		a->by[a->n_by++] = by;
}

/* A state that was reached, the first `at` components matched. Takes the state. */
static void reach(struct shadows *x, const struct ward_state *s, size_t at)
{
	x->work += s->n_hits + s->n_live;
	const struct ward_rule *by = who_beats(x->p, s, x->rule, &x->answer.taken);
	bool known = by != NULL;
	if (by)
		name_beater(&x->answer, by);
	else if (at == x->n_pattern)
		x->answer.answer = WARD_SHADOW_COUNTS;
	for (size_t i = x->n_nodes; !known && i-- > 0;)
		known = x->nodes[i].at == at && ward_state_same(x->nodes[i].state, s);
	if (!known && x->n_nodes == WARD_SHADOW_STATES_MAX)
		x->answer.answer = WARD_SHADOW_UNDECIDED;
	if (known || x->n_nodes == WARD_SHADOW_STATES_MAX || at == x->n_pattern)
		ward_state_put(s);
	else
		x->nodes[x->n_nodes++] = (struct node){s, at};
}

/* From node n on by a name of the class. */
static int go(struct shadows *x, const struct node *n, uint32_t class, size_t at)
{
	const struct ward_class *k = ward_classes_at(x->classes, class);
	const struct ward_state *s = NULL;
	if (x->steps++ >= WARD_SHADOW_STEPS_MAX || x->work >= WARD_SHADOW_WORK_MAX ||
		(x->steps % LOOK_EVERY == 0 && ward_policy_study_over(x->p))) {
		x->answer.answer = WARD_SHADOW_UNDECIDED;
		return 0;
	}
	int r = ward_policy_step(x->p, n->state, k->name, k->len, &s);
	if (r == 0)
		reach(x, s, at);
	return r;
}

static int go_least(
	struct shadows *x, const struct node *n, const struct ward_class_component *of, size_t at)
{
	const uint32_t *v;
	size_t count;
	int r = ward_classes_least(x->classes, of, &v, &count);
	if (r == -E2BIG) {
		x->answer.answer = WARD_SHADOW_UNDECIDED;
		return 0;
	}
	for (size_t i = 0; r == 0 && i < count && x->answer.answer == WARD_SHADOW_NEVER; i++)
		r = go(x, n, v[i], at);
	return r;
}

static int follow(struct shadows *x, const struct node *n)
{
	const struct ward_class_component *k = &x->pattern[n->at];
	int r = 0;
	if (!k->literal)
		r = go_least(x, n, k, n->at + 1);
	else if (x->literals[k->id])
		r = go(x, n, x->literals[k->id] - 1, n->at + 1);
	if (r == 0 && k->loop && x->answer.answer == WARD_SHADOW_NEVER)
		r = go_least(x, n, NULL, n->at);
	return r;
}

static int look_at(struct shadows *x, uint32_t rule)
{
	int r = 0;
	x->rule = rule;
	x->pattern = ward_classes_pattern(x->classes, rule, &x->n_pattern);
	x->answer = (struct ward_shadow){
		.answer = x->whole ? WARD_SHADOW_NEVER : WARD_SHADOW_UNDECIDED};
	x->n_nodes = 0;
	if (x->whole && ward_policy_study_over(x->p))
		x->answer.answer = WARD_SHADOW_UNDECIDED;
	if (x->whole)
		reach(x, ward_policy_state_get(ward_policy_root(x->p)), 0);
	for (size_t i = 0; r == 0 && i < x->n_nodes && x->answer.answer == WARD_SHADOW_NEVER; i++) {
		const struct node n = x->nodes[i];
		r = follow(x, &n);
	}
	for (size_t i = 0; i < x->n_nodes; i++)
		ward_state_put(x->nodes[i].state);
	return r;
}

/* --- which rules lie in some tree --- */

static int mark_tree(const struct ward_policy *p, const char *path, bool *lies)
{
	const struct ward_state *s = NULL;
	int r = ward_policy_walk(p, path, strlen(path), &s);
	if (r < 0)
		return r;
	for (uint32_t i = 0; i < s->n_hits; i++)
		lies[ward_state_hits(s)[i]] = true;
	for (uint32_t i = 0; i < s->n_live; i++)
		lies[ward_automaton_pattern(p->automaton, s->ids[i])] = true;
	ward_state_put(s);
	return 0;
}

static int mark(const struct ward_policy *p, bool *lies)
{
	int r = 0;
	for (uint32_t i = 0; i < p->n_floats; i++)
		lies[p->floats[i]] = true;
	for (size_t i = 0; r == 0 && i < p->settings.n_trees; i++)
		r = mark_tree(p, p->settings.trees[i].path, lies);
	return r;
}

/* --- the whole --- */

static int collect(struct shadows *x)
{
	const struct ward_policy *p = x->p;
	int r = ward_classes_new(&x->classes);
	uint32_t literals = 0;
	for (size_t i = 0; r == 0 && i < p->n_rules; i++) {
		struct ward_pattern pattern;
		r = ward_pattern_parse(
			p->rules[i].pattern, ward_rule_folds(p, &p->rules[i]), &pattern, NULL);
		if (r < 0)
			break;
		r = ward_classes_add(x->classes, &pattern);
		ward_pattern_clear(&pattern);
	}
	if (r == 0)
		ward_classes_until(x->classes, p->study_until_ns);
	if (r == 0)
		r = ward_classes_find(x->classes, &x->whole);
	for (size_t i = 0; r == 0 && i < ward_classes_count(x->classes); i++)
		if (ward_classes_at(x->classes, i)->literal != WARD_NAMES_NO_LITERAL)
			literals++;
	x->literals = calloc(literals + 1, sizeof(*x->literals));
	if (!x->literals)
		return -ENOMEM;
	for (size_t i = 0; r == 0 && x->whole && i < ward_classes_count(x->classes); i++) {
		uint32_t id = ward_classes_at(x->classes, i)->literal;
		if (id != WARD_NAMES_NO_LITERAL)
			x->literals[id] = (uint32_t)i + 1;
	}
	return r;
}

int ward_policy_shadows(const struct ward_policy *p,
	void (*fn)(void *user, uint32_t number, const struct ward_shadow *s), void *user)
{
	struct shadows *x = calloc(1, sizeof(*x));
	bool *lies = calloc(p->n_rules + 1, sizeof(*lies));
	int r = x && lies ? 0 : -ENOMEM;
	if (r == 0) {
		x->p = p;
		r = collect(x);
	}
	if (r == 0)
		r = mark(p, lies);
	for (uint32_t i = 0; r == 0 && i < p->n_rules; i++) {
		if (!lies[i])
			x->answer = (struct ward_shadow){.answer = WARD_SHADOW_NOWHERE};
		else
			r = look_at(x, i);
		if (r == 0)
			fn(user, i, &x->answer);
	}
	if (x) {
		ward_classes_free(x->classes);
		free(x->literals);
	}
	free(lies);
	free(x);
	return r;
}
