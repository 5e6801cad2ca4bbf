/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What exists beneath a directory that is to move, stepped from both of its places at once. Reads
 * nothing by itself: the directories are the caller's (struct ward_look_ops).
 */
#include "enforcer/policy/internal.h"

#include <errno.h>
#include <string.h>

struct look {
	const struct ward_policy *p;
	const struct ward_look_ops *ops;
	void *user;
	unsigned entries;
};

static int look_in(struct look *l, void *dir, const struct ward_state *src,
	const struct ward_state *dst, unsigned depth);

/* A directory beneath, for which the rules alone leave the question open. */
static int look_beneath(struct look *l, void *parent, const char *name,
	const struct ward_state *src, const struct ward_state *dst, unsigned depth)
{
	void *dir = NULL;
	if (depth == WARD_LOOK_DEPTH_MAX)
		return -EXDEV;
	int r = l->ops->open(l->user, parent, name, &dir);
	if (r < 0)
		return r;
	r = look_in(l, dir, src, dst, depth + 1);
	l->ops->close(l->user, dir);
	return r;
}

static int look_at(struct look *l, void *dir, const char *name, bool is_dir,
	const struct ward_state *src, const struct ward_state *dst, unsigned depth)
{
	const struct ward_state *s = NULL, *d = NULL;
	size_t len = strlen(name);
	uint32_t rule = 0;
	int r = ward_policy_step(l->p, src, name, len, &s);
	if (r == 0)
		r = ward_policy_step(l->p, dst, name, len, &d);
	/* An existing file may be a secret: nobody has looked. */
	if (r == 0 &&
		(ward_policy_gain(s, d, is_dir) || ward_outcome_eases(&s->outcome, &d->outcome)))
		r = -EXDEV;
	if (r == 0 && is_dir && !ward_policy_contains(l->p, s, d, WARD_MOVE_GAIN, &rule))
		r = look_beneath(l, dir, name, s, d, depth);
	ward_policy_state_put(l->p, s);
	ward_policy_state_put(l->p, d);
	return r;
}

static int look_in(struct look *l, void *dir, const struct ward_state *src,
	const struct ward_state *dst, unsigned depth)
{
	for (;;) {
		char name[WARD_LOOK_NAME_SIZE];
		bool is_dir = true;
		int r = l->ops->next(l->user, dir, name, &is_dir);
		if (r <= 0)
			return r;
		if (l->entries++ == WARD_LOOK_ENTRIES_MAX)
			return -EXDEV;
		r = look_at(l, dir, name, is_dir, src, dst, depth);
		if (r < 0)
			return r;
	}
}

int ward_policy_look(const struct ward_policy *p, const struct ward_state *src,
	const struct ward_state *dst, const struct ward_look_ops *ops, void *user, void *dir)
{
	struct look l = {.p = p, .ops = ops, .user = user};
	uint32_t rule = 0;
	if (ward_policy_contains(p, src, dst, WARD_MOVE_GAIN, &rule))
		return 0;
	return look_in(&l, dir, src, dst, 0);
}
