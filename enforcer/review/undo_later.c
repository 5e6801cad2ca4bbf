/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A dry run over several applies: what was done after a record would have been taken back before.
 * That was looked at by then, and it puts back what it displaced.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "enforcer/review/undo.h"

/* Where the file was that the record displaced or moved. */
static const char *origin(const struct ward_change *c, size_t *ret_root)
{
	const bool moved = c->kind == WARD_CHANGE_RENAMED;
	*ret_root = moved ? c->from_root : c->root;
	return moved ? c->from : c->path;
}

static int by_base(const void *x, const void *y, void *arg)
{
	const struct ward_done *v = arg, *a = &v[*(const size_t *)x], *b = &v[*(const size_t *)y];
	if (a->c.base.ino != b->c.base.ino)
		return a->c.base.ino < b->c.base.ino ? -1 : 1;
	return a < b ? -1 : a > b;
}

static int by_path(const void *x, const void *y, void *arg)
{
	const struct ward_done *v = arg, *a = &v[*(const size_t *)x], *b = &v[*(const size_t *)y];
	if (a->c.root != b->c.root)
		return a->c.root < b->c.root ? -1 : 1;
	const int r = strcmp(a->c.path, b->c.path);
	return r ? r : a < b ? -1 : a > b;
}

int ward_back_later_find(struct ward_undoing *w)
{
	const struct ward_applied *a = w->u->applied;
	struct ward_back_later *l = &w->later;
	*l = (struct ward_back_later){.by_base = NULL};
	if (!w->u->dry || a->n_steps < 2)
		return 0;
	l->by_base = calloc(a->n + 1, sizeof(*l->by_base));
	l->by_path = calloc(a->n + 1, sizeof(*l->by_path));
	if (!l->by_base || !l->by_path)
		return -ENOMEM;
	for (size_t i = 0; i < a->n; i++) {
		if (a->v[i].off || a->v[i].undone)
			continue;
		l->by_path[l->n_path++] = i;
		if (a->v[i].c.has_base)
			l->by_base[l->n_base++] = i;
	}
	qsort_r(l->by_base, l->n_base, sizeof(*l->by_base), by_base, a->v);
	qsort_r(l->by_path, l->n_path, sizeof(*l->by_path), by_path, a->v);
	return 0;
}

void ward_back_later_clear(struct ward_undoing *w)
{
	free(w->later.by_base);
	free(w->later.by_path);
	w->later = (struct ward_back_later){.by_base = NULL};
}

/* Of an apply after that of record i, and would be undone. */
static bool is_later(const struct ward_undoing *w, size_t i, size_t of)
{
	const struct ward_applied *a = w->u->applied;
	return a->v[of].step > a->v[i].step && w->u->ends[of] == WARD_APPLY_DONE;
}

const struct ward_done *ward_back_later_base(
	const struct ward_undoing *w, size_t i, const struct ward_review_base *file)
{
	const struct ward_applied *a = w->u->applied;
	size_t low = 0, high = w->later.n_base;
	while (low < high) {
		const size_t mid = low + (high - low) / 2;
		if (a->v[w->later.by_base[mid]].c.base.ino < file->ino)
			low = mid + 1;
		else
			high = mid;
	}
	for (; low < w->later.n_base; low++) {
		const struct ward_done *d = &a->v[w->later.by_base[low]];
		if (d->c.base.ino != file->ino)
			break;
		if (ward_back_same(&d->c.base, file) && is_later(w, i, w->later.by_base[low]))
			return d;
	}
	return NULL;
}

bool ward_back_later_came(const struct ward_undoing *w, size_t i, size_t root, const char *path)
{
	const struct ward_applied *a = w->u->applied;
	size_t low = 0, high = w->later.n_path;
	while (low < high) {
		const size_t mid = low + (high - low) / 2;
		const struct ward_change *c = &a->v[w->later.by_path[mid]].c;
		if (c->root < root || (c->root == root && strcmp(c->path, path) < 0))
			low = mid + 1;
		else
			high = mid;
	}
	for (; low < w->later.n_path; low++) {
		const struct ward_change *c = &a->v[w->later.by_path[low]].c;
		if (c->root != root || strcmp(c->path, path) != 0)
			break;
		if ((c->kind == WARD_CHANGE_ADDED || c->kind == WARD_CHANGE_LINKED ||
			    c->kind == WARD_CHANGE_RENAMED) &&
			is_later(w, i, w->later.by_path[low]))
			return true;
	}
	return false;
}

bool ward_back_later_as_was(const struct ward_back *b)
{
	const struct ward_done *d = b->d;
	const struct ward_done *of =
		d->has_after ? ward_back_later_base(b->w, b->i, &d->after) : NULL;
	size_t root = 0;
	if (!of || strcmp(origin(&of->c, &root), d->c.path) != 0 || root != d->c.root)
		return false;
	/* What was only moved is the file that came, if nobody wrote to it until then. */
	if (of->before[0] == '-')
		return of->c.base.mode == d->c.mode && of->c.base.size == d->after.size &&
		       of->c.base.mtime_ns == d->after.mtime_ns;
	return of->c.base.mode == d->after.mode && strcmp(of->before, d->c.content) == 0;
}
