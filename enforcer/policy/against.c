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
	const struct ward_rule **ret, struct ward_err *err)
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
	const uint32_t missing = rights & MEANT & ~o->grantable & ~o->give;
	uint32_t rule = o->secret;
	for (unsigned i = 0; !rule && i < WARD_RIGHT_BITS; i++)
		if (missing & 1U << i)
			rule = o->rule[i];
	*ret = rule ? &p->rules[rule - 1] : NULL;
	ward_policy_state_put(p, s);
	return 0;
}
