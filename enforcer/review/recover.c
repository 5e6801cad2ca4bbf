/* SPDX-License-Identifier: Apache-2.0 */
#include "enforcer/review/recover.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/review/in_place.h"
#include "enforcer/review/moved.h"
#include "enforcer/review/swap.h"
#include "enforcer/review/undo.h"

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

/* Of what came in part, the ctime that it got: it is the base of the rest. */
static void know_part(
	const struct ward_swapping *s, size_t i, struct ward_done *d, struct ward_undo_log *log)
{
	struct ward_review_base now;
	mode_t type;
	if (d->part == WARD_PART_NONE || ward_host_stat_at(s->dir, s->name, &now, &type) < 0 ||
		type != d->c.type || !ward_host_same(&now, &d->after, true))
		return;
	d->after = now;
	ward_undo_log_ready(log, (uint32_t)i + 1, &now, d->c.content);
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
	/* One that is half written has been put right before, if that could be done. */
	if (d->in_place && (ward_in_place_is_open(s->keep, s->kept) ||
				   (d->has_after && faccessat(s->keep, s->kept, F_OK,
							    AT_SYMLINK_NOFOLLOW) == 0)))
		return true;
	if (d->in_place) {
		ward_swap_drop(s);
		return false;
	}
	/* Without room for it the log does not have that it was given up: then the base stands
	 * there. */
	if (!d->has_after || stands(dir, name, &d->after) ||
		(d->c.has_base && stands(s->dir, s->name, &d->c.base))) {
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
		return stands(s->dir, s->name, d->has_after ? &d->after : &d->c.base);
	}
	return false;
}

/* --- names --- */

/*
 * Names that were being changed when the apply was ended: where one of them is beside its place,
 * all go back. Content comes after names: where it has come, they are all in their places.
 */
static int names_back(
	int undo_fd, const int *roots, struct ward_applied *a, struct ward_undo_log *log)
{
	ward_cleanup_free bool *all = calloc(a->n + 1, sizeof(*all));
	struct ward_undo u = {.dir_fd = -1,
		.applied = a,
		.ends = calloc(a->n + 1, sizeof(*u.ends)),
		.why = calloc(a->n + 1, sizeof(*u.why))};
	struct ward_undoing w = {.u = &u, .undo = undo_fd, .log = *log};
	size_t low = a->n;
	bool content = false;
	int r = all && u.ends && u.why ? 0 : -ENOMEM;
	memcpy(u.roots, roots, sizeof(u.roots));
	while (r == 0 && low && a->v[low - 1].step + 1 == a->n_steps) {
		const struct ward_done *d = &a->v[--low];
		all[low] = !d->off && !d->undone;
		content = content || (all[low] && d->has_after && !S_ISDIR(d->c.type));
	}
	ward_swap_place_init(&w.place, undo_fd);
	if (r == 0 && !content)
		r = ward_back_names(&w, all, low, a->n, true);
	ward_back_names_end(&w);
	ward_swap_place_forget(&w.place);
	*log = w.log;
	free(u.ends);
	free(u.why);
	return r;
}

/* --- files that were being written to --- */

/* What it had comes back, if nobody else wrote to it. The copies stay where that fails. */
static void write_back(
	struct ward_swapping *s, size_t i, struct ward_applied *a, struct ward_undo_log *log)
{
	struct ward_done *d = &a->v[i];
	if (d->undone) {
		ward_swap_drop(s);
		ward_in_place_end(s);
		return;
	}
	const struct ward_review_base *file = d->has_after ? &d->after : &d->c.base;
	mode_t type;
	int r = 0;
	if (S_ISLNK(d->c.type)) {
		r = ward_in_place_link_back(s);
	} else if (stands(s->dir, s->name, file)) {
		r = ward_in_place_is_ours(s);
		if (r > 0)
			r = ward_in_place_write(s, file, true) < 0 ? -1 : 1;
	}
	if (r < 0)
		return;
	if (r == 0) {
		ward_in_place_end(s);
		return;
	}
	/* Of an apply, too: the file has another ctime now. */
	d->undone = true;
	d->has_again = ward_host_stat_at(s->dir, s->name, &d->again, &type) == 0;
	ward_undo_log_undone(log, (uint32_t)i + 1, d->has_again ? &d->again : NULL);
	if (ward_undo_log_error(log) < 0)
		return;
	ward_in_place_end(s);
	(void)unlinkat(s->keep, s->kept, 0);
}

/* Of applies and undoes. */
static void write_all_back(
	int undo_fd, const int *roots, struct ward_applied *a, struct ward_undo_log *log)
{
	struct ward_swap_place place;
	ward_swap_place_init(&place, undo_fd);
	for (size_t i = 0; i < a->n; i++) {
		const struct ward_done *d = &a->v[i];
		struct ward_swapping s;
		char kept[16];
		snprintf(kept, sizeof(kept), "%u", (uint32_t)i + 1);
		if (d->in_place && !d->off && roots[d->c.root] >= 0 &&
			ward_in_place_is_open(undo_fd, kept) &&
			ward_swap_begin(&place, roots[d->c.root], d->c.path, (uint32_t)i + 1, &s) ==
				0)
			write_back(&s, i, a, log);
	}
	ward_swap_place_forget(&place);
}

/* --- each --- */

static int by_path(const void *a, const void *b)
{
	const struct ward_change *x = a, *y = b;
	return x->root != y->root ? (x->root < y->root ? -1 : 1) : strcmp(x->path, y->path);
}

/* What came as the content of files, by path, with the number of its record: shallow copies. */
static int find_contents(const struct ward_applied *a, struct ward_review_changes *ret)
{
	ret->v = calloc(a->n ? a->n : 1, sizeof(*ret->v));
	if (!ret->v)
		return -ENOMEM;
	for (size_t i = 0; i < a->n; i++) {
		if (a->v[i].step + 1 != a->n_steps || a->v[i].off || !a->v[i].has_after ||
			a->v[i].c.kind != WARD_CHANGE_MODIFIED)
			continue;
		ret->v[ret->n] = a->v[i].c;
		ret->v[ret->n++].object = (uint32_t)i + 1;
	}
	if (ret->n)
		qsort(ret->v, ret->n, sizeof(*ret->v), by_path);
	return 0;
}

/* A file that was renamed, and then another one with new content came in its place. */
static bool has_content(const struct ward_swapping *s, const struct ward_done *d,
	const struct ward_applied *a, const struct ward_review_changes *contents)
{
	const struct ward_change *c =
		d->c.kind == WARD_CHANGE_RENAMED
			? ward_changes_find(contents, d->c.root, d->c.path, WARD_CHANGE_MODIFIED)
			: NULL;
	return c && same_file(&c->base, &d->c.base) &&
	       stands(s->dir, s->name, &a->v[c->object - 1].after);
}

/*
 * Where a record's name is by now: a directory above it may have been renamed after it was done.
 * -ENOENT: it is nowhere.
 */
static int begin(struct ward_swap_place *place, const int *roots, const struct ward_moved *moved,
	const struct ward_done *d, uint32_t number, struct ward_swapping *ret)
{
	int r = ward_swap_begin(place, roots[d->c.root], d->c.path, number, ret);
	size_t len = strlen(d->c.path), by, root;
	char at[PATH_MAX];
	while ((r == -ENOENT || r == -ENOTDIR) && d->c.kind == WARD_CHANGE_REMOVED &&
		ward_moved_next(moved, d->c.root, d->c.path, &len, &by, &root, at))
		if (roots[root] >= 0)
			r = ward_swap_begin(place, roots[root], at, number, ret);
	return r == -ENOTDIR ? -ENOENT : r;
}

/* With the directory that it was in, which went after it. */
static bool went_with(int undo_fd, const struct ward_done *d, uint32_t number)
{
	char kept[16];
	snprintf(kept, sizeof(kept), "%u", number);
	return d->c.kind == WARD_CHANGE_REMOVED &&
	       faccessat(undo_fd, kept, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* The renames of the last apply: shallow copies. */
static int find_moved(
	const struct ward_applied *a, struct ward_review_changes *all, struct ward_moved *ret)
{
	all->v = calloc(a->n ? a->n : 1, sizeof(*all->v));
	if (!all->v)
		return -ENOMEM;
	for (size_t i = 0; i < a->n; i++)
		if (a->v[i].step + 1 == a->n_steps && !a->v[i].off &&
			a->v[i].c.kind == WARD_CHANGE_RENAMED)
			all->v[all->n++] = a->v[i].c;
	return ward_moved_find(all, ret);
}

int ward_applied_recover(
	int undo_fd, const int *roots, struct ward_applied *a, struct ward_undo_log *log)
{
	write_all_back(undo_fd, roots, a, log);
	if (!a->n_steps || a->steps[a->n_steps - 1].ended_s)
		return ward_undo_log_error(log);
	struct ward_review_changes renames = {.v = NULL}, contents = {.v = NULL};
	ward_cleanup(ward_moved_clear) struct ward_moved moved = {.v = NULL};
	struct ward_swap_place place;
	ward_swap_place_init(&place, undo_fd);
	int r = names_back(undo_fd, roots, a, log);
	if (r == 0)
		r = find_moved(a, &renames, &moved);
	if (r == 0)
		r = find_contents(a, &contents);
	for (size_t i = 0; r == 0 && i < a->n; i++) {
		struct ward_done *d = &a->v[i];
		struct ward_swapping s;
		if (d->step + 1 != a->n_steps || d->off || d->undone || roots[d->c.root] < 0)
			continue;
		const uint32_t number = (uint32_t)i + 1;
		int found = begin(&place, roots, &moved, d, number, &s);
		/* A directory that was to be made, or renamed to there, was not. */
		if ((found == -ENOENT && !went_with(undo_fd, d, number)) ||
			(found == 0 && !is_done(&s, d) && !has_content(&s, d, a, &contents))) {
			d->off = true;
			ward_undo_log_off(log, number);
		} else if (found == 0) {
			know_part(&s, i, d, log);
		}
	}
	ward_swap_place_forget(&place);
	free(renames.v);
	free(contents.v);
	if (r < 0)
		return r;
	ward_undo_log_end(log);
	return ward_undo_log_error(log);
}
