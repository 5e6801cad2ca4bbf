/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs review apply, undo, discard. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"
#include "enforcer/base/out.h"
#include "enforcer/cli/base/say.h"
#include "enforcer/cli/review/review_cli.h"
#include "enforcer/cli/review/review_record.h"
#include "enforcer/session/owner/as_owner.h"

/* Of the file beside the trail: of a million changes with long names. */
#define LINES_MAX ((size_t)2 << 30)

/* Those that are asked for, less those that may not be: what becomes of them stands in ends. */
static void choose(const struct review_args *a, const struct ward_review_meant *m,
	struct ward_apply *ap, bool *wanted, bool *outside)
{
	for (size_t i = 0; i < m->changes.n; i++) {
		const struct ward_change *c = &m->changes.v[i];
		char rule[128];
		bool itself;
		wanted[i] = review_is_meant(a, c, &itself);
		const char *flag = ward_review_flag(m, c);
		/* What has to be named itself is no part of a repository's state. */
		outside[i] = *flag != 0;
		flag = wanted[i] && !itself ? flag : "";
		int error = wanted[i] ? ward_review_decide(m, c, rule) : 0;
		if (error) {
			snprintf(ap->why[i], sizeof(ap->why[i]),
				"today's policy refuses it (%.80s)", rule);
		} else if (*flag) {
			snprintf(ap->why[i], sizeof(ap->why[i]), "%s: name it itself to apply it",
				flag);
		} else {
			continue;
		}
		ap->ends[i] = WARD_APPLY_REFUSED;
		wanted[i] = false;
	}
}

/* What has become of each: its path, and how it ended. */
struct told {
	const char *done; /* "applied" */
	size_t n_done, n_left;
	size_t n_deep; /* not applied either, but no path can name them */
	bool dry;
};

static void tell(struct told *t, const char *path, enum ward_apply_end end, const char *why)
{
	switch (end) {
	case WARD_APPLY_NONE:
		break;
	case WARD_APPLY_DONE:
	case WARD_APPLY_ALREADY:
		t->n_done++;
		if (t->dry)
			ward_outf("%s: %s\n", path, why);
		break;
	case WARD_APPLY_CONFLICT:
	case WARD_APPLY_REFUSED:
	case WARD_APPLY_FAILED:
		t->n_left++;
		ward_sayf("%s: not %s: %s", path, t->done, why);
		break;
	}
}

/* The exit status. */
static int told(const struct told *t)
{
	const size_t left = t->n_left + t->n_deep;
	ward_outf(t->dry ? "%zu would be %s, %zu would not\n" : "%zu %s, %zu not\n", t->n_done,
		t->done, left);
	return left ? 1 : 0;
}

static uint64_t now_s(void)
{
	return ward_clock_real_ns() / WARD_NS_PER_SEC;
}

/* Nothing is changed that the ledger does not know of. */
static int begin_record(const struct ward_review_meant *m, const char *verb, const bool *wanted,
	size_t n, struct ward_err *err)
{
	struct review_record w = {.verb = verb};
	for (size_t i = 0; i < n; i++)
		w.changes += wanted[i];
	return review_record(m, &w, err);
}

/* What the log of undo has of each change: the content that was displaced. */
static int record_applied(struct ward_review_meant *m, const struct ward_apply *ap,
	const struct told *t, struct ward_err *err)
{
	const struct ward_review_changes *c = &m->changes;
	ward_cleanup(ward_buf_clear) struct ward_buf lines = {.max = LINES_MAX};
	ward_cleanup(ward_applied_clear) struct ward_applied done = {.v = NULL};
	ward_cleanup_free const char **before = calloc(c->n ? c->n : 1, sizeof(*before));
	const struct review_record w = {
		.verb = "applied", .changes = t->n_done, .left = t->n_left, .lines = &lines};
	int r = before ? ward_applied_of(m->dir_fd, &done, err)
		       : ward_err_sys(err, -ENOMEM, "apply");
	for (size_t i = 0; r == 0 && i < done.n; i++) {
		const struct ward_change *of =
			ward_changes_find(c, done.v[i].c.root, done.v[i].c.path, done.v[i].c.kind);
		if (of && !done.v[i].off)
			before[of - c->v] = done.v[i].before;
	}
	for (size_t i = 0; r == 0 && i < c->n; i++)
		if (ap->ends[i] != WARD_APPLY_NONE)
			review_record_line(&lines, &c->v[i], before[i] ? before[i] : "",
				c->v[i].content, ap->ends[i], t->done, ap->why[i]);
	return r < 0 ? r : review_record(m, &w, err);
}

static int record_undone(struct ward_review_meant *m, const struct ward_undo *u,
	const struct told *t, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf lines = {.max = LINES_MAX};
	const struct review_record w = {
		.verb = "undone", .changes = t->n_done, .left = t->n_left, .lines = &lines};
	for (size_t i = 0; i < m->applied.n; i++) {
		const struct ward_done *d = &m->applied.v[i];
		if (u->ends[i] != WARD_APPLY_NONE)
			review_record_line(&lines, &d->c, d->c.content, d->before, u->ends[i],
				t->done, u->why[i]);
	}
	return review_record(m, &w, err);
}

int review_apply(const struct review_args *a, struct ward_review_meant *m, struct ward_err *err)
{
	const size_t n = m->changes.n ? m->changes.n : 1;
	const uint64_t keep_ns = ward_policy_settings(m->place.policy)->review_keep_ns;
	struct ward_apply ap = {.dir_fd = m->dir_fd,
		.changes = &m->changes,
		.dry = a->dry,
		.by = getuid(),
		.until_s = now_s() + keep_ns / WARD_NS_PER_SEC};
	struct told t = {.done = "applied", .n_deep = m->changes.n_deep, .dry = a->dry};
	struct ward_as_owner as;
	if (m->discarded)
		return ward_err_set(
			err, -ENOENT, "what session %s staged has been discarded", m->session);
	memcpy(ap.roots, m->roots, sizeof(ap.roots));
	memcpy(ap.manifest, m->digest, sizeof(ap.manifest));
	if (a->manifest && strcmp(a->manifest, m->digest) != 0)
		return ward_err_set(err, -EINVAL,
			"what is staged is not what --manifest says: it is %s", m->digest);
	ward_cleanup_free bool *wanted = calloc(n, sizeof(*wanted));
	ward_cleanup_free bool *outside = calloc(n, sizeof(*outside));
	ap.outside = outside;
	ap.ends = calloc(n, sizeof(*ap.ends));
	ap.why = calloc(n, sizeof(*ap.why));
	int r = wanted && outside && ap.ends && ap.why ? 0 : ward_err_sys(err, -ENOMEM, "apply");
	if (r == 0) {
		choose(a, m, &ap, wanted, outside);
		r = a->dry ? 0 : begin_record(m, "apply", wanted, m->changes.n, err);
	}
	if (r == 0)
		r = ward_as_owner_begin(&m->place.id, &as, err);
	if (r == 0) {
		r = ward_apply(&ap, wanted, err);
		ward_as_owner_end(&as);
	}
	for (size_t i = 0; r == 0 && i < m->changes.n; i++)
		tell(&t, m->changes.v[i].path, ap.ends[i], ap.why[i]);
	if (r == 0)
		r = told(&t);
	if (r >= 0 && !a->dry) {
		int recorded = record_applied(m, &ap, &t, err);
		r = recorded < 0 ? recorded : r;
	}
	free(ap.ends);
	free(ap.why);
	return r;
}

int review_undo(const struct review_args *a, struct ward_review_meant *m, struct ward_err *err)
{
	const size_t n = m->applied.n ? m->applied.n : 1;
	struct ward_undo u = {.dir_fd = m->dir_fd, .applied = &m->applied, .dry = a->dry};
	struct told t = {.done = "undone", .dry = a->dry};
	struct ward_as_owner as;
	memcpy(u.roots, m->undo_roots, sizeof(u.roots));
	if (!m->applied.n)
		return ward_err_set(
			err, -ENOENT, "nothing of session %s has been applied", m->session);
	ward_cleanup_free bool *wanted = calloc(n, sizeof(*wanted));
	u.ends = calloc(n, sizeof(*u.ends));
	u.why = calloc(n, sizeof(*u.why));
	int r = wanted && u.ends && u.why ? 0 : ward_err_sys(err, -ENOMEM, "undo");
	for (size_t i = 0; r == 0 && i < m->applied.n; i++) {
		bool itself;
		wanted[i] = review_is_meant(a, &m->applied.v[i].c, &itself);
	}
	if (r == 0 && !a->dry)
		r = begin_record(m, "undo", wanted, m->applied.n, err);
	if (r == 0)
		r = ward_as_owner_begin(&m->place.id, &as, err);
	if (r == 0) {
		r = ward_undo(&u, wanted, err);
		ward_as_owner_end(&as);
	}
	for (size_t i = 0; r == 0 && i < m->applied.n; i++)
		tell(&t, m->applied.v[i].c.path, u.ends[i], u.why[i]);
	if (r == 0)
		r = told(&t);
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
	if (!wanted)
		return ward_err_sys(err, -ENOMEM, "discard");
	for (size_t i = 0; i < m->changes.n; i++) {
		bool itself;
		wanted[i] = review_is_meant(a, &m->changes.v[i], &itself);
		w.changes += wanted[i];
	}
	if (!w.changes)
		return ward_err_set(err, -ENOENT, "no change is named so");
	int r = review_record(m, &w, err);
	if (r == 0)
		r = ward_as_owner_begin(&m->place.id, &as, err);
	if (r < 0)
		return r;
	r = ward_changes_discard(m->dir_fd, &m->changes, wanted, err);
	ward_as_owner_end(&as);
	if (r == 0)
		ward_outf("%zu discarded\n", w.changes);
	return r;
}

int review_discard(const struct review_args *a, struct ward_review_meant *m, struct ward_err *err)
{
	const struct review_record w = {.verb = "discard", .changes = m->changes.n};
	if (a->n_paths)
		return discard_some(a, m, err);
	int r = review_record(m, &w, err);
	return r < 0 ? r : ward_reviews_discard(ward_store_dir(m->store), m->session, err);
}
