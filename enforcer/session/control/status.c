/* SPDX-License-Identifier: Apache-2.0 */
/* Describes a running session for the control socket. */
#include "enforcer/session/control/status.h"

#include "enforcer/session/control/control.h"

void ward_status_add_trees(json_t *o, const struct ward_run_plan *p, const struct ward_policy *now)
{
	char rules[WARD_POLICY_DIGEST_MAX];
	json_t *list = json_array();
	for (size_t i = 0; i < p->n_trees; i++) {
		json_t *tree = json_object();
		json_object_set_new(tree, "path", ward_control_text(p->trees[i].path));
		if (p->trees[i].source)
			json_object_set_new(tree, "source", ward_control_text(p->trees[i].source));
		if (ward_policy_rules_digest(now, p->trees[i].path, rules) == 0)
			json_object_set_new(tree, "rules", json_string(rules));
		json_array_append_new(list, tree);
	}
	json_object_set_new(o, "trees", list);
}

void ward_status_add_follows(json_t *o, const struct ward_run_plan *p)
{
	if (p->given || !p->owner_policy)
		return;
	json_object_set_new(o, "follows", ward_control_text(p->owner_policy));
	if (p->stand_in)
		json_object_set_new(o, "stand_in", json_string(p->stand_in));
}
