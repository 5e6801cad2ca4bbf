/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does a symbolic link lead past a rule?
 *
 * If NAME is a link to another directory, a program outside the sandbox that opens NAME/x follows
 * it. The rule on NAME/x does not apply at the target. So wardfs refuses a new link NAME if a rule
 * on a name beneath NAME takes away rights that NAME itself gives. Every such rule is live at the
 * state of NAME. Rules that begin at every depth also apply at the link's target, and are not
 * stored as live. A `**` that is in force at the tree's root applies to every target in the tree.
 */
#include "enforcer/policy/internal.h"

/* Rights of a name that rule n, met beneath it, takes. last: 1 + the highest hit of n's list. */
static uint32_t takes(const struct ward_policy *p, uint32_t n, uint32_t last, uint32_t gives)
{
	const struct ward_rule *r = &p->rules[n];
	if (r->verb == WARD_VERB_PROGRAM || ward_rule_lifts(r))
		return 0; /* they give */
	if (r->guard || r->verb == WARD_VERB_NOEXEC)
		return gives & ~ward_verb_rights(r->verb);
	if (last > n + 1)
		return 0; /* a later rule also applies there */
	return gives & ~ward_verb_rights(r->verb);
}

static void last_hits(const struct ward_policy *p, const struct ward_state *s,
	uint32_t ret_last[WARD_GROUP_COUNT_])
{
	for (uint32_t i = 0; i < s->n_hits; i++) {
		uint32_t n = ward_state_hits(s)[i];
		const struct ward_rule *r = &p->rules[n];
		/* These two leave in force some of what an earlier rule says. */
		if (!r->guard && r->verb != WARD_VERB_NOEXEC && r->verb != WARD_VERB_ASK &&
			r->verb != WARD_VERB_SECRET)
			ret_last[ward_rule_group(r)] = n + 1;
	}
}

bool ward_policy_link_passes(const struct ward_policy *p, const struct ward_state *s,
	const struct ward_state *root, uint32_t *ret_rule)
{
	uint32_t last[WARD_GROUP_COUNT_] = {0};
	last_hits(p, s, last);
	for (uint32_t i = 0; i < s->n_live; i++) {
		uint32_t at = s->ids[i], n = ward_automaton_pattern(p->automaton, at);
		if (root && ward_automaton_loops(p->automaton, at) &&
			ward_state_stands_at(root, at))
			continue;
		if (!takes(p, n, last[ward_rule_group(&p->rules[n])], s->outcome.give))
			continue;
		*ret_rule = n + 1;
		return true;
	}
	return false;
}

bool ward_policy_links_move(const struct ward_policy *p, const struct ward_state *src,
	const struct ward_state *dst, uint32_t *ret_rule)
{
	uint32_t last[WARD_GROUP_COUNT_] = {0};
	last_hits(p, dst, last);
	for (uint32_t i = 0; i < dst->n_live; i++) {
		uint32_t at = dst->ids[i], n = ward_automaton_pattern(p->automaton, at);
		/* A link on the way to the name has one more name beneath it. */
		if (ward_automaton_last(p->automaton, at) || ward_state_stands_at(src, at) ||
			!takes(p, n, last[ward_rule_group(&p->rules[n])], dst->outcome.give))
			continue;
		*ret_rule = n + 1;
		return true;
	}
	return false;
}
