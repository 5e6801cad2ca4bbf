/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Content of files is taken back by several threads, as far as the records depend on no others: of
 * no unit, no links, and not written in place.
 */
#include <stdlib.h>
#include <sys/stat.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/review/shares.h"
#include "enforcer/review/undo.h"

#define TOGETHER 2048U
/* With fewer files a thread costs more than it saves. */
#define EACH 32U
/* The removal of a file can wait until the disk has its blocks back (a mount with `discard`). */
#define WAITING 4U

struct batch {
	struct ward_undoing *w;
	size_t which[TOGETHER], n;
	unsigned shares;
	/* Of each thread: its own directory and lines of the log. */
	struct ward_undoing of[WARD_SHARES_MAX];
};

static bool is_apart(const struct ward_undoing *w, size_t i)
{
	const struct ward_done *d = &w->u->applied->v[i];
	return w->apart[i] && !d->in_place && S_ISREG(d->c.type) &&
	       (d->c.kind == WARD_CHANGE_ADDED || d->c.kind == WARD_CHANGE_MODIFIED);
}

static void do_share(void *arg, unsigned k)
{
	struct batch *b = arg;
	const size_t end = ward_shares_at(b->n, b->shares, k + 1);
	for (size_t i = ward_shares_at(b->n, b->shares, k); i < end; i++)
		ward_back_one(
			&b->of[k], b->which[i], ward_back_way(&b->w->u->applied->v[b->which[i]].c));
}

void ward_back_content(struct ward_undoing *w, const bool *wanted, size_t low, size_t *high)
{
	const struct ward_applied *a = w->u->applied;
	ward_cleanup_free struct batch *b = w->u->dry ? NULL : malloc(sizeof(*b));
	if (!b)
		return;
	b->w = w;
	b->n = 0;
	size_t i = *high;
	for (; i > low && b->n < TOGETHER && is_apart(w, i - 1); i--)
		if (wanted[i - 1] && !a->v[i - 1].off && !a->v[i - 1].undone &&
			w->u->ends[i - 1] == WARD_APPLY_NONE)
			b->which[b->n++] = i - 1;
	*high = i;
	b->shares = ward_shares_count(b->n, EACH, WAITING);
	for (unsigned k = 0; k < b->shares; k++) {
		b->of[k] = *w;
		b->of[k].shared = true;
		ward_swap_place_init(&b->of[k].place, w->undo);
		ward_undo_log_fork(&b->of[k].log);
	}
	ward_shares_run(b->shares, do_share, b);
	for (unsigned k = 0; k < b->shares; k++) {
		ward_swap_place_forget(&b->of[k].place);
		ward_undo_log_join(&w->log, &b->of[k].log);
	}
}
