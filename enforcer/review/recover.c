/* SPDX-License-Identifier: Apache-2.0 */
#include "enforcer/review/recover.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/review/swap.h"

static bool same_file(const struct ward_review_base *a, const struct ward_review_base *b)
{
	return a->dev == b->dev && a->ino == b->ino && a->btime_ns == b->btime_ns;
}

/* What stands at the name is this file. */
static bool stands(int dir, const char *name, const struct ward_review_base *base)
{
	struct ward_review_base now;
	mode_t type;
	return ward_host_stat_at(dir, name, &now, &type) == 0 && same_file(&now, base);
}

/* A directory that was to come: did it? */
static bool made(const struct ward_swapping *s, const struct ward_done *d)
{
	if (d->has_after && !stands(s->dir, s->beside, &d->after))
		return true;
	(void)unlinkat(s->dir, s->beside, AT_REMOVEDIR);
	return false;
}

/* Content that was to come: did it? What waited for it goes. */
static bool came(struct ward_swapping *s, const struct ward_done *d)
{
	const char *name = NULL;
	int dir = ward_swap_ready(s, &name);
	if (!d->has_after || stands(dir, name, &d->after)) {
		ward_swap_drop(s);
		return false;
	}
	/* It was displaced, and a copy of it is kept. */
	if (s->elsewhere && d->c.has_base && stands(s->dir, s->beside, &d->c.base))
		(void)unlinkat(s->dir, s->beside, 0);
	return true;
}

static bool went(struct ward_swapping *s, const struct ward_done *d)
{
	if (S_ISDIR(d->c.type))
		return !stands(s->dir, s->name, &d->c.base);
	if (!s->elsewhere)
		return stands(s->keep, s->kept, &d->c.base);
	if (stands(s->dir, s->beside, &d->c.base))
		(void)unlinkat(s->dir, s->beside, 0);
	return !stands(s->dir, s->name, &d->c.base);
}

/* Did it come about? */
static bool is_done(struct ward_swapping *s, const struct ward_done *d)
{
	struct ward_review_base now;
	mode_t type;
	switch (d->c.kind) {
	case WARD_CHANGE_NONE:
		break;
	case WARD_CHANGE_ADDED:
	case WARD_CHANGE_MODIFIED:
		return S_ISDIR(d->c.type) ? made(s, d) : came(s, d);
	case WARD_CHANGE_REMOVED:
		return went(s, d);
	case WARD_CHANGE_MODE:
		return ward_host_stat_at(s->dir, s->name, &now, &type) == 0 &&
		       now.mode == d->c.mode;
	case WARD_CHANGE_RENAMED:
		return stands(s->dir, s->name, &d->c.base);
	case WARD_CHANGE_LINKED:
		return d->c.has_base ? stands(s->dir, s->name, &d->c.base) : d->has_after;
	}
	return false;
}

int ward_applied_recover(
	int undo_fd, const int *roots, struct ward_applied *a, struct ward_undo_log *log)
{
	if (!a->n_steps || a->steps[a->n_steps - 1].ended_s)
		return 0;
	for (size_t i = 0; i < a->n; i++) {
		struct ward_done *d = &a->v[i];
		struct ward_swapping s;
		if (d->step + 1 != a->n_steps || d->off || d->undone || roots[d->c.root] < 0)
			continue;
		int r = ward_swap_begin(roots[d->c.root], d->c.path, undo_fd, (uint32_t)i + 1, &s);
		/* A directory that was to be made, or renamed to there, was not. */
		if (r == -ENOENT || (r == 0 && !is_done(&s, d))) {
			d->off = true;
			ward_undo_log_off(log, (uint32_t)i + 1);
		}
		ward_swap_end(&s);
	}
	ward_undo_log_end(log);
	return ward_undo_log_error(log);
}
