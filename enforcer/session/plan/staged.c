/* SPDX-License-Identifier: Apache-2.0 */
/* Decides whether the changes of a run are staged, and refuses where they cannot be. */
#include "enforcer/session/plan/staged.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/ipc/helper.h"
#include "enforcer/session/owner/project.h"

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
		if (o->discard)
			c = WARD_CHANGES_DISCARD;
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

bool ward_plan_stages(const struct ward_run_plan *p, size_t i)
{
	return p->changes != WARD_CHANGES_DIRECT && p->trees[i].source &&
	       strcmp(p->trees[i].path, WARD_HOME_PATH) != 0;
}

int ward_plan_staged(
	const struct ward_run_options *o, struct ward_run_plan *p, struct ward_err *err)
{
	int r = agree(o, p, err);
	if (r < 0 || p->changes == WARD_CHANGES_DIRECT)
		return r;
	/* There the command is one of the owner's processes, and could open what is staged. */
	if (!(p->mode->layers & WARD_LAYER_VIEW))
		return ward_err_set(err, -EINVAL,
			"changes = %s: in mode %s the command could reach what is staged (fix: "
			"--mode restricted)",
			word(p->changes), p->mode->word);
	return 0;
}

/* The project that `wardfs review` finds in the directory fd, which becomes the current one. */
static int look_from(int fd, struct ward_project *ret, struct ward_err *err)
{
	ward_cleanup_fd int back = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (back < 0 || fchdir(fd) < 0)
		return ward_err_sys(err, -errno, "current directory");
	int r = ward_project_find(NULL, WARD_PROJECT_OWNERS, ret, err);
	return fchdir(back) < 0 ? ward_err_sys(err, -errno, "current directory") : r;
}

/* What is staged is of use only if `wardfs review` finds it, for the same user. */
static int check_found(const struct ward_run_plan *p, struct ward_err *err)
{
	ward_cleanup(ward_project_clear) struct ward_project found = {.fd = -1};
	ward_cleanup(ward_identity_clear) struct ward_identity id = {.owner_uid = (uid_t)-1};
	int r = look_from(p->project.fd, &found, err);
	if (r == 0)
		r = ward_identity_find(NULL, found.uid, 0, &id, err);
	if (r < 0)
		return ward_err_wrap(err, "changes = %s", word(p->changes));
	if (strcmp(found.path, p->project.path) != 0)
		return ward_err_set(err, -EINVAL,
			"changes = %s: %s is a part of the project %s, which wardfs review looks at "
			"as a whole (fix: mount that)",
			word(p->changes), p->project.path, found.path);
	if (id.owner_uid != p->id.owner_uid)
		return ward_err_set(err, -EINVAL,
			"changes = %s: %s belongs to %s, and this mount would act as %s (fix: start "
			"it as %s)",
			word(p->changes), p->project.path, id.name, p->id.name, id.name);
	return 0;
}

int ward_plan_staged_mount(
	bool review, bool allow_other, struct ward_run_plan *p, struct ward_err *err)
{
	const struct ward_run_options o = {.review = review};
	int r = agree(&o, p, err);
	/* The policy may have no section for what is served. */
	if (r == 0 && review && p->changes == WARD_CHANGES_DIRECT)
		p->changes = WARD_CHANGES_REVIEW;
	if (r < 0 || p->changes == WARD_CHANGES_DIRECT)
		return r;
	if (!ward_plan_stages(p, 0))
		return ward_err_set(err, -EINVAL,
			"changes = %s: --tree %s is where kept homes are, which are not staged "
			"(fix: another --tree)",
			word(p->changes), p->trees[0].path);
	/* What is staged is one user's, who applies it. */
	if (allow_other)
		return ward_err_set(err, -EINVAL,
			"changes = %s: a mount for all users (--allow-other) cannot stage changes "
			"(fix: a mount for each user)",
			word(p->changes));
	return check_found(p, err);
}

int ward_plan_staged_never(struct ward_run_plan *p, const char *what, struct ward_err *err)
{
	const struct ward_run_options o = {.review = false};
	int r = agree(&o, p, err);
	if (r < 0 || p->changes == WARD_CHANGES_DIRECT)
		return r;
	return ward_err_set(
		err, -EINVAL, "changes = %s: %s cannot stage changes", word(p->changes), what);
}
