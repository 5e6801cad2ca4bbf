/* SPDX-License-Identifier: Apache-2.0 */
/* What no grant lifts, said before one is given. */
#include <errno.h>
#include <string.h>

#include "enforcer/policy/grants.h"
#include "enforcer/policy/internal.h"
#include "enforcer/policy/pattern.h"

/* Rights that a person means with a verb; that a file cannot be executed stands against nothing. */
#define MEANT (WARD_RIGHTS_ALL & ~(uint32_t)(WARD_RIGHT_STAT | WARD_RIGHT_LIST | WARD_RIGHT_EXEC))

/* The state where the names of the pattern stop being literal. */
static int walk_literal(
	const struct ward_policy *p, const struct ward_pattern *pat, const struct ward_state **ret)
{
	const struct ward_state *at = ward_policy_state_get(ward_policy_root(p)), *next = NULL;
	int r = 0;
	for (size_t i = 0; r == 0 && i < pat->n; i++) {
		const struct ward_component *c = &pat->components[i];
		char name[WARD_NAME_MAX];
		if (!c->literal || c->loop || c->n > sizeof(name))
			break;
		for (size_t k = 0; k < c->n; k++)
			name[k] = (char)pat->elems[c->first + k].byte;
		r = ward_policy_step(p, at, name, c->n, &next);
		if (r == 0) {
			ward_policy_state_put(p, at);
			at = next;
		}
	}
	if (r < 0)
		ward_policy_state_put(p, at);
	else
		*ret = at;
	return r;
}

int ward_policy_grant_against(const struct ward_policy *p, const char *pattern, uint32_t rights,
	const char *lifts, const struct ward_rule **ret, struct ward_err *err)
{
	struct ward_pattern pat = {0};
	const struct ward_state *s = NULL;
	int r = ward_pattern_parse(pattern, false, &pat, err);
	if (r == 0 && (r = walk_literal(p, &pat, &s)) < 0)
		ward_err_sys(err, r, "%s", pattern);
	ward_pattern_clear(&pat);
	if (r < 0)
		return r;
	const struct ward_outcome *o = &s->outcome;
	const struct ward_unlifted left = ward_policy_unlifted(p, s, lifts);
	const uint32_t missing = rights & MEANT & ~left.grantable & ~o->give;
	uint32_t rule = left.secret ? o->secret : 0;
	for (unsigned i = 0; !rule && i < WARD_RIGHT_BITS; i++)
		if (missing & 1U << i)
			rule = o->rule[i];
	*ret = rule ? &p->rules[rule - 1] : NULL;
	ward_policy_state_put(p, s);
	return 0;
}

int ward_policy_may_lift(const struct ward_policy *p, const char *lifts, struct ward_err *err)
{
	for (const char *at = lifts, *end; *at; at = *end ? end + 1 : end) {
		end = strchrnul(at, '\n');
		char one[WARD_GRANT_LIFTS_MAX + 1] = "";
		const size_t n = (size_t)(end - at);
		bool found = false;
		if (n >= sizeof(one))
			return ward_err_set(err, -EPERM, "a line of [guard] is too long");
		memcpy(one, at, n);
		for (size_t i = 0; i < p->n_rules && !found; i++)
			found = ward_lifts_rule(one, &p->rules[i]);
		if (!found)
			return ward_err_set(err, -EPERM,
				"no [guard] of the policy has the line '%s', or the floor has it, which nothing lifts",
				one);
	}
	return 0;
}
