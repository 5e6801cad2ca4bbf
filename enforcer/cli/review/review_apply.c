/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs review apply. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"
#include "enforcer/base/out.h"
#include "enforcer/cli/review/review_ask.h"
#include "enforcer/cli/base/say.h"
#include "enforcer/cli/review/review_cli.h"
#include "enforcer/cli/review/review_evidence.h"
#include "enforcer/cli/review/review_record.h"
#include "enforcer/cli/review/review_told.h"
#include "enforcer/session/owner/as_owner.h"

/* One apply. */
struct applying {
	struct ward_apply ap;
	bool *wanted, *outside;	 /* owned */
	struct ward_part *parts; /* owned */
	char unsigned_why[128];	 /* of what the policy asks about: signatures that miss; "": none */
};

/* Those that are asked for, less those that may not be: what becomes of them stands in ends. */
static void choose(
	const struct review_args *a, const struct ward_review_meant *m, struct applying *w)
{
	struct ward_apply *ap = &w->ap;
	for (size_t i = 0; i < m->changes.n; i++) {
		const struct ward_change *c = &m->changes.v[i];
		char rule[128];
		bool itself;
		w->wanted[i] = review_is_meant(a, c, &itself);
		const char *flag = ward_review_flag(m, c);
		/* What has to be named itself is no part of a repository's state. */
		w->outside[i] = *flag != 0;
		flag = w->wanted[i] && !itself && !a->interactive ? flag : "";
		const bool elsewhere = m->roots[c->root] < 0 || m->another[c->root] ||
				       (c->from && m->another[c->from_root]);
		int error = w->wanted[i] ? ward_review_decide(m, c, rule) : 0;
		if (w->wanted[i] && elsewhere) {
			snprintf(ap->why[i], sizeof(ap->why[i]),
				"it is of another directory than this project's");
		} else if (error) {
			snprintf(ap->why[i], sizeof(ap->why[i]),
				"today's policy refuses it (%.80s)", rule);
		} else if (w->wanted[i] && m->asked[i] && *w->unsigned_why) {
			snprintf(ap->why[i], sizeof(ap->why[i]), "%.120s", w->unsigned_why);
		} else if (*flag) {
			snprintf(ap->why[i], sizeof(ap->why[i]), "%s: name it itself to apply it",
				flag);
		} else {
			continue;
		}
		ap->ends[i] = WARD_APPLY_REFUSED;
		w->wanted[i] = false;
	}
}

/* What the log of undo has of each change: the content that was displaced. */
static int record_applied(struct ward_review_meant *m, const struct ward_apply *ap,
	const struct review_told *t, struct ward_err *err)
{
	const struct ward_review_changes *c = &m->changes;
	ward_cleanup(ward_buf_clear) struct ward_buf lines = {.max = REVIEW_LINES_MAX};
	ward_cleanup(ward_applied_clear) struct ward_applied done = {.v = NULL};
	ward_cleanup_free const char **before = calloc(c->n ? c->n : 1, sizeof(*before));
	const struct review_record w = {
		.verb = "applied", .changes = t->n_done, .left = t->n_left, .lines = &lines};
	int r = before ? ward_applied_of(m->place_fd, &done, err)
		       : ward_err_sys(err, -ENOMEM, "apply");
	for (size_t i = 0; r == 0 && i < done.n; i++) {
		const struct ward_change *of =
			ward_changes_find(c, done.v[i].c.root, done.v[i].c.path, done.v[i].c.kind);
		if (of && !done.v[i].off)
			before[of - c->v] = done.v[i].before;
	}
	for (size_t i = 0; r == 0 && i < c->n; i++) {
		const struct ward_part *part = &ap->parts[i];
		const char *after = part->kind == WARD_PART_NONE ? c->v[i].content : part->content;
		if (ap->ends[i] != WARD_APPLY_NONE)
			review_record_line(&lines, m->trees, &c->v[i], part,
				before[i] ? before[i] : "", after, ap->ends[i], t->done,
				ap->why[i]);
	}
	return r < 0 ? r : review_record(m, &w, err);
}

/* Where answers take signatures, a change that a rule `ask` covers takes them, too. */
static int look_at_asked(const struct review_args *a, const struct ward_review_meant *m,
	struct applying *w, struct ward_err *err)
{
	ward_cleanup(review_evidence_clear) struct review_evidence e = {.checks = NULL};
	struct ward_err why = WARD_ERR_INIT;
	bool asked = false;
	for (size_t i = 0; i < m->changes.n; i++)
		asked = asked || m->asked[i];
	if (!asked || !ward_policy_settings(m->place.policy)->approvers_needed)
		return 0;
	/* A signature is of what is staged, as a whole. */
	if (a->interactive || a->merge) {
		snprintf(w->unsigned_why, sizeof(w->unsigned_why),
			"it takes signatures, and --interactive and --merge apply content that "
			"nobody signed");
		return 0;
	}
	int r = review_evidence_read(m, &e, err);
	if (r == 0 && review_evidence_signed(a, m, &e, &why) < 0)
		snprintf(w->unsigned_why, sizeof(w->unsigned_why), "%.120s", why.text);
	return r;
}

static int begin(const struct review_args *a, struct ward_review_meant *m, struct applying *w,
	struct ward_err *err)
{
	const size_t n = m->changes.n ? m->changes.n : 1;
	const uint64_t keep_ns = ward_policy_settings(m->place.policy)->review_keep_ns;
	w->ap = (struct ward_apply){.dir_fd = m->dir_fd,
		.place_fd = m->place_fd,
		.changes = &m->changes,
		.dry = a->dry,
		.by = getuid(),
		.until_s = (ward_clock_real_ns() + keep_ns) / WARD_NS_PER_SEC};
	if (m->discarded)
		return ward_err_set(
			err, -ENOENT, "what session %s staged has been discarded", m->session);
	if (a->manifest && strcmp(a->manifest, m->digest) != 0)
		return ward_err_set(err, -EINVAL,
			"what is staged is not what --manifest says: it is %s", m->digest);
	int r = review_evidence_allows(a, m, err);
	if (r == 0)
		r = look_at_asked(a, m, w, err);
	if (r < 0)
		return r;
	memcpy(w->ap.roots, m->roots, sizeof(w->ap.roots));
	memcpy(w->ap.manifest, m->digest, sizeof(w->ap.manifest));
	w->wanted = calloc(n, sizeof(*w->wanted));
	w->outside = calloc(n, sizeof(*w->outside));
	w->parts = calloc(n, sizeof(*w->parts));
	w->ap.ends = calloc(n, sizeof(*w->ap.ends));
	w->ap.why = calloc(n, sizeof(*w->ap.why));
	w->ap.outside = w->outside;
	w->ap.parts = w->parts;
	return w->wanted && w->outside && w->parts && w->ap.ends && w->ap.why
		       ? 0
		       : ward_err_sys(err, -ENOMEM, "apply");
}

static void clear(struct applying *w)
{
	free(w->wanted);
	free(w->outside);
	free(w->parts);
	free(w->ap.ends);
	free(w->ap.why);
}

/* What the host changed, too, comes with that. */
static void merge(const struct ward_review_meant *m, struct applying *w)
{
	for (size_t i = 0; i < m->changes.n; i++) {
		if (!w->wanted[i])
			continue;
		int r = ward_merge_try(m->dir_fd, m->roots, &m->changes.v[i], w->ap.dry,
			&w->parts[i], w->ap.why[i]);
		if (r >= 0)
			continue;
		w->wanted[i] = false;
		w->ap.ends[i] = WARD_APPLY_CONFLICT;
	}
}

/* What the answers leave; then all of it is done. As the owner. */
static int do_it(const struct review_args *a, struct ward_review_meant *m, struct applying *w,
	struct ward_err *err)
{
	struct ward_as_owner as;
	int r = 0;
	if (a->interactive && (r = ward_as_owner_begin(&m->place.id, &as, err)) == 0) {
		r = review_ask(m, &w->ap, w->wanted, w->parts, err);
		ward_as_owner_end(&as);
	}
	if (a->merge && (r = ward_as_owner_begin(&m->place.id, &as, err)) == 0) {
		merge(m, w);
		ward_as_owner_end(&as);
	}
	if (r == 0 && !a->dry)
		r = review_told_begin(m, "apply", w->wanted, m->changes.n, err);
	if (r == 0)
		r = ward_as_owner_begin(&m->place.id, &as, err);
	if (r < 0)
		return r;
	r = ward_apply(&w->ap, w->wanted, err);
	ward_as_owner_end(&as);
	return r;
}

/* A commit has files, too: what waits for its name comes with the next checkout. */
static void tell_of_commits(const struct ward_review_meant *m, const struct applying *w)
{
	bool commits = false, held = false;
	for (size_t i = 0; i < m->changes.n; i++) {
		const bool state = ward_change_is_git_state(m->changes.v[i].path);
		commits = commits || (state && w->ap.ends[i] == WARD_APPLY_DONE);
		held = held || (!state && w->outside[i] && w->ap.ends[i] == WARD_APPLY_REFUSED);
	}
	if (commits && held && !w->ap.dry)
		ward_sayf(
			"the session's commits may have the files that were not applied: 'git checkout' "
			"and 'git push' take them from there. 'git log -p' shows what they have");
}

/* What a person would type next. */
static void tell_of_merges(
	const struct review_args *a, const struct ward_review_meant *m, const struct applying *w)
{
	for (size_t i = 0; i < m->changes.n && !a->merge; i++)
		if (w->ap.ends[i] == WARD_APPLY_CONFLICT && m->changes.v[i].kept) {
			ward_sayf(
				"'wardfs review apply --merge' puts the changes of the host and of the "
				"session together, in files where they lie apart");
			return;
		}
}

int review_apply(const struct review_args *a, struct ward_review_meant *m, struct ward_err *err)
{
	struct review_told t = {.done = "applied", .n_deep = m->changes.n_deep, .dry = a->dry};
	struct applying w = {.wanted = NULL};
	ward_cleanup_free bool *named = calloc(a->n_paths + 1, sizeof(*named));
	if (!named)
		return ward_err_sys(err, -ENOMEM, "apply");
	int r = begin(a, m, &w, err);
	if (r == -EPERM) {
		ward_say(err->text);
		clear(&w);
		return 1;
	}
	if (r == 0) {
		for (size_t i = 0; i < m->changes.n; i++)
			review_named_note(a, &m->changes.v[i], named);
		t.n_unnamed = review_named_tell(a, named, "staged");
		if (a->n_paths && t.n_unnamed == a->n_paths) {
			clear(&w);
			return 1;
		}
		choose(a, m, &w);
		r = do_it(a, m, &w, err);
	}
	for (size_t i = 0; r == 0 && i < m->changes.n; i++)
		review_tell(&t, m->changes.v[i].path, w.ap.ends[i], w.ap.why[i]);
	if (r == 0) {
		tell_of_commits(m, &w);
		tell_of_merges(a, m, &w);
		r = review_told_end(&t);
	}
	if (r >= 0 && !a->dry) {
		int recorded = record_applied(m, &w.ap, &t, err);
		r = recorded < 0 ? recorded : r;
	}
	clear(&w);
	return r;
}
