/* SPDX-License-Identifier: Apache-2.0 */
/* Asks the policy for what a step back is about to change. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "fs/gate/steps_attribute.h"

static int gate_state(
	struct ward_fs *fs, size_t root, const char *path, const struct ward_state **ret)
{
	ward_cleanup_free char *full = NULL;
	const struct ward_fs_tree *tree = &fs->trees[root];

	if (asprintf(&full, "%s%s%s", strcmp(tree->path, "/") ? tree->path : "", *path ? "/" : "",
		    path) < 0)
		return -ENOMEM;
	return ward_policy_walk(fs->policy, *full ? full : "/", *full ? strlen(full) : 1, ret);
}

static void fill(struct ward_request *req, const struct ward_back_ask *a)
{
	req->flags = WARD_REQUEST_STAGED | (S_ISDIR(a->type) ? WARD_REQUEST_DIR : 0) |
		     (S_ISLNK(a->type) ? WARD_REQUEST_SYMLINK : 0);
	req->action = WARD_ACTION_ACCESS;
	/* What the session made is no secret to it. Of git's content nothing is known here. */
	req->fact = a->own ? WARD_FACT_OWN : WARD_FACT_THERE;
	req->fact2 = WARD_FACT_ABSENT;
	switch (a->what) {
	case WARD_BACK_REMOVE:
		req->action = WARD_ACTION_REMOVE;
		break;
	case WARD_BACK_CREATE:
		req->action = WARD_ACTION_CREATE;
		req->fact = WARD_FACT_ABSENT;
		req->rights = S_ISREG(a->type) ? WARD_RIGHT_WRITE : 0;
		break;
	case WARD_BACK_RENAME:
		req->action = WARD_ACTION_RENAME;
		break;
	case WARD_BACK_WRITE:
		req->rights = WARD_RIGHT_WRITE;
		break;
	case WARD_BACK_ATTR:
		req->rights = WARD_RIGHT_ATTR;
		break;
	}
}

/* What the session itself could do by the policy of now, without a grant, is done for it. */
int ward_gate_back(void *user, const struct ward_back_ask *a)
{
	struct ward_fs *fs = user;
	const struct ward_state *state = NULL, *state2 = NULL;
	struct ward_decision d = {.verdict = WARD_VERDICT_DENY};
	struct ward_request req = {.rights = 0};
	const bool moves = a->what == WARD_BACK_RENAME;
	int r;

	if (a->root >= fs->n_trees || (moves && a->from_root != a->root) ||
		!fs->trees[a->root].stages)
		return -EXDEV;
	fill(&req, a);
	r = gate_state(fs, a->root, moves ? a->from : a->path, &state);
	if (r == 0 && moves)
		r = gate_state(fs, a->root, a->path, &state2);
	if (r == 0) {
		req.state = state;
		req.state2 = state2;
		req.root = fs->trees[a->root].nodes->root_state;
		d = ward_policy_decide(fs->policy, &req, NULL);
		r = d.verdict == WARD_VERDICT_ALLOW ? 0 : -EACCES;
	}
	if (r == 0 && a->own) {
		req = (struct ward_request){.action = WARD_ACTION_ACCESS,
			.rights = WARD_RIGHT_READ,
			.state = moves ? state2 : state};
		r = ward_policy_decide(fs->policy, &req, NULL).verdict != WARD_VERDICT_ALLOW;
	}
	ward_policy_state_put(fs->policy, state);
	ward_policy_state_put(fs->policy, state2);
	return r;
}
