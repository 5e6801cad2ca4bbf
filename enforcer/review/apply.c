/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Changes of the project in their order. What is displaced is kept (applied.h).
 *
 *   1. removals of files               what goes makes room
 *   2. directories removed, made and renamed, files renamed (shifts.h)
 *   3. content                         all is written; then RENAME_EXCHANGE or RENAME_NOREPLACE
 *   4. further names of files, permissions of directories
 *
 * Before each part that displaces something, what was written so far is brought to disk with one
 * syncfs(2) for each file system, and once more at the end.
 */
#include "enforcer/review/apply.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"
#include "enforcer/base/fd.h"
#include "enforcer/review/part.h"
#include "enforcer/review/recover.h"
#include "enforcer/review/units.h"

typedef void (*one_fn)(struct ward_one *o);

static void do_one(struct ward_applying *w, size_t i, one_fn fn)
{
	struct ward_one o;
	if (ward_one_begin(w, i, &o) == 0)
		fn(&o);
}

/* --- which part --- */

static bool is_file_gone(const struct ward_change *c)
{
	return c->kind == WARD_CHANGE_REMOVED && !S_ISDIR(c->type);
}

bool ward_apply_has_content(const struct ward_change *c)
{
	return !S_ISDIR(c->type) &&
	       (c->kind == WARD_CHANGE_ADDED || c->kind == WARD_CHANGE_MODIFIED);
}

static bool is_further(const struct ward_change *c)
{
	return c->kind == WARD_CHANGE_LINKED;
}

static bool is_mode(const struct ward_change *c)
{
	return c->kind == WARD_CHANGE_MODE;
}

static void do_all(struct ward_applying *w, const bool *wanted,
	bool (*is)(const struct ward_change *c), one_fn fn)
{
	for (size_t i = 0; i < w->a->changes->n; i++)
		if (wanted[i] && is(&w->a->changes->v[i]))
			do_one(w, i, fn);
}

/* Those that were made ready. False: nothing is. */
static bool do_ready(struct ward_applying *w, one_fn fn)
{
	bool any = false;
	for (size_t i = 0; i < w->a->changes->n; i++) {
		if (!w->ready[i])
			continue;
		any = true;
		if (fn)
			do_one(w, i, fn);
	}
	return any;
}

/* --- to disk --- */

int ward_sync_all(const int *roots, size_t n, int undo_fd)
{
	dev_t seen[17];
	size_t n_seen = 0;
	for (size_t i = 0; i <= n && i < 17; i++) {
		int at = i < n ? roots[i] : undo_fd;
		struct stat st;
		bool again = false;
		if (at < 0)
			continue;
		if (fstat(at, &st) < 0)
			return -errno;
		for (size_t k = 0; k < n_seen; k++)
			again = again || seen[k] == st.st_dev;
		if (again)
			continue;
		seen[n_seen++] = st.st_dev;
		ward_cleanup_fd int fd = openat(at, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (fd < 0 || syncfs(fd) < 0)
			return -errno;
	}
	return 0;
}

static int to_disk(struct ward_applying *w)
{
	int r = ward_undo_log_error(&w->log);
	return r < 0 ? r : ward_sync_all(w->a->roots, 16, w->undo);
}

/* --- in order --- */

bool ward_apply_is_settled(const struct ward_applying *w, size_t i)
{
	return w->a->ends[i] == WARD_APPLY_DONE || w->a->ends[i] == WARD_APPLY_ALREADY;
}

static bool failed(enum ward_apply_end e)
{
	return e == WARD_APPLY_CONFLICT || e == WARD_APPLY_REFUSED || e == WARD_APPLY_FAILED;
}

/* Moves were announced together: those that did not come about are taken back. */
static void take_back(struct ward_applying *w)
{
	for (size_t i = 0; !w->a->dry && i < w->a->changes->n; i++)
		if (w->number[i] && ward_apply_names_has(&w->a->changes->v[i]) &&
			w->a->ends[i] != WARD_APPLY_DONE)
			ward_undo_log_off(&w->log, w->number[i]);
}

static void drop(struct ward_one *o)
{
	o->w->ready[o->i] = false;
	ward_one_drop(o);
	ward_undo_log_off(&o->w->log, o->w->number[o->i]);
}

static void stop(struct ward_one *o)
{
	struct ward_apply *a = o->w->a;
	drop(o);
	a->ends[o->i] = WARD_APPLY_CONFLICT;
	snprintf(a->why[o->i], sizeof(a->why[o->i]),
		"somebody changed at this moment what it goes together with");
}

/* Nothing of a unit stays done, or is still done, of which a member failed. */
static void settle_failed(struct ward_applying *w, uint32_t unit)
{
	const struct ward_review_changes *c = w->a->changes;
	for (size_t k = c->n; k-- > 0;) {
		if (w->unit[k] != unit)
			continue;
		if (w->ready[k])
			do_one(w, k, stop);
		else if (w->number[k] && w->a->ends[k] == WARD_APPLY_DONE &&
			 (ward_apply_has_content(&c->v[k]) || is_file_gone(&c->v[k])))
			do_one(w, k, ward_one_back);
	}
}

/* In the order of their kinds. */
static void put_all(struct ward_applying *w, const bool *wanted)
{
	const struct ward_review_changes *c = w->a->changes;
	uint32_t last = 0;
	/* Since the units were looked at, somebody may have been there. */
	for (size_t i = 0; i < c->n; i++)
		if (wanted[i] && w->unit[i] && w->unit[i] != last && failed(w->a->ends[i])) {
			last = w->unit[i];
			settle_failed(w, last);
		}
	/* Another name of a file is displaced before the file itself is written to. */
	for (unsigned order = 0; order < 2 * WARD_UNIT_ORDERS; order++) {
		if (order % 2 == 0)
			ward_apply_content_put(w, order / 2);
		for (size_t i = 0; i < c->n; i++) {
			if (!w->ready[i] || ward_unit_order(c->v[i].path) != order / 2 ||
				w->in_place[i] != (order % 2 == 1))
				continue;
			do_one(w, i, ward_one_put);
			if (w->unit[i] && failed(w->a->ends[i]))
				settle_failed(w, w->unit[i]);
		}
	}
}

/* -errno: it could not go on, and what was ready has been given up. */
static int in_order(struct ward_applying *w, const bool *wanted)
{
	bool any = false;
	ward_undo_log_hold(&w->log, true);
	do_all(w, wanted, is_file_gone, ward_one_look_gone);
	int r = ward_apply_names_plan(w, wanted);
	ward_undo_log_hold(&w->log, false);
	for (size_t i = 0; i < w->a->changes->n; i++)
		any = any || w->number[i];
	r = r == 0 && any ? to_disk(w) : r;
	if (r == 0) {
		(void)do_ready(w, ward_one_remove);
		ward_apply_names_go(w);
	}
	take_back(w);
	if (r == 0) {
		r = ward_apply_content_write(w, wanted);
		r = r == 0 && do_ready(w, NULL) ? to_disk(w) : r;
	}
	if (r == 0)
		put_all(w, wanted);
	else
		(void)do_ready(w, drop);
	if (r == 0) {
		do_all(w, wanted, is_further, ward_one_link);
		for (size_t i = w->a->changes->n; i-- > 0;)
			if (wanted[i] && is_mode(&w->a->changes->v[i]))
				do_one(w, i, ward_one_mode);
	}
	ward_apply_names_end(w);
	return r;
}

/* --- units --- */

/* A lock of git's means that a program of the host is at work there. */
static bool is_locked(struct ward_applying *w, size_t i)
{
	const struct ward_change *c = &w->a->changes->v[i];
	char index[PATH_MAX];
	const char *name = NULL;
	const size_t git = ward_unit_git(c->path);
	if (!git || w->a->roots[c->root] < 0)
		return false;
	snprintf(index, sizeof(index), "%.*sindex", (int)git, c->path);
	ward_cleanup_fd int top = ward_host_parent(w->a->roots[c->root], index, &name);
	if (top >= 0 && (ward_unit_locked(top, "index") || ward_unit_locked(top, "HEAD") ||
				ward_unit_locked(top, "packed-refs")))
		return true;
	ward_cleanup_fd int dir = ward_host_parent(w->a->roots[c->root], c->path, &name);
	return dir >= 0 && ward_unit_locked(dir, name);
}

/* All of the unit is kept back, because of the change `of`. */
static void keep_back(struct ward_applying *w, bool *wanted, size_t of, const char *why)
{
	struct ward_apply *a = w->a;
	for (size_t i = 0; i < a->changes->n; i++) {
		if (w->unit[i] != w->unit[of] || !wanted[i])
			continue;
		wanted[i] = false;
		a->ends[i] = WARD_APPLY_REFUSED;
		snprintf(a->why[i], sizeof(a->why[i]), "%s (%.60s): they go together", why,
			a->changes->v[of].path);
	}
}

static void use_undo(struct ward_applying *w, int undo)
{
	ward_swap_place_forget(&w->place);
	ward_swap_place_init(&w->place, undo);
	w->undo = undo;
}

/* Which units can be done as a whole? The others are kept back before anything is done. */
static int settle_units(struct ward_applying *w, bool *wanted)
{
	struct ward_apply *a = w->a;
	const size_t n = a->changes->n;
	uint32_t most = 0;
	for (size_t i = 0; i < n; i++)
		most = w->unit[i] > most ? w->unit[i] : most;
	ward_cleanup_free bool *any = calloc((size_t)most + 1, sizeof(*any));
	ward_cleanup_free bool *look = calloc(n ? n : 1, sizeof(*look));
	if (!any || !look)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		any[w->unit[i]] = any[w->unit[i]] || (wanted[i] && w->unit[i]);
	for (size_t i = 0; i < n; i++) {
		if (!any[w->unit[i]])
			continue;
		if (!wanted[i])
			keep_back(w, wanted, i, "a part of it is not applied");
		else if (is_locked(w, i))
			keep_back(w, wanted, i, "git is at work in the project");
		any[w->unit[i]] = any[w->unit[i]] && wanted[i];
	}
	/* As a dry run would do it. */
	const bool dry = a->dry;
	const int undo = w->undo;
	for (size_t i = 0; i < n; i++)
		look[i] = wanted[i] && w->unit[i];
	a->dry = true;
	use_undo(w, -1);
	int r = in_order(w, look);
	a->dry = dry;
	use_undo(w, undo);
	w->kept_known = false;
	for (size_t i = 0; r == 0 && i < n; i++)
		if (look[i] && failed(a->ends[i]) && wanted[i])
			keep_back(w, wanted, i, a->why[i]);
	for (size_t i = 0; i < n; i++)
		if (look[i] && wanted[i])
			a->ends[i] = WARD_APPLY_NONE;
	return r;
}

/* --- begun and ended --- */

static int begin(struct ward_applying *w, struct ward_err *err)
{
	struct ward_apply *a = w->a;
	struct ward_applied *done = &w->done;
	w->undo = ward_applied_dir(a->place_fd, true);
	if (w->undo < 0)
		return ward_err_sys(err, w->undo, "the place of what is displaced");
	int r = ward_applied_read(w->undo, done, err);
	if (r < 0 && r != -ENOENT)
		return r;
	r = ward_undo_log_open(w->undo, a->changes->roots, a->changes->n_roots, &w->log);
	if (r == 0)
		r = ward_applied_recover(w->undo, a->roots, done, &w->log);
	if (r < 0)
		return ward_err_sys(err, r, "the log of what is applied");
	r = ward_applied_know_again(a->changes, done, false);
	if (r < 0)
		return ward_err_sys(err, r, "apply");
	w->next = (uint32_t)done->n + 1;
	struct ward_step step = {
		.begun_ns = ward_clock_real_ns(), .until_s = a->until_s, .uid = a->by};
	memcpy(step.manifest, a->manifest, sizeof(step.manifest));
	ward_undo_log_begin(&w->log, &step);
	return 0;
}

static int begin_dry(struct ward_applying *w, struct ward_err *err)
{
	int r = ward_applied_of(w->a->place_fd, &w->done, err);
	if (r == 0 && (r = ward_applied_know_again(w->a->changes, &w->done, false)) < 0)
		r = ward_err_sys(err, r, "apply");
	return r;
}

int ward_apply(struct ward_apply *a, const bool *wanted, struct ward_err *err)
{
	struct ward_applying w = {
		.a = a, .undo = -1, .log = {.fd = -1}, .next = 1, .place = {.dir = -1}};
	const size_t n = a->changes->n ? a->changes->n : 1;
	/* Two at once would each find what the other one wrote beside. */
	if (ward_fd_lock(a->place_fd, LOCK_EX, 1) < 0)
		return ward_err_set(err, -EBUSY, "another apply of this session is under way");
	w.number = calloc(n, sizeof(*w.number));
	w.ready = calloc(n, sizeof(*w.ready));
	w.in_place = calloc(n, sizeof(*w.in_place));
	w.unit = calloc(n, sizeof(*w.unit));
	w.came = calloc(n, sizeof(*w.came));
	ward_cleanup_free bool *still = calloc(n, sizeof(*still));
	int r = w.number && w.ready && w.in_place && w.unit && w.came && still
			? ward_units_find(a->changes, a->outside, w.unit)
			: -ENOMEM;
	if (r == 0)
		r = ward_moved_find(a->changes, &w.moved);
	if (r < 0)
		(void)ward_err_sys(err, r, "apply");
	if (r == 0)
		r = a->dry ? begin_dry(&w, err) : begin(&w, err);
	if (r == 0) {
		use_undo(&w, w.undo);
		memcpy(still, wanted, a->changes->n * sizeof(*still));
		r = settle_units(&w, still);
		if (r == 0)
			r = in_order(&w, still);
		if (!a->dry) {
			ward_undo_log_end(&w.log);
			int last = to_disk(&w);
			r = r < 0 ? r : last;
		}
		if (r < 0)
			r = ward_err_sys(err, r,
				"the apply could not be brought to disk; run it again to finish it");
	}
	if (!a->dry)
		ward_part_drop(a->dir_fd);
	ward_undo_log_close(&w.log);
	ward_swap_place_forget(&w.place);
	if (w.undo >= 0)
		close(w.undo);
	ward_moved_clear(&w.moved);
	free(w.number);
	free(w.ready);
	free(w.in_place);
	free(w.kept);
	ward_applied_clear(&w.done);
	free(w.unit);
	free(w.came);
	(void)flock(a->place_fd, LOCK_UN);
	return r;
}
