/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes back what was applied: the last apply first, and of each what was done last first. A file
 * of the project goes only if it is what the apply put there, and what comes is what it displaced.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/review/content.h"
#include "enforcer/review/in_place.h"
#include "enforcer/review/recover.h"
#include "enforcer/review/undo.h"
#include "enforcer/review/units.h"

#define LOST "what it displaced is missing or has changed"

void ward_back_end(struct ward_back *b, enum ward_apply_end how, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	vsnprintf(b->w->u->why[b->i], sizeof(b->w->u->why[b->i]), fmt, args);
	va_end(args);
	b->w->u->ends[b->i] = how;
}

void ward_back_errno(struct ward_back *b, int r, const char *what)
{
	ward_back_end(b,
		r == -ENOENT || r == -ENOTDIR || r == -ELOOP ? WARD_APPLY_CONFLICT
							     : WARD_APPLY_FAILED,
		"%s: %s", what, strerror(-r));
}

/* It is as before: at dir and name stands what stood there. */
void ward_back_undone(struct ward_back *b, int dir, const char *name)
{
	struct ward_review_base again;
	mode_t type;
	bool there = name && ward_host_stat_at(dir, name, &again, &type) == 0;
	struct ward_done *d = &b->w->u->applied->v[b->i];
	d->undone = true;
	d->has_again = there;
	if (there)
		d->again = again;
	ward_undo_log_undone(&b->w->log, (uint32_t)b->i + 1, there ? &again : NULL);
	ward_back_end(b, WARD_APPLY_DONE, "undone");
}

/* The same, of an undo that was ended before it could say so, or of somebody else. */
void ward_back_already(struct ward_back *b, int dir, const char *name, const char *why)
{
	if (!b->w->u->dry)
		ward_back_undone(b, dir, name);
	ward_back_end(b, WARD_APPLY_ALREADY, "%s", why);
}

bool ward_back_dry(struct ward_back *b)
{
	if (b->w->u->dry)
		ward_back_end(b, WARD_APPLY_DONE, "would be undone");
	return b->w->u->dry;
}

bool ward_back_same(const struct ward_review_base *a, const struct ward_review_base *b)
{
	return a->dev == b->dev && a->ino == b->ino && a->btime_ns == b->btime_ns;
}

/* A file that was put back from a copy has another inode, and all else is the same. */
bool ward_back_stood(const struct ward_back *b, const struct ward_review_base *now, mode_t type)
{
	const struct ward_review_base *was = &b->d->c.base;
	if (type != b->d->c.type)
		return false;
	if (S_ISDIR(type) || !b->s.elsewhere)
		return ward_back_same(now, was);
	return now->mode == was->mode && now->size == was->size && now->mtime_ns == was->mtime_ns &&
	       now->uid == was->uid && now->gid == was->gid;
}

/* --- content --- */

/* 1: what was displaced is there, as it was. */
static int is_kept(const struct ward_back *b)
{
	char digest[WARD_REVIEW_DIGEST_SIZE];
	struct ward_review_base now;
	mode_t type;
	int r = ward_host_stat_at(b->s.keep, b->s.kept, &now, &type);
	if (r < 0 || type != b->d->c.type)
		return 0;
	const bool same = ward_back_same(&now, &b->d->c.base);
	/* By its other names somebody may have written to it: the name comes back. */
	if (!b->d->in_place && same && b->d->c.base.nlink > 1)
		return 1;
	if ((!S_ISLNK(type) && now.mode != b->d->c.base.mode) ||
		(!b->s.elsewhere && !b->d->in_place && !same))
		return 0;
	r = ward_content_digest(b->s.keep, b->s.kept, type, digest);
	return r == 0 && strcmp(digest, b->d->before) == 0;
}

/* What stands at the name: its content is "" where it cannot be read, or is of another type. */
struct standing {
	struct ward_review_base now;
	mode_t type;
	char content[WARD_REVIEW_DIGEST_SIZE];
	int error; /* of the look at it */
};

static void look(const struct ward_back *b, struct standing *ret)
{
	ret->content[0] = '\0';
	ret->error = ward_host_stat_at(b->s.dir, b->s.name, &ret->now, &ret->type);
	if (ret->error == 0 && ret->type == b->d->c.type &&
		ward_content_digest(b->s.dir, b->s.name, ret->type, ret->content) < 0)
		ret->content[0] = '\0';
}

/* It has this content and these permissions. */
static bool has(
	const struct ward_back *b, const struct standing *s, const char *content, mode_t mode)
{
	return s->error == 0 && s->type == b->d->c.type &&
	       (S_ISLNK(s->type) || s->now.mode == mode) && *s->content &&
	       strcmp(s->content, content) == 0;
}

/* What an undo that was ended had taken out, and not removed yet. */
static void drop_taken(const struct ward_back *b)
{
	char digest[WARD_REVIEW_DIGEST_SIZE];
	if (b->s.elsewhere &&
		ward_content_digest(b->s.dir, b->s.beside, b->d->c.type, digest) == 0 &&
		strcmp(digest, b->d->c.content) == 0)
		(void)unlinkat(b->s.dir, b->s.beside, 0);
}

/*
 * Where a kept file is a copy, it is written beside first. What lies there before it came to the
 * name is an unfinished copy.
 */
static int bring_near(const struct ward_back *b)
{
	if (!b->s.elsewhere)
		return 0;
	(void)unlinkat(b->s.dir, b->s.beside, 0);
	return ward_content_copy(
		b->s.keep, b->s.kept, b->d->c.type, b->s.dir, b->s.beside, &b->d->c.base);
}

void ward_back_fail(struct ward_back *b, int r)
{
	if (r == -ESTALE)
		ward_back_end(b, WARD_APPLY_CONFLICT,
			"somebody changed it at this moment: it was put back");
	else if (r == -EBUSY)
		ward_back_end(b, WARD_APPLY_FAILED,
			"somebody changed it at this moment, and what was there is %s",
			b->s.elsewhere ? b->s.beside : "kept");
	else if (r == -EEXIST)
		ward_back_end(b, WARD_APPLY_CONFLICT, "the project has another file of this name");
	else
		ward_back_errno(b, r, "could not be undone");
	if (b->s.elsewhere && r != -EBUSY)
		(void)unlinkat(b->s.dir, b->s.beside, 0);
}

/* The file itself gets what it had. */
static void back_in_place(struct ward_back *b, const struct ward_review_base *now)
{
	if (!is_kept(b)) {
		ward_back_end(b, WARD_APPLY_FAILED, LOST);
		return;
	}
	if (ward_back_dry(b))
		return;
	int r = ward_in_place_prepare_back(&b->s);
	/* One that was exchanged, where that cannot be done any more. */
	if (r == 0 && !b->d->in_place) {
		ward_undo_log_in_place(&b->w->log, (uint32_t)b->i + 1);
		ward_undo_log_ready(&b->w->log, (uint32_t)b->i + 1, now, b->d->c.content);
		r = ward_undo_log_sync(&b->w->log);
	}
	if (r == 0)
		r = ward_in_place_write(&b->s, now, true);
	if (r < 0) {
		/* Of one that is half written both copies stay: the next run puts it right. */
		ward_back_errno(b, r, "could not be undone");
		return;
	}
	/* Said first: nothing else tells that a link that was made anew is the old one. */
	ward_back_undone(b, b->s.dir, b->s.name);
	if (ward_undo_log_error(&b->w->log) < 0)
		return;
	ward_in_place_end(&b->s);
	(void)unlinkat(b->s.keep, b->s.kept, 0);
}

/*
 * What was displaced comes to the name again: in the place of `now`, or where nothing is (NULL).
 * kept: whether it is there has been looked at.
 */
static void bring_back(struct ward_back *b, const struct ward_review_base *now, bool kept)
{
	if (!kept && !is_kept(b)) {
		ward_back_end(b, WARD_APPLY_FAILED, LOST);
		return;
	}
	if (ward_back_dry(b))
		return;
	int r = bring_near(b);
	if (r == 0)
		r = now ? ward_swap_exchange(&b->s, now) : ward_swap_add(&b->s);
	if (r == -EINVAL && now) {
		if (b->s.elsewhere)
			(void)unlinkat(b->s.dir, b->s.beside, 0);
		if (!b->w->shared)
			back_in_place(b, now);
		return;
	}
	if (r < 0) {
		ward_back_fail(b, r);
		return;
	}
	/* What came out is what was applied: the store of the session has it. */
	(void)unlinkat(b->s.keep, b->s.kept, 0);
	ward_back_undone(b, b->s.dir, b->s.name);
}

static void back_changed(struct ward_back *b)
{
	struct standing at;
	if (ward_back_later_as_was(b) && is_kept(b)) {
		(void)ward_back_dry(b);
		return;
	}
	look(b, &at);
	/* Where only attributes changed, the inode tells. */
	const bool came = at.error == 0 && b->d->has_after && !b->d->in_place &&
			  ward_back_same(&at.now, &b->d->after) && is_kept(b);
	if (!came && has(b, &at, b->d->before, b->d->c.base.mode)) {
		drop_taken(b);
		ward_back_already(b, b->s.dir, b->s.name, "it is as it was");
		return;
	}
	if (!has(b, &at, b->d->c.content, b->d->c.mode)) {
		ward_back_end(b, WARD_APPLY_CONFLICT, WARD_BACK_CHANGED);
		return;
	}
	if (b->d->in_place)
		back_in_place(b, &at.now);
	else
		bring_back(b, &at.now, came);
}

static void back_added(struct ward_back *b)
{
	struct standing at;
	if (ward_back_later_as_was(b)) {
		(void)ward_back_dry(b);
		return;
	}
	look(b, &at);
	if (at.error == -ENOENT) {
		drop_taken(b);
		ward_back_already(b, -1, NULL, "it is gone");
		return;
	}
	if (!has(b, &at, b->d->c.content, b->d->c.mode) || !ward_back_same(&at.now, &b->d->after)) {
		ward_back_end(b, WARD_APPLY_CONFLICT, WARD_BACK_CHANGED);
		return;
	}
	if (ward_back_dry(b))
		return;
	int r = ward_swap_take(&b->s, &at.now);
	if (r < 0) {
		ward_back_fail(b, r);
		return;
	}
	(void)unlinkat(b->s.keep, b->s.kept, 0);
	ward_back_undone(b, -1, NULL);
}

static void back_removed(struct ward_back *b)
{
	struct standing at;
	struct ward_review_base now;
	mode_t type;
	if (ward_host_stat_at(b->s.dir, b->s.name, &now, &type) < 0 ||
		(b->w->u->dry &&
			(ward_shifts_leaves(&b->w->names, b->d->c.root, b->d->c.path) ||
				ward_back_later_came(b->w, b->i, b->d->c.root, b->d->c.path)))) {
		bring_back(b, NULL, false);
		return;
	}
	look(b, &at);
	if (at.error == 0 && ward_back_stood(b, &at.now, at.type) &&
		(b->s.elsewhere ? has(b, &at, b->d->before, b->d->c.base.mode) : !is_kept(b)))
		ward_back_already(b, b->s.dir, b->s.name, "it is there");
	else
		ward_back_end(b, WARD_APPLY_CONFLICT, "the project has another file of this name");
}

/* What an undo that was ended had taken out: another name of a file of the project's. */
static void drop_link(struct ward_back *b, const struct ward_review_base *link)
{
	struct ward_review_base now;
	const char *name = NULL;
	mode_t type;
	int dir = ward_swap_ready(&b->s, &name);
	if (!b->w->u->dry && ward_host_stat_at(dir, name, &now, &type) == 0 &&
		ward_back_same(&now, link) && now.nlink > 1)
		(void)unlinkat(dir, name, 0);
}

static void back_linked(struct ward_back *b)
{
	const struct ward_review_base *link = b->d->has_after ? &b->d->after : &b->d->c.base;
	struct ward_review_base now;
	mode_t type;
	if (ward_back_later_base(b->w, b->i, link)) {
		(void)ward_back_dry(b);
	} else if (ward_host_stat_at(b->s.dir, b->s.name, &now, &type) == -ENOENT) {
		drop_link(b, link);
		ward_back_already(b, -1, NULL, "it is gone");
	} else if (!ward_back_same(&now, link) || now.nlink < 2)
		ward_back_end(b, WARD_APPLY_CONFLICT, WARD_BACK_CHANGED);
	else if (!ward_back_dry(b)) {
		int r = ward_swap_unlink(&b->s, &now);
		if (r < 0)
			ward_back_fail(b, r);
		else
			ward_back_undone(b, -1, NULL);
	}
}

/* --- in order --- */

/* Where files of a directory are that has its old name again. */
static int find_ways(struct ward_undoing *w)
{
	const struct ward_applied *a = w->u->applied;
	w->ways.v = calloc(a->n ? a->n : 1, sizeof(*w->ways.v));
	if (!w->ways.v)
		return -ENOMEM;
	for (size_t i = 0; i < a->n; i++) {
		const struct ward_change *c = &a->v[i].c;
		if (!a->v[i].off && c->kind == WARD_CHANGE_RENAMED && S_ISDIR(c->type))
			w->ways.v[w->ways.n++] = (struct ward_change){.kind = c->kind,
				.type = c->type,
				.root = c->from_root,
				.path = c->from,
				.from_root = c->root,
				.from = c->path};
	}
	return ward_moved_find(&w->ways, &w->moved);
}

static int begin_elsewhere(struct ward_undoing *w, size_t i, struct ward_back *b)
{
	const struct ward_change *c = &w->u->applied->v[i].c;
	size_t len = strlen(c->path), by, root;
	while (ward_moved_next(&w->moved, c->root, c->path, &len, &by, &root, b->at)) {
		if (w->u->roots[root] < 0)
			continue;
		int r = ward_swap_begin(
			&w->place, w->u->roots[root], b->at, (uint32_t)i + 1, &b->s);
		if (r == 0)
			return 0;
	}
	return -ENOENT;
}

static int begin(struct ward_undoing *w, size_t i, struct ward_back *b)
{
	const struct ward_done *d = &w->u->applied->v[i];
	*b = (struct ward_back){.w = w, .i = i, .d = d, .s = {.dir = -1}};
	if (w->u->roots[d->c.root] < 0 || (d->c.from && w->u->roots[d->c.from_root] < 0)) {
		ward_back_end(
			b, WARD_APPLY_REFUSED, "it is of another directory than this project's");
		return -EXDEV;
	}
	/* In a dry run the directories above it have not gone back. */
	const bool ahead = w->u->dry && w->names.v;
	size_t root = d->c.root;
	int r = ahead ? ward_shifts_now(&w->names, d->c.root, d->c.path, b->at, &root) : 0;
	if (r == 0)
		r = ward_swap_begin(&w->place, w->u->roots[root], ahead ? b->at : d->c.path,
			(uint32_t)i + 1, &b->s);
	if (!ahead && (r == -ENOENT || r == -ENOTDIR))
		r = begin_elsewhere(w, i, b);
	if (r < 0 && w->u->dry)
		ward_back_end(b, WARD_APPLY_DONE, "would be undone");
	else if (r < 0)
		ward_back_errno(b, r, "the directory that it lies in");
	return r;
}

void ward_back_one(struct ward_undoing *w, size_t i, ward_back_fn fn)
{
	struct ward_back b;
	if (begin(w, i, &b) == 0)
		fn(&b);
}

/*
 * Which round it belongs to: permissions and files that were written to, content, names, then files
 * that were removed.
 */
#define CONTENT 1U
#define NAMES 2U
static unsigned round_of(const struct ward_done *d)
{
	const struct ward_change *c = &d->c;
	if (ward_back_is_name(c))
		return NAMES;
	if (d->in_place)
		return 0;
	switch (c->kind) {
	case WARD_CHANGE_NONE:
	case WARD_CHANGE_MODE:
		break;
	case WARD_CHANGE_ADDED:
	case WARD_CHANGE_MODIFIED:
	case WARD_CHANGE_LINKED:
		return CONTENT;
	case WARD_CHANGE_REMOVED:
		return 3;
	case WARD_CHANGE_RENAMED:
		break;
	}
	return 0;
}

ward_back_fn ward_back_way(const struct ward_change *c)
{
	switch (c->kind) {
	case WARD_CHANGE_NONE:
	case WARD_CHANGE_MODE:
	case WARD_CHANGE_RENAMED:
		break;
	case WARD_CHANGE_ADDED:
		return back_added;
	case WARD_CHANGE_MODIFIED:
		/* In the place of a file of the same kind that is nowhere else now. */
		return back_changed;
	case WARD_CHANGE_REMOVED:
		return back_removed;
	case WARD_CHANGE_LINKED:
		return back_linked;
	}
	return ward_back_mode;
}

/* The records of one apply, [low, high). */
static int undo_step(struct ward_undoing *w, const bool *wanted, size_t low, size_t high)
{
	const struct ward_applied *a = w->u->applied;
	int r = 0;
	for (unsigned round = 0; r == 0 && round < 4; round++) {
		ward_swap_place_forget(&w->place);
		/* What an undo that is ended here has not said is found as it is. */
		ward_undo_log_hold(&w->log, round != NAMES);
		if (round == NAMES) {
			r = ward_back_names(w, wanted, low, high, false);
			continue;
		}
		for (size_t i = high, left = high; i-- > low;) {
			if (round == CONTENT && i < left) {
				left = i + 1;
				ward_back_content(w, wanted, low, &left);
			}
			if (wanted[i] && !a->v[i].off && !a->v[i].undone &&
				w->u->ends[i] == WARD_APPLY_NONE && round_of(&a->v[i]) == round)
				ward_back_one(w, i, ward_back_way(&a->v[i].c));
		}
	}
	ward_back_names_end(w);
	ward_undo_log_hold(&w->log, false);
	return r;
}

static bool failed(enum ward_apply_end e)
{
	return e == WARD_APPLY_CONFLICT || e == WARD_APPLY_REFUSED || e == WARD_APPLY_FAILED;
}

/* All of a unit is left as it is, because of the record `of`. */
static void keep_back(struct ward_undoing *w, const uint32_t *unit, bool *wanted, size_t low,
	size_t high, size_t of, const char *why)
{
	for (size_t i = low; i < high; i++) {
		if (unit[i - low] != unit[of - low] || !wanted[i])
			continue;
		wanted[i] = false;
		w->u->ends[i] = WARD_APPLY_REFUSED;
		snprintf(w->u->why[i], sizeof(w->u->why[i]), "%s (%.60s): they go together", why,
			w->u->applied->v[of].c.path);
	}
}

/* As of an apply: units of which a part cannot be undone, or was not named, stay. */
static int settle_units(struct ward_undoing *w, bool *wanted, size_t low, size_t high)
{
	const struct ward_applied *a = w->u->applied;
	const size_t n = high - low;
	ward_cleanup_free struct ward_change *v = calloc(n, sizeof(*v));
	ward_cleanup_free uint32_t *unit = calloc(n, sizeof(*unit));
	ward_cleanup_free bool *over = calloc(n, sizeof(*over));
	ward_cleanup_free bool *look = calloc(a->n, sizeof(*look));
	if (!v || !unit || !over || !look)
		return -ENOMEM;
	for (size_t i = low; i < high; i++) {
		v[i - low] = a->v[i].c;
		over[i - low] = a->v[i].off || a->v[i].undone;
	}
	const struct ward_review_changes c = {.v = v, .n = n};
	int r = ward_units_find(&c, over, unit);
	for (size_t i = low; i < high; i++)
		w->apart[i] = r == 0 && !unit[i - low];
	for (size_t i = low; r == 0 && i < high; i++)
		for (size_t k = low; unit[i - low] && !wanted[i] && k < high; k++)
			if (wanted[k] && unit[k - low] == unit[i - low])
				keep_back(w, unit, wanted, low, high, i,
					"a part of it is not undone");
	for (size_t i = low; i < high; i++)
		look[i] = wanted[i] && unit[i - low];
	const bool dry_run = w->u->dry;
	w->u->dry = true;
	if (r == 0)
		r = undo_step(w, look, low, high);
	w->u->dry = dry_run;
	for (size_t i = low; r == 0 && i < high; i++)
		if (look[i] && failed(w->u->ends[i]) && wanted[i])
			keep_back(w, unit, wanted, low, high, i, w->u->why[i]);
	for (size_t i = low; i < high; i++)
		if (look[i] && wanted[i])
			w->u->ends[i] = WARD_APPLY_NONE;
	return r;
}

int ward_undo(struct ward_undo *u, const bool *wanted, struct ward_err *err)
{
	struct ward_undoing w = {.u = u, .log = {.fd = -1}};
	ward_cleanup_free bool *still = calloc(u->applied->n ? u->applied->n : 1, sizeof(*still));
	w.apart = calloc(u->applied->n ? u->applied->n : 1, sizeof(*w.apart));
	if (!still || !w.apart) {
		free(w.apart);
		return ward_err_sys(err, -ENOMEM, "undo");
	}
	memcpy(still, wanted, u->applied->n * sizeof(*still));
	if (ward_fd_lock(u->dir_fd, LOCK_EX, 1) < 0) {
		free(w.apart);
		return ward_err_set(err, -EBUSY, "another apply of this session is under way");
	}
	int r = w.undo = ward_applied_dir(u->dir_fd, false);
	if (r >= 0)
		r = ward_undo_log_open(w.undo, u->applied->roots, u->applied->n_roots, &w.log);
	if (r >= 0)
		r = find_ways(&w);
	if (r >= 0)
		r = ward_back_later_find(&w);
	if (r >= 0 && !u->dry)
		r = ward_applied_recover(w.undo, u->roots, u->applied, &w.log);
	ward_swap_place_init(&w.place, w.undo);
	if (r >= 0) {
		for (size_t high = u->applied->n, low; high; high = low) {
			low = high;
			while (low && u->applied->v[low - 1].step == u->applied->v[high - 1].step)
				low--;
			r = settle_units(&w, still, low, high);
			if (r == 0)
				r = undo_step(&w, still, low, high);
			if (r < 0)
				break;
		}
		r = r < 0 ? r : ward_undo_log_error(&w.log);
		if (r == 0 && !u->dry)
			r = ward_sync_all(u->roots, 16, w.undo);
	}
	ward_back_later_clear(&w);
	ward_moved_clear(&w.moved);
	free(w.ways.v);
	free(w.apart);
	ward_swap_place_forget(&w.place);
	ward_undo_log_close(&w.log);
	if (w.undo >= 0)
		close(w.undo);
	(void)flock(u->dir_fd, LOCK_UN);
	return r < 0 ? ward_err_sys(err, r, "undo") : 0;
}
