/* SPDX-License-Identifier: Apache-2.0 */
/* What the rules that cover a path make of it: rights, deciding rules, passage. */
#include "enforcer/policy/grants.h"
#include "enforcer/policy/internal.h"

#include <assert.h>
#include <string.h>

#define VISIBLE (WARD_RIGHT_STAT | WARD_RIGHT_LIST)
#define READABLE (VISIBLE | WARD_RIGHT_READ | WARD_RIGHT_EXEC)

static_assert(WARD_RIGHTS_ALL + 1 == 1U << WARD_RIGHT_BITS, "an outcome has a rule for each right");

uint32_t ward_verb_rights(enum ward_verb v)
{
	switch (v) {
	case WARD_VERB_HIDE:
		return 0;
	case WARD_VERB_DENY:
		return VISIBLE;
	case WARD_VERB_READ:
		return READABLE;
	case WARD_VERB_APPEND:
		return READABLE | WARD_RIGHT_APPEND | WARD_RIGHT_CREATE;
	case WARD_VERB_WRITE:
		return WARD_RIGHTS_ALL;
	case WARD_VERB_ASK:
		return READABLE;
	case WARD_VERB_NOEXEC:
		return WARD_RIGHTS_ALL & ~(uint32_t)WARD_RIGHT_EXEC;
	case WARD_VERB_SECRET:
		return 0; /* of what is one; ward_policy_decide() knows of the rest */
	case WARD_VERB_LIFT_READ:
	case WARD_VERB_LIFT_WRITE: /* as guards they take nothing */
	case WARD_VERB_PROGRAM:
		return WARD_RIGHTS_ALL;
	case WARD_VERB_COUNT_:
		break;
	}
	return 0;
}

enum ward_rule_group ward_rule_group(const struct ward_rule *r)
{
	switch (r->source) {
	case WARD_SOURCE_FLOOR:
		return WARD_GROUP_FLOOR;
	case WARD_SOURCE_PROJECT:
		return WARD_GROUP_PROJECT;
	case WARD_SOURCE_NONE:
	case WARD_SOURCE_PROFILE:
	case WARD_SOURCE_BASE:
	case WARD_SOURCE_RUN:
	case WARD_SOURCE_FOUND:
	case WARD_SOURCE_HOST:
	case WARD_SOURCE_GRANT:
	case WARD_SOURCE_COUNT_:
		break;
	}
	return WARD_GROUP_BASE;
}

/* One list's opinion. */
struct opinion {
	uint32_t give, may;
	uint32_t rule;	 /* 1 + number; 0: none matched */
	uint32_t secret; /* 1 + number of a later `secret`, which leaves that as it is; 0: none */
};

/* Sums up while the hits are gone through in order. */
struct sum {
	struct opinion groups[WARD_GROUP_COUNT_];
	uint32_t give, may;		 /* of guards and noexec */
	uint32_t taker[WARD_RIGHT_BITS]; /* the first guard or noexec that takes this right */
	uint32_t lifted;		 /* rights that [lift] keeps from what may be lifted */
	uint32_t secret, secret_give;	 /* of guards, as in struct ward_outcome */
};

static void take(struct sum *s, uint32_t rule, uint32_t give, uint32_t may)
{
	for (unsigned i = 0; i < WARD_RIGHT_BITS; i++)
		if (s->give & ~give & 1U << i)
			s->taker[i] = rule;
	s->give &= give;
	s->may &= may;
}

static void add(struct sum *s, const struct ward_policy *p, uint32_t i)
{
	const struct ward_rule *r = &p->rules[i];
	uint32_t rights = ward_verb_rights(r->verb) | (r->liftable ? s->lifted : 0);
	if (r->guard && r->verb == WARD_VERB_SECRET) {
		/* one that nobody lifts answers for all */
		if (!s->secret || (s->secret_give && !rights))
			s->secret = i + 1;
		s->secret_give &= rights;
		return;
	}
	if (r->guard || r->verb == WARD_VERB_NOEXEC) {
		/* what a guard `ask` takes, a person may give */
		take(s, i + 1, rights, r->verb == WARD_VERB_ASK ? WARD_RIGHTS_ALL : rights);
		return;
	}
	enum ward_rule_group group = ward_rule_group(r);
	struct opinion *o = &s->groups[group];
	if (r->verb == WARD_VERB_SECRET) {
		o->secret = i + 1;
		return;
	}
	if (r->verb != WARD_VERB_ASK)
		o->secret = 0;
	if (r->verb == WARD_VERB_ASK) {
		/*
		 * Of what the rule before gives, reading stays. A source that only takes away and
		 * has no rule before leaves reading.
		 */
		bool silent = group != WARD_GROUP_BASE && !o->rule;
		o->give = silent ? READABLE : (o->give & READABLE) | VISIBLE;
		o->may = WARD_RIGHTS_ALL;
	} else {
		o->give = rights;
		o->may = rights;
	}
	o->rule = i + 1;
}

/*
 * May something beneath be visible? Only if no guard hides it all, and in every list either the
 * path itself is visible or a later rule, still to be matched, makes something visible. Exact for
 * each list; that several lists agree on the same path beneath is not looked at.
 */
static bool passage(const struct ward_policy *p, const struct ward_automaton *a,
	const struct ward_state *s, const struct sum *sum)
{
	if (!(sum->may & WARD_RIGHT_STAT))
		return false;
	uint32_t later[WARD_GROUP_COUNT_];
	memcpy(later, p->float_visible, sizeof(later));
	for (uint32_t i = 0; i < s->n_live; i++) {
		uint32_t n = ward_automaton_pattern(a, s->ids[i]);
		const struct ward_rule *r = &p->rules[n];
		if (r->guard || r->verb == WARD_VERB_HIDE || r->verb == WARD_VERB_NOEXEC ||
			r->verb == WARD_VERB_SECRET)
			continue;
		enum ward_rule_group g = ward_rule_group(r);
		if (n + 1 > later[g])
			later[g] = n + 1;
	}
	for (unsigned g = 0; g < WARD_GROUP_COUNT_; g++)
		if (!(sum->groups[g].give & WARD_RIGHT_STAT) && later[g] <= sum->groups[g].rule)
			return false;
	return true;
}

/* Beneath what is visible, only a rule that is still to be matched can hide a name. */
static bool hides_beneath(
	const struct ward_policy *p, const struct ward_automaton *a, const struct ward_state *s)
{
	bool hides = p->float_hides;
	for (uint32_t i = 0; i < s->n_live && !hides; i++) {
		const struct ward_rule *r = &p->rules[ward_automaton_pattern(a, s->ids[i])];
		hides = !(ward_verb_rights(r->verb) & WARD_RIGHT_STAT);
	}
	return hides;
}

/* The rule that answers for right i: who gives it, else who takes it, a ceiling first. */
static uint32_t rule_for(const struct sum *s, uint32_t give, unsigned i)
{
	uint32_t bit = 1U << i;
	if (give & bit)
		return s->groups[WARD_GROUP_BASE].rule;
	if (s->taker[i])
		return s->taker[i];
	for (unsigned g = WARD_GROUP_FLOOR; g < WARD_GROUP_COUNT_; g++)
		if (!(s->groups[g].give & bit))
			return s->groups[g].rule;
	return s->groups[WARD_GROUP_BASE].rule;
}

/* Before the first rule: only what the base gives is there. */
static struct sum sum_of_none(const struct ward_policy *p, const struct ward_state *s)
{
	struct sum sum = {
		.give = WARD_RIGHTS_ALL, .may = WARD_RIGHTS_ALL, .secret_give = WARD_RIGHTS_ALL};
	for (uint32_t i = 0; i < s->n_hits; i++) {
		enum ward_verb v = p->rules[ward_state_hits(s)[i]].verb;
		if (v == WARD_VERB_LIFT_READ)
			sum.lifted |= READABLE;
		else if (v == WARD_VERB_LIFT_WRITE)
			sum.lifted |= WARD_RIGHTS_ALL;
	}
	for (unsigned g = WARD_GROUP_FLOOR; g < WARD_GROUP_COUNT_; g++)
		sum.groups[g].give = sum.groups[g].may = WARD_RIGHTS_ALL;
	return sum;
}

void ward_policy_outcome(const void *ctx, const struct ward_automaton *a,
	const struct ward_state *s, struct ward_outcome *ret)
{
	const struct ward_policy *p = ctx;
	struct sum sum = sum_of_none(p, s);
	bool listed = !p->programs;
	for (uint32_t i = 0; i < s->n_hits; i++) {
		add(&sum, p, ward_state_hits(s)[i]);
		listed = listed || p->rules[ward_state_hits(s)[i]].verb == WARD_VERB_PROGRAM;
	}
	/* In its place stands where the list begins. */
	if (!listed)
		take(&sum, p->first_program, ~(uint32_t)WARD_RIGHT_EXEC,
			~(uint32_t)WARD_RIGHT_EXEC);
	struct ward_outcome v = {.give = sum.give, .may = sum.may, .grantable = sum.may};
	for (unsigned g = WARD_GROUP_FLOOR; g < WARD_GROUP_COUNT_; g++)
		v.grantable &= sum.groups[g].may;
	for (unsigned g = 0; g < WARD_GROUP_COUNT_; g++) {
		v.give &= sum.groups[g].give;
		v.may &= sum.groups[g].may;
	}
	for (unsigned i = 0; i < WARD_RIGHT_BITS; i++)
		v.rule[i] = rule_for(&sum, v.give, i);
	v.passage = passage(p, a, s, &sum);
	v.secret = sum.secret;
	v.secret_give = sum.secret ? sum.secret_give : 0;
	for (unsigned g = 0; g < WARD_GROUP_COUNT_; g++)
		if (sum.groups[g].secret) {
			v.secret = v.secret && !v.secret_give ? v.secret : sum.groups[g].secret;
			v.secret_give = 0;
		}
	v.open = v.give & WARD_RIGHT_STAT && !v.secret && !hides_beneath(p, a, s);
	*ret = v;
}

bool ward_lifts_rule(const char *lifts, const struct ward_rule *r)
{
	const char *verb = ward_verb_name(r->verb);
	const size_t n_verb = strlen(verb), n = strlen(r->pattern);
	if (!lifts || !r->guard || r->source == WARD_SOURCE_FLOOR)
		return false;
	for (const char *at = lifts, *end; *at; at = *end ? end + 1 : end) {
		end = strchrnul(at, '\n');
		if ((size_t)(end - at) == n_verb + 3 + n && memcmp(at, verb, n_verb) == 0 &&
			memcmp(at + n_verb, " = ", 3) == 0 &&
			memcmp(at + n_verb + 3, r->pattern, n) == 0)
			return true;
	}
	return false;
}

struct ward_unlifted ward_policy_unlifted(
	const struct ward_policy *p, const struct ward_state *s, const char *lifts)
{
	struct sum sum = sum_of_none(p, s);
	bool listed = !p->programs;
	for (uint32_t i = 0; i < s->n_hits; i++) {
		const struct ward_rule *r = &p->rules[ward_state_hits(s)[i]];
		listed = listed || r->verb == WARD_VERB_PROGRAM;
		if (!ward_lifts_rule(lifts, r))
			add(&sum, p, ward_state_hits(s)[i]);
	}
	struct ward_unlifted left = {.grantable = sum.may, .secret = sum.secret != 0};
	if (!listed)
		left.grantable &= ~(uint32_t)WARD_RIGHT_EXEC;
	for (unsigned g = 0; g < WARD_GROUP_COUNT_; g++) {
		if (g != WARD_GROUP_BASE)
			left.grantable &= sum.groups[g].may;
		left.secret = left.secret || sum.groups[g].secret;
	}
	return left;
}

bool ward_outcome_eases(const struct ward_outcome *from, const struct ward_outcome *to)
{
	return from->secret && (!to->secret || to->secret_give & ~from->secret_give);
}

uint32_t ward_policy_ceiling(const struct ward_policy *p, const struct ward_state *s, uint32_t want,
	const struct ward_rule **ret_rule)
{
	struct sum sum = sum_of_none(p, s);
	for (uint32_t i = 0; i < s->n_hits; i++)
		add(&sum, p, ward_state_hits(s)[i]);
	uint32_t rights = sum.give, secret = sum.secret;
	uint32_t left = secret ? sum.secret_give : WARD_RIGHTS_ALL;
	for (unsigned g = WARD_GROUP_FLOOR; g < WARD_GROUP_COUNT_; g++) {
		rights &= sum.groups[g].give;
		secret = sum.groups[g].secret ? sum.groups[g].secret : secret;
		left &= sum.groups[g].secret ? 0 : WARD_RIGHTS_ALL;
	}
	/* Such a file was there before: no fact speaks for it. */
	rights &= left;
	*ret_rule = secret && want & ~left ? &p->rules[secret - 1] : NULL;
	for (unsigned i = 0; i < WARD_RIGHT_BITS && !*ret_rule; i++) {
		uint32_t rule = want & ~rights & 1U << i ? rule_for(&sum, rights, i) : 0;
		if (rule)
			*ret_rule = &p->rules[rule - 1];
	}
	return rights;
}

bool ward_state_same(const struct ward_state *a, const struct ward_state *b)
{
	if (a == b)
		return true;
	return a->n_live == b->n_live && a->n_hits == b->n_hits &&
	       memcmp(a->ids, b->ids, ((size_t)a->n_live + a->n_hits) * sizeof(a->ids[0])) == 0;
}

bool ward_state_stands_at(const struct ward_state *s, uint32_t position)
{
	/* Positions are sorted. */
	uint32_t lo = 0, hi = s->n_live;
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		if (s->ids[mid] < position)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < s->n_live && s->ids[lo] == position;
}
