/* SPDX-License-Identifier: Apache-2.0 */
/* Decides a change once more where it is staged. */
#include "enforcer/cli/policy/explain_staged.h"

#include <string.h>

#include "enforcer/base/out.h"
#include "enforcer/cli/policy/policy_look.h"
#include "enforcer/policy/settings.h"

static bool lies_in(const char *path, const char *tree)
{
	const size_t n = strcmp(tree, "/") == 0 ? 0 : strlen(tree);
	return strncmp(path, tree, n) == 0 && (!path[n] || path[n] == '/');
}

/* By the innermost tree. Trees in memory and the kept home are not staged (plan/staged.c). */
static bool is_staged_at(const struct ward_settings *s, const char *path)
{
	const struct ward_tree *in = NULL;
	for (size_t i = 0; i < s->n_trees; i++)
		if (lies_in(path, s->trees[i].path) &&
			(!in || strlen(s->trees[i].path) > strlen(in->path)))
			in = &s->trees[i];
	return in && in->changes != WARD_CHANGES_DIRECT && !in->tmpfs_size &&
	       strcmp(in->path, WARD_HOME_PATH) != 0;
}

bool explain_staged(const struct ward_policy_place *place, struct ward_request *req,
	const char *path, const char *path2, struct ward_decision *d)
{
	const struct ward_settings *s = ward_policy_settings(place->policy);
	if (d->verdict != WARD_VERDICT_ASK || !is_staged_at(s, path) ||
		(path2 && !is_staged_at(s, path2)))
		return false;
	const unsigned flags = req->flags;
	req->flags |= WARD_REQUEST_STAGED;
	struct ward_decision staged = ward_policy_decide(place->policy, req, NULL);
	ward_place_look(place, req, path, path2, &staged);
	if (staged.verdict != WARD_VERDICT_ALLOW) {
		req->flags = flags;
		return false;
	}
	staged.rule = d->rule;
	*d = staged;
	return true;
}

void explain_staged_print(void)
{
	ward_outf(
		"\n  note    nobody is asked while the command runs, because changes are staged. "
		"'wardfs review'\n          flags this change, and 'wardfs review apply PATH' applies "
		"it if PATH names it");
}
