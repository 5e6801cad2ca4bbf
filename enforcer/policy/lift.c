/* SPDX-License-Identifier: Apache-2.0 */
/* What [lift] gives back, and what nobody does. The rights themselves: outcome.c. */
#include <errno.h>
#include <string.h>

#include "enforcer/policy/internal.h"

static void look_at(const struct ward_policy *p, const struct ward_state *s, uint32_t want,
	const struct ward_rule **ret_lifts, const struct ward_rule **ret_left)
{
	const struct ward_rule *last[WARD_GROUP_COUNT_] = {NULL}, *asks[WARD_GROUP_COUNT_] = {NULL};
	for (uint32_t i = 0; i < s->n_hits; i++) {
		const struct ward_rule *r = &p->rules[ward_state_hits(s)[i]];
		const bool takes = want & ~ward_verb_rights(r->verb);
		if (!r->guard && r->verb != WARD_VERB_NOEXEC) {
			const enum ward_rule_group g = ward_rule_group(r);
			asks[g] = r->verb == WARD_VERB_ASK ? r : NULL;
			last[g] = asks[g] ? last[g] : r;
		} else if (takes && r->liftable) {
			*ret_lifts = *ret_lifts ? *ret_lifts : r;
		} else if (takes) {
			*ret_left = *ret_left ? *ret_left : r;
		}
	}
	for (unsigned g = WARD_GROUP_COUNT_; g-- > 0 && !*ret_left;) {
		if (last[g] && want & ~ward_verb_rights(last[g]->verb))
			*ret_left = last[g];
		else if (asks[g] && want & ~ward_verb_rights(asks[g]->verb))
			*ret_left = asks[g];
	}
}

int ward_policy_lift_look(const struct ward_policy *p, const char *path, uint32_t want,
	const struct ward_rule **ret_lifts, const struct ward_rule **ret_left)
{
	const struct ward_state *s = NULL;
	int r = ward_policy_walk(p, path, strlen(path), &s);
	if (r < 0)
		return r;
	*ret_lifts = *ret_left = NULL;
	look_at(p, s, want, ret_lifts, ret_left);
	ward_state_put(s);
	return 0;
}

void ward_policy_each_lift(const struct ward_policy *p,
	void (*fn)(void *user, const struct ward_rule *lift, uint32_t want), void *user)
{
	for (size_t i = 0; i < p->n_rules; i++) {
		const struct ward_rule *r = &p->rules[i];
		if (ward_rule_lifts(r))
			fn(user, r,
				ward_verb_rights(r->verb == WARD_VERB_LIFT_READ ? WARD_VERB_READ
										: WARD_VERB_WRITE));
	}
}
