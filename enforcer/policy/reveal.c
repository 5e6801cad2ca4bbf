/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does a second name of a directory give what rules on its first name take?
 *
 * Beneath both names lies the same: every suffix x that is there under one is there under the
 * other. What takes away (guards, noexec, floor and project file) can differ by rules that stand at
 * one name alone, now or once x completes them. A rule that only the first name meets is passed if
 * the second one may give a right that the rule takes. In a list whose last match decides, a rule
 * that only the second name meets may also give back what an earlier one took.
 *
 * Whether some x meets exactly these rules is not looked at: the answer may be "yes" where "no"
 * were right, never the other way. Nothing allocates.
 */
#include "enforcer/policy/internal.h"

static bool takes_by_itself(const struct ward_rule *r)
{
	return r->guard || r->verb == WARD_VERB_NOEXEC;
}

/* A rule of `ask` gives what a person gives. */
static uint32_t may_give(const struct ward_rule *r)
{
	return r->verb == WARD_VERB_ASK ? WARD_RIGHTS_ALL : ward_verb_rights(r->verb);
}

/* Rule number i of those that the state meets or may still meet: its hits, then what is live. */
static uint32_t met(const struct ward_policy *p, const struct ward_state *s, uint32_t i)
{
	return i < s->n_hits ? ward_state_hits(s)[i]
			     : ward_automaton_pattern(p->automaton, s->ids[i - s->n_hits]);
}

static bool is_hit(const struct ward_state *s, uint32_t pattern)
{
	for (uint32_t i = 0; i < s->n_hits; i++)
		if (ward_state_hits(s)[i] == pattern)
			return true;
	return false;
}

/* Is it met by the other name just so? */
static bool shared(const struct ward_state *s, uint32_t i, const struct ward_state *other)
{
	return i < s->n_hits ? is_hit(other, ward_state_hits(s)[i])
			     : ward_state_stands_at(other, s->ids[i - s->n_hits]);
}

/* The most that any name at s or beneath it can have. */
static uint32_t most(const struct ward_policy *p, const struct ward_state *s)
{
	uint32_t give = 0, left = WARD_RIGHTS_ALL;
	for (uint32_t i = 0; i < s->n_hits + s->n_live; i++) {
		const struct ward_rule *r = &p->rules[met(p, s, i)];
		if (i < s->n_hits && takes_by_itself(r))
			left &= may_give(r);
		else if (!takes_by_itself(r) && ward_rule_group(r) == WARD_GROUP_BASE)
			give |= may_give(r);
	}
	for (uint32_t i = 0; i < p->n_floats; i++) {
		const struct ward_rule *r = &p->rules[p->floats[i]];
		if (!takes_by_itself(r) && ward_rule_group(r) == WARD_GROUP_BASE)
			give |= may_give(r);
	}
	return give & left;
}

/* Does an earlier rule of the same list, wherever it stands, take of these rights? */
static bool gives_back(const struct ward_policy *p, uint32_t pattern, uint32_t rights)
{
	const enum ward_rule_group group = ward_rule_group(&p->rules[pattern]);
	for (uint32_t i = 0; i < pattern; i++) {
		const struct ward_rule *r = &p->rules[i];
		if (!takes_by_itself(r) && ward_rule_group(r) == group &&
			rights & ~ward_verb_rights(r->verb))
			return true;
	}
	return false;
}

bool ward_policy_reveals(const struct ward_policy *p, const struct ward_state *first,
	const struct ward_state *second, uint32_t sources, const struct ward_rule **ret_rule)
{
	const uint32_t rights = most(p, second);
	if (ward_state_same(first, second) || !rights)
		return false;
	for (uint32_t i = 0; i < first->n_hits + first->n_live; i++) {
		const struct ward_rule *r = &p->rules[met(p, first, i)];
		if ((takes_by_itself(r) || ward_rule_group(r) != WARD_GROUP_BASE) &&
			sources & 1U << r->source && rights & ~ward_verb_rights(r->verb) &&
			!shared(first, i, second)) {
			*ret_rule = r;
			return true;
		}
	}
	for (uint32_t i = 0; i < second->n_hits + second->n_live; i++) {
		const uint32_t n = met(p, second, i);
		const struct ward_rule *r = &p->rules[n];
		if (!takes_by_itself(r) && ward_rule_group(r) != WARD_GROUP_BASE &&
			sources & 1U << r->source && !shared(second, i, first) &&
			gives_back(p, n, rights & may_give(r))) {
			*ret_rule = r;
			return true;
		}
	}
	return false;
}
