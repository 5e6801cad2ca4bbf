/* SPDX-License-Identifier: Apache-2.0 */
/* Files of the project that have several names on the host. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "enforcer/review/apply.h"
#include "enforcer/review/part.h"

bool ward_one_came_in_place(
	const struct ward_one *o, const struct ward_review_base *now, mode_t type)
{
	const struct ward_review_changes *all = o->w->a->changes;
	const struct ward_review_base *was = &o->c->base;
	char object[WARD_PART_NAME];
	if (!S_ISREG(type) || !o->c->has_base || now->nlink < 2 || now->ino != was->ino ||
		now->dev != was->dev || now->btime_ns != was->btime_ns)
		return false;
	for (size_t i = 0; i < all->n; i++) {
		const struct ward_change *m = &all->v[i];
		struct ward_one of = *o;
		if (m->kind != WARD_CHANGE_MODIFIED || m->seen.ino != was->ino)
			continue;
		of.c = m;
		snprintf(object, sizeof(object), "objects/%u", m->object);
		return ward_one_has_object(&of, now, type, object);
	}
	return false;
}

static int by_number(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return x < y ? -1 : x > y;
}

/* A name that was taken out, of a file with several. dry: it would have been. */
static void add_kept(
	struct ward_applying *w, const struct ward_change *c, uint32_t number, bool dry)
{
	char name[16];
	struct stat st;
	if (c->kind != WARD_CHANGE_REMOVED || !S_ISREG(c->type) || c->base.nlink < 2)
		return;
	snprintf(name, sizeof(name), "%u", number);
	if (dry)
		w->kept[w->n_kept++] = c->base.ino;
	else if (fstatat(w->undo, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
		w->kept[w->n_kept++] = st.st_ino;
}

/* Without memory for it, a name more than there is counts: the file is not replaced. */
static void find_kept(struct ward_applying *w)
{
	const struct ward_review_changes *c = w->a->changes;
	free(w->kept);
	w->kept = calloc(w->done.n + c->n + 1, sizeof(*w->kept));
	w->n_kept = 0;
	w->kept_known = w->kept != NULL;
	for (size_t i = 0; w->kept && w->undo >= 0 && i < w->done.n; i++)
		if (!w->done.v[i].off && !w->done.v[i].undone)
			add_kept(w, &w->done.v[i].c, (uint32_t)i + 1, false);
	for (size_t i = 0; w->kept && i < c->n; i++)
		if (w->a->dry ? w->a->ends[i] == WARD_APPLY_DONE : w->number[i] != 0)
			add_kept(w, &c->v[i], w->number[i], w->a->dry);
	if (w->n_kept)
		qsort(w->kept, w->n_kept, sizeof(*w->kept), by_number);
}

void ward_apply_links_know(struct ward_applying *w)
{
	if (!w->kept_known)
		find_kept(w);
}

bool ward_one_has_links(struct ward_one *o, const struct ward_review_base *now)
{
	struct ward_applying *w = o->w;
	uint32_t links = now->nlink;
	/* Another file in the place of this one leaves its other names as they are. */
	if (o->c->kind != WARD_CHANGE_MODIFIED || o->c->object != o->c->seen_kept || links < 2)
		return false;
	/* Without memory for it, no thread tries again. */
	if (!w->shared)
		ward_apply_links_know(w);
	size_t low = 0, high = w->n_kept;
	while (low < high) {
		const size_t mid = low + (high - low) / 2;
		if (w->kept[mid] < now->ino)
			low = mid + 1;
		else
			high = mid;
	}
	for (; low < w->n_kept && w->kept[low] == now->ino && links > 1; low++)
		links--;
	return links > 1;
}
