/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs review undo, discard. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/out.h"
#include "enforcer/cli/review/review_cli.h"
#include "enforcer/cli/review/review_record.h"
#include "enforcer/cli/review/review_told.h"
#include "enforcer/session/owner/as_owner.h"

static int record_undone(struct ward_review_meant *m, const struct ward_undo *u,
	const struct review_told *t, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf lines = {.max = REVIEW_LINES_MAX};
	const struct review_record w = {
		.verb = "undone", .changes = t->n_done, .left = t->n_left, .lines = &lines};
	for (size_t i = 0; i < m->applied.n; i++) {
		const struct ward_done *d = &m->applied.v[i];
		if (u->ends[i] != WARD_APPLY_NONE)
			review_record_line(&lines, m->undo_trees, &d->c, NULL, d->c.content,
				d->before, u->ends[i], t->done, u->why[i]);
	}
	return review_record(m, &w, err);
}

int review_undo(const struct review_args *a, struct ward_review_meant *m, struct ward_err *err)
{
	const size_t n = m->applied.n ? m->applied.n : 1;
	struct ward_undo u = {.dir_fd = m->place_fd, .applied = &m->applied, .dry = a->dry};
	struct review_told t = {.done = "undone", .dry = a->dry};
	struct ward_as_owner as;
	memcpy(u.roots, m->undo_roots, sizeof(u.roots));
	if (!m->applied.n)
		return ward_err_set(
			err, -ENOENT, "nothing of session %s has been applied", m->session);
	ward_cleanup_free bool *wanted = calloc(n, sizeof(*wanted));
	ward_cleanup_free bool *named = calloc(a->n_paths + 1, sizeof(*named));
	u.ends = calloc(n, sizeof(*u.ends));
	u.why = calloc(n, sizeof(*u.why));
	int r = wanted && named && u.ends && u.why ? 0 : ward_err_sys(err, -ENOMEM, "undo");
	for (size_t i = 0; r == 0 && i < m->applied.n; i++) {
		bool itself;
		wanted[i] = review_is_meant(a, &m->applied.v[i].c, &itself);
		review_named_note(a, &m->applied.v[i].c, named);
	}
	if (r == 0)
		t.n_unnamed = review_named_tell(a, named, "applied");
	if (r == 0 && a->n_paths && t.n_unnamed == a->n_paths) {
		free(u.ends);
		free(u.why);
		return 1;
	}
	if (r == 0 && !a->dry)
		r = review_told_begin(m, "undo", wanted, m->applied.n, err);
	if (r == 0)
		r = ward_as_owner_begin(&m->place.id, &as, err);
	if (r == 0) {
		r = ward_undo(&u, wanted, err);
		ward_as_owner_end(&as);
	}
	for (size_t i = 0; r == 0 && i < m->applied.n; i++)
		review_tell(&t, m->applied.v[i].c.path, u.ends[i], u.why[i]);
	if (r == 0)
		r = review_told_end(&t);
	if (r >= 0 && !a->dry) {
		int recorded = record_undone(m, &u, &t, err);
		r = recorded < 0 ? recorded : r;
	}
	free(u.ends);
	free(u.why);
	return r;
}

static int discard_some(
	const struct review_args *a, struct ward_review_meant *m, struct ward_err *err)
{
	struct review_record w = {.verb = "discard"};
	struct ward_as_owner as;
	ward_cleanup_free bool *wanted = calloc(m->changes.n ? m->changes.n : 1, sizeof(*wanted));
	ward_cleanup_free bool *named = calloc(a->n_paths + 1, sizeof(*named));
	if (!wanted || !named)
		return ward_err_sys(err, -ENOMEM, "discard");
	for (size_t i = 0; i < m->changes.n; i++) {
		bool itself;
		wanted[i] = review_is_meant(a, &m->changes.v[i], &itself);
		w.changes += wanted[i];
		review_named_note(a, &m->changes.v[i], named);
	}
	const size_t unnamed = review_named_tell(a, named, "staged");
	if (!w.changes)
		return 1;
	int r = review_record(m, &w, err);
	if (r == 0)
		r = ward_as_owner_begin(&m->place.id, &as, err);
	if (r < 0)
		return r;
	r = ward_changes_discard(m->dir_fd, &m->changes, wanted, err);
	ward_as_owner_end(&as);
	if (r == 0)
		ward_outf("%zu discarded\n", w.changes);
	return r == 0 && unnamed ? 1 : r;
}

int review_discard(const struct review_args *a, struct ward_review_meant *m, struct ward_err *err)
{
	const struct review_record w = {.verb = "discard", .changes = m->changes.n};
	if (a->n_paths)
		return discard_some(a, m, err);
	int r = review_record(m, &w, err);
	return r < 0 ? r : ward_reviews_discard(ward_store_dir(m->store), m->session, err);
}
