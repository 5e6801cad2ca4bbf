/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Content of files, many at a time: threads look at them, write them and put them there. The log
 * says that they are about to come before the first of them is written, and that they are ready by
 * the time that all is brought to disk. Units and files that are written in place are put there one
 * after another, by apply.c.
 */
#include "enforcer/review/apply.h"

#include <errno.h>
#include <stdlib.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/review/early.h"
#include "enforcer/review/shares.h"

#define TOGETHER 2048U
/* With fewer files a thread costs more than it saves. */
#define EACH 32U
/* With fewer changes, nothing is brought to disk before all is written. */
#define EARLY 4096U

struct batch {
	struct ward_applying *w;
	size_t which[TOGETHER], n;
	struct ward_one_look look[TOGETHER];
	void (*fn)(struct ward_one *o, struct ward_one_look *look);
	unsigned shares;
	/* Of each thread: its own directory, journals and lines of the log. */
	struct ward_applying of[WARD_SHARES_MAX];
};

static void do_share(void *arg, unsigned k)
{
	struct batch *b = arg;
	const size_t end = ward_shares_at(b->n, b->shares, k + 1);
	for (size_t i = ward_shares_at(b->n, b->shares, k); i < end; i++) {
		struct ward_one o;
		if (ward_one_begin(&b->of[k], b->which[i], &o) == 0)
			b->fn(&o, &b->look[i]);
	}
}

static void do_batch(struct batch *b, void (*fn)(struct ward_one *o, struct ward_one_look *look))
{
	b->fn = fn;
	b->shares = ward_shares_count(b->n, EACH, 1);
	for (unsigned k = 0; k < b->shares; k++) {
		b->of[k] = *b->w;
		b->of[k].shared = true;
		b->of[k].journals = (struct ward_unit_dir){.of = 0};
		ward_swap_place_init(&b->of[k].place, b->w->undo);
		b->of[k].place.found = 0;
		ward_undo_log_fork(&b->of[k].log);
	}
	ward_shares_run(b->shares, do_share, b);
	for (unsigned k = 0; k < b->shares; k++) {
		ward_swap_place_forget(&b->of[k].place);
		ward_undo_log_join(&b->w->log, &b->of[k].log);
	}
}

/* Those that are to come get their numbers, in the order of the changes. */
static void announce(struct batch *b)
{
	size_t n = 0;
	for (size_t i = 0; i < b->n; i++) {
		struct ward_one o;
		if (!b->look[i].writes || ward_one_begin(b->w, b->which[i], &o) < 0)
			continue;
		ward_one_announce(&o, &b->look[i]);
		b->which[n++] = b->which[i];
	}
	b->n = n;
}

static void make_ready(struct ward_one *o, struct ward_one_look *look)
{
	(void)look;
	ward_one_write(o);
}

static void put_there(struct ward_one *o, struct ward_one_look *look)
{
	(void)look;
	ward_one_put(o);
}

int ward_apply_content_write(struct ward_applying *w, const bool *wanted)
{
	const struct ward_review_changes *c = w->a->changes;
	ward_cleanup_free struct batch *b = malloc(sizeof(*b));
	if (!b)
		return -ENOMEM;
	b->w = w;
	ward_apply_links_know(w);
	struct ward_early early = {.runs = false};
	if (!w->a->dry && c->n >= EARLY)
		ward_early_begin(&early, w->a->roots, w->undo);
	for (size_t i = 0; i < c->n;) {
		for (b->n = 0; i < c->n && b->n < TOGETHER; i++)
			if (wanted[i] && ward_apply_has_content(&c->v[i])) {
				b->look[b->n].writes = false;
				b->which[b->n++] = i;
			}
		ward_undo_log_hold(&w->log, true);
		do_batch(b, ward_one_look_content);
		announce(b);
		ward_undo_log_hold(&w->log, false);
		ward_undo_log_hold(&w->log, true);
		do_batch(b, make_ready);
		if (early.runs)
			ward_early_more(&early);
	}
	ward_undo_log_hold(&w->log, false);
	return ward_early_end(&early);
}

void ward_apply_content_put(struct ward_applying *w, unsigned order)
{
	const struct ward_review_changes *c = w->a->changes;
	ward_cleanup_free struct batch *b = malloc(sizeof(*b));
	if (!b)
		return;
	b->w = w;
	for (size_t i = 0; i < c->n;) {
		for (b->n = 0; i < c->n && b->n < TOGETHER; i++)
			if (w->ready[i] && !w->unit[i] && !w->in_place[i] &&
				ward_unit_order(c->v[i].path) == order)
				b->which[b->n++] = i;
		do_batch(b, put_there);
	}
}
