/* SPDX-License-Identifier: Apache-2.0 */
/* The project before and after the command. */
#include "enforcer/session/run/run_project.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "enforcer/base/buf.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/policy/load.h"
#include "enforcer/policy/policy.h"
#include "enforcer/ipc/helper.h"
#include "enforcer/session/home/home.h"
#include "enforcer/session/owner/as_owner.h"
#include "enforcer/session/records/git_records.h"

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

_Static_assert(sizeof(((struct ward_running *)0)->before) ==
		       WARD_POLICY_TREES_MAX * sizeof(struct ward_executed_before *),
	"a session has room for what was in every tree");

/* A further tree whose files programs of the host use, and the command may change. */
static bool is_other(const struct ward_running *r, const struct ward_run_plan_tree *t)
{
	const struct ward_run_plan *p = r->plan;
	const char *rel = t->source && p->id.home ? ward_path_beneath(t->source, p->id.home) : NULL;
	bool change = true;
	if (!t->source || t->backing < 0 || strcmp(t->path, WARD_HOME_PATH) == 0 ||
		(rel && ward_path_beneath(rel, &WARD_AGENTS_PLACE[1])))
		return false;
	/* What a later policy gives more, a look at the end alone would call new. */
	return ward_policy_may_change(p->policy, t->path, &change) < 0 || change;
}

/* How many trees are looked at, beside the project. */
static uint64_t others(const struct ward_running *r)
{
	uint64_t n = 0;
	for (size_t i = 0; i < r->plan->n_trees; i++)
		n += &r->plan->trees[i] != project_tree(r) && is_other(r, &r->plan->trees[i]);
	return n;
}

void ward_run_project_look(struct ward_running *r)
{
	const struct ward_run_plan_tree *project = project_tree(r);
	const uint64_t n = others(r);
	struct ward_as_owner as;
	/* Links lead out of the project: only to where its owner may go. */
	if (ward_as_owner_begin(&r->plan->id, &as, NULL) < 0)
		return;
	for (size_t i = 0; i < r->plan->n_trees; i++) {
		const struct ward_run_plan_tree *t = &r->plan->trees[i];
		if ((t == project || is_other(r, t)) &&
			ward_executed_look(t->backing,
				t == project ? WARD_EXECUTED_START_NS : WARD_EXECUTED_START_NS / n,
				&r->before[i]) < 0)
			r->before[i] = NULL;
		if ((t == project || is_other(r, t)) &&
			ward_git_heads_read(t->backing, &r->git[i]) < 0)
			snprintf(r->git[i].why, sizeof(r->git[i].why), "no memory");
	}
	ward_as_owner_end(&as);
}

void ward_run_project_forget(struct ward_running *r)
{
	for (size_t i = 0; i < WARD_POLICY_TREES_MAX; i++) {
		ward_executed_before_free(r->before[i]);
		r->before[i] = NULL;
		ward_git_heads_clear(&r->git[i]);
	}
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

static int find_in(
	const struct ward_running *r, size_t i, uint64_t time_ns, struct ward_executed *ret)
{
	const struct ward_run_plan_tree *t = &r->plan->trees[i];
	struct tree_policy p = {ward_running_policy(r), t->path};
	return r->before[i]
		       ? ward_executed_find(t->backing, time_ns, r->before[i], may_write, &p, ret)
		       : -ENOMEM;
}

void ward_run_project_find(const struct ward_running *r, struct ward_executed *found)
{
	const struct ward_run_plan_tree *project = project_tree(r);
	const uint64_t n = others(r);
	struct ward_as_owner as = {0};
	if (!r->started || (!project && n == 0))
		return;
	if (ward_as_owner_begin(&r->plan->id, &as, NULL) < 0) {
		*found = (struct ward_executed){.whole = false};
		return;
	}
	if (project &&
		find_in(r, (size_t)(project - r->plan->trees), WARD_EXECUTED_TIME_NS, found) < 0)
		*found = (struct ward_executed){.whole = false};
	for (size_t i = 0; i < r->plan->n_trees; i++) {
		const struct ward_run_plan_tree *t = &r->plan->trees[i];
		ward_cleanup(ward_executed_clear) struct ward_executed other = {.whole = true};
		if (t == project || !is_other(r, t))
			continue;
		if (find_in(r, i, WARD_EXECUTED_TIME_NS / n, &other) < 0 ||
			ward_executed_add(found, t->source, &other) < 0)
			found->whole = false;
	}
	ward_as_owner_end(&as);
}

int ward_run_project_git(struct ward_running *r)
{
	const struct ward_run_plan_tree *project = project_tree(r);
	int e = 0;
	for (size_t i = 0; r->started && e == 0 && i < r->plan->n_trees; i++) {
		const struct ward_run_plan_tree *t = &r->plan->trees[i];
		ward_cleanup(ward_git_made_clear) struct ward_git_made made = {0};
		struct ward_as_owner as = {0};
		if (t != project && !is_other(r, t))
			continue;
		if (ward_as_owner_begin(&r->plan->id, &as, NULL) < 0)
			return -EPERM;
		e = ward_git_made_find(t->backing, &r->git[i], &made);
		ward_as_owner_end(&as);
		if (e == 0)
			e = ward_record_git(&r->guard, t->path, &made);
	}
	return e;
}
