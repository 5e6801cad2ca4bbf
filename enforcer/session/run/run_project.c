/* SPDX-License-Identifier: Apache-2.0 */
/* The project before and after the command. */
#include "enforcer/session/run/run_project.h"

#include <string.h>

#include "enforcer/base/buf.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/policy/policy.h"
#include "enforcer/session/owner/as_owner.h"

/*
 * The tree that the summary at the end is about; NULL: nothing of this host. The project may stand
 * beneath an ephemeral /workspace.
 */
static const struct ward_run_plan_tree *project_tree(const struct ward_running *r)
{
	for (size_t i = 0; i < r->plan->n_trees; i++) {
		const struct ward_run_plan_tree *t = &r->plan->trees[i];
		if (t->source && strcmp(t->path, "/workspace") == 0)
			return t;
	}
	for (size_t i = 0; i < r->plan->n_trees; i++) {
		const struct ward_run_plan_tree *t = &r->plan->trees[i];
		if (t->source && strcmp(t->source, r->plan->project.path) == 0)
			return t;
	}
	return NULL;
}

void ward_run_project_look(struct ward_running *r)
{
	const struct ward_run_plan_tree *t = project_tree(r);
	struct ward_as_owner as;
	/* Links lead out of the project: only to where its owner may go. */
	if (!t || ward_as_owner_begin(&r->plan->id, &as, NULL) < 0)
		return;
	if (ward_executed_look(t->backing, &r->before) < 0)
		r->before = NULL;
	ward_as_owner_end(&as);
}

struct tree_policy {
	const struct ward_policy *policy;
	const char *path; /* of the tree, inside */
};

static bool may_write(void *arg, const char *path)
{
	const struct tree_policy *t = arg;
	const struct ward_state *s = NULL;
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	ward_buf_printf(&b, "%s/%s", t->path, path);
	if (ward_buf_error(&b) < 0 || ward_policy_walk(t->policy, ward_buf_str(&b), b.len, &s) < 0)
		return false;
	struct ward_request asked = {
		.action = WARD_ACTION_ACCESS, .rights = WARD_RIGHT_WRITE, .state = s};
	bool may = ward_policy_decide(t->policy, &asked, NULL).verdict == WARD_VERDICT_ALLOW;
	ward_policy_state_put(t->policy, s);
	return may;
}

void ward_run_project_find(const struct ward_running *r, struct ward_executed *found)
{
	const struct ward_run_plan_tree *t = project_tree(r);
	if (!t || !r->started)
		return;
	struct tree_policy p = {ward_running_policy(r), t->path};
	struct ward_as_owner as = {0};
	if (!r->before || ward_as_owner_begin(&r->plan->id, &as, NULL) < 0 ||
		ward_executed_find(t->backing, r->before, may_write, &p, found) < 0)
		*found = (struct ward_executed){.whole = false};
	ward_as_owner_end(&as);
}
