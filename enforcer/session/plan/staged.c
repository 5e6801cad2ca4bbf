/* SPDX-License-Identifier: Apache-2.0 */
/* Decides whether the changes of a run are staged, and refuses where they cannot be. */
#include "enforcer/session/plan/staged.h"

#include <errno.h>
#include <string.h>

#include "enforcer/ipc/helper.h"

static const char *word(enum ward_changes c)
{
	switch (c) {
	case WARD_CHANGES_DISCARD:
		return "discard";
	case WARD_CHANGES_REVIEW:
		return "review";
	case WARD_CHANGES_DIRECT:
		return "direct";
	}
	return "?";
}

/* What all trees of the host say; those in memory are gone with the session anyway. */
static int agree(const struct ward_run_options *o, struct ward_run_plan *p, struct ward_err *err)
{
	const char *first = NULL;
	p->changes = WARD_CHANGES_DIRECT;
	for (size_t i = 0; i < p->settings->n_trees; i++) {
		const struct ward_tree *t = &p->settings->trees[i];
		enum ward_changes c = t->changes;
		/* The kept home is the agent's own, and no part of the project. */
		if (t->tmpfs_size || strcmp(t->path, WARD_HOME_PATH) == 0)
			continue;
		if (o->review && c == WARD_CHANGES_DIRECT)
			c = WARD_CHANGES_REVIEW;
		if (first && c != p->changes)
			return ward_err_set(err, -EINVAL,
				"[tree %s] changes = %s, and [tree %s] changes = %s: all trees of a "
				"session must say the same",
				t->path, word(c), first, word(p->changes));
		first = t->path;
		p->changes = c;
	}
	return 0;
}

int ward_plan_staged(
	const struct ward_run_options *o, struct ward_run_plan *p, struct ward_err *err)
{
	int r = agree(o, p, err);
	if (r < 0 || p->changes == WARD_CHANGES_DIRECT)
		return r;
	if (p->served_at)
		return ward_err_set(err, -EINVAL,
			"changes = %s: wardfs mount cannot stage changes yet; wardfs run can",
			word(p->changes));
	/* There the command is one of the owner's processes, and could open what is staged. */
	if (!(p->mode->layers & WARD_LAYER_VIEW))
		return ward_err_set(err, -EINVAL,
			"changes = %s: in mode %s the command could reach what is staged (fix: "
			"--mode restricted)",
			word(p->changes), p->mode->word);
	return 0;
}
