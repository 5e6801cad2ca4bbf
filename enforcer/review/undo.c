/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes back what was applied: the last apply first, and of each what was done last first. A file
 * of the project goes only if it is what the apply put there, and what comes is what it displaced.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/review/content.h"
#include "enforcer/review/recover.h"
#include "enforcer/review/swap.h"
#include "enforcer/review/units.h"

#define CHANGED "the project's file has changed since it was applied"
#define LOST "what it displaced is missing or has changed"

struct undoing {
	struct ward_undo *u;
	int undo;
	struct ward_undo_log log;
};

struct back {
	struct undoing *w;
	size_t i;
	const struct ward_done *d;
	struct ward_swapping s;
};

typedef void (*back_fn)(struct back *b);

static void end(struct back *b, enum ward_apply_end how, const char *fmt, ...) ward_printf(3, 4);

static void end(struct back *b, enum ward_apply_end how, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	vsnprintf(b->w->u->why[b->i], sizeof(b->w->u->why[b->i]), fmt, args);
	va_end(args);
	b->w->u->ends[b->i] = how;
}

static void end_errno(struct back *b, int r, const char *what)
{
	end(b,
		r == -ENOENT || r == -ENOTDIR || r == -ELOOP ? WARD_APPLY_CONFLICT
							     : WARD_APPLY_FAILED,
		"%s: %s", what, strerror(-r));
}

/* It is as before: at dir and name stands what stood there. */
static void undone(struct back *b, int dir, const char *name)
{
	struct ward_review_base again;
	mode_t type;
	bool there = name && ward_host_stat_at(dir, name, &again, &type) == 0;
	ward_undo_log_undone(&b->w->log, (uint32_t)b->i + 1, there ? &again : NULL);
	end(b, WARD_APPLY_DONE, "undone");
}

/* The same, of an undo that was ended before it could say so, or of somebody else. */
static void already(struct back *b, int dir, const char *name, const char *why)
{
	if (!b->w->u->dry)
		undone(b, dir, name);
	end(b, WARD_APPLY_ALREADY, "%s", why);
}

static bool dry(struct back *b)
{
	if (b->w->u->dry)
		end(b, WARD_APPLY_DONE, "would be undone");
	return b->w->u->dry;
}

static bool same_file(const struct ward_review_base *a, const struct ward_review_base *b)
{
	return a->dev == b->dev && a->ino == b->ino && a->btime_ns == b->btime_ns;
}

/* A file that was put back from a copy has another inode, and all else is the same. */
static bool stood(const struct back *b, const struct ward_review_base *now, mode_t type)
{
	const struct ward_review_base *was = &b->d->c.base;
	if (type != b->d->c.type)
		return false;
	if (S_ISDIR(type) || !b->s.elsewhere)
		return same_file(now, was);
	return now->mode == was->mode && now->size == was->size && now->mtime_ns == was->mtime_ns &&
	       now->uid == was->uid && now->gid == was->gid;
}

/* --- content --- */

/* 1: what was displaced is there, as it was. */
static int is_kept(const struct back *b)
{
	char digest[WARD_REVIEW_DIGEST_SIZE];
	struct ward_review_base now;
	mode_t type;
	int r = ward_host_stat_at(b->s.keep, b->s.kept, &now, &type);
	if (r < 0 || type != b->d->c.type || (!S_ISLNK(type) && now.mode != b->d->c.base.mode))
		return 0;
	if (!b->s.elsewhere && !same_file(&now, &b->d->c.base))
		return 0;
	r = ward_content_digest(b->s.keep, b->s.kept, type, digest);
	return r == 0 && strcmp(digest, b->d->before) == 0;
}

/* The name has this content and these permissions: *ret is what stands there. */
static bool has(
	const struct back *b, const char *content, mode_t mode, struct ward_review_base *ret)
{
	char digest[WARD_REVIEW_DIGEST_SIZE];
	mode_t type;
	if (ward_host_stat_at(b->s.dir, b->s.name, ret, &type) < 0 || type != b->d->c.type ||
		(!S_ISLNK(type) && ret->mode != mode))
		return false;
	return ward_content_digest(b->s.dir, b->s.name, type, digest) == 0 &&
	       strcmp(digest, content) == 0;
}

/* What an undo that was ended had taken out, and not removed yet. */
static void drop_taken(const struct back *b)
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
static int bring_near(const struct back *b)
{
	if (!b->s.elsewhere)
		return 0;
	(void)unlinkat(b->s.dir, b->s.beside, 0);
	return ward_content_copy(
		b->s.keep, b->s.kept, b->d->c.type, b->s.dir, b->s.beside, &b->d->c.base);
}

static void fail(struct back *b, int r)
{
	if (r == -ESTALE)
		end(b, WARD_APPLY_CONFLICT, "somebody changed it at this moment: it was put back");
	else if (r == -EBUSY)
		end(b, WARD_APPLY_FAILED,
			"somebody changed it at this moment, and what was there is %s",
			b->s.elsewhere ? b->s.beside : "kept");
	else if (r == -EEXIST)
		end(b, WARD_APPLY_CONFLICT, "the project has another file of this name");
	else
		end_errno(b, r, "could not be undone");
	if (b->s.elsewhere && r != -EBUSY)
		(void)unlinkat(b->s.dir, b->s.beside, 0);
}

static void back_changed(struct back *b)
{
	struct ward_review_base now;
	if (has(b, b->d->before, b->d->c.base.mode, &now)) {
		drop_taken(b);
		already(b, b->s.dir, b->s.name, "it is as it was");
		return;
	}
	if (!has(b, b->d->c.content, b->d->c.mode, &now)) {
		end(b, WARD_APPLY_CONFLICT, CHANGED);
		return;
	}
	if (!is_kept(b)) {
		end(b, WARD_APPLY_FAILED, LOST);
		return;
	}
	if (dry(b))
		return;
	int r = bring_near(b);
	if (r == 0)
		r = ward_swap_exchange(&b->s, &now);
	if (r < 0) {
		fail(b, r);
		return;
	}
	/* What came out is what was applied: the store of the session has it. */
	(void)unlinkat(b->s.keep, b->s.kept, 0);
	undone(b, b->s.dir, b->s.name);
}

static void back_added(struct back *b)
{
	struct ward_review_base now;
	mode_t type;
	if (ward_host_stat_at(b->s.dir, b->s.name, &now, &type) == -ENOENT) {
		drop_taken(b);
		already(b, -1, NULL, "it is gone");
		return;
	}
	if (!has(b, b->d->c.content, b->d->c.mode, &now) || !same_file(&now, &b->d->after)) {
		end(b, WARD_APPLY_CONFLICT, CHANGED);
		return;
	}
	if (dry(b))
		return;
	int r = ward_swap_take(&b->s, &now);
	if (r < 0) {
		fail(b, r);
		return;
	}
	(void)unlinkat(b->s.keep, b->s.kept, 0);
	undone(b, -1, NULL);
}

static void back_removed(struct back *b)
{
	struct ward_review_base now;
	mode_t type;
	if (ward_host_stat_at(b->s.dir, b->s.name, &now, &type) == 0) {
		if (stood(b, &now, type) &&
			(b->s.elsewhere ? has(b, b->d->before, b->d->c.base.mode, &now)
					: !is_kept(b)))
			already(b, b->s.dir, b->s.name, "it is there");
		else
			end(b, WARD_APPLY_CONFLICT, "the project has another file of this name");
		return;
	}
	if (!is_kept(b)) {
		end(b, WARD_APPLY_FAILED, LOST);
		return;
	}
	if (dry(b))
		return;
	int r = bring_near(b);
	if (r == 0)
		r = ward_swap_add(&b->s);
	if (r < 0) {
		fail(b, r);
		return;
	}
	(void)unlinkat(b->s.keep, b->s.kept, 0);
	undone(b, b->s.dir, b->s.name);
}

static void back_linked(struct back *b)
{
	const struct ward_review_base *link = b->d->c.has_base ? &b->d->c.base : &b->d->after;
	struct ward_review_base now;
	mode_t type;
	if (ward_host_stat_at(b->s.dir, b->s.name, &now, &type) == -ENOENT)
		already(b, -1, NULL, "it is gone");
	else if (!same_file(&now, link) || now.nlink < 2)
		end(b, WARD_APPLY_CONFLICT, CHANGED);
	else if (!dry(b) && unlinkat(b->s.dir, b->s.name, 0) < 0)
		end_errno(b, -errno, "could not be undone");
	else if (!b->w->u->dry)
		undone(b, -1, NULL);
}

/* --- directories, and names --- */

static void back_mode(struct back *b)
{
	struct ward_review_base now;
	mode_t type;
	ward_cleanup_fd int fd =
		openat(b->s.dir, b->s.name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int r = fd < 0 ? -errno : ward_host_stat(fd, &now, &type);
	if (r == 0 && now.mode == b->d->c.base.mode)
		already(b, b->s.dir, b->s.name, "it is as it was");
	else if (r == 0 && now.mode != b->d->c.mode)
		end(b, WARD_APPLY_CONFLICT, "the project's directory has changed since");
	else if (r == 0 && dry(b))
		return;
	else if (r < 0 || fchmod(fd, b->d->c.base.mode) < 0)
		end_errno(b, r < 0 ? r : -errno, "permissions");
	else
		undone(b, b->s.dir, b->s.name);
}

static void back_mkdir(struct back *b)
{
	struct ward_review_base now;
	mode_t type;
	int r = ward_host_stat_at(b->s.dir, b->s.name, &now, &type);
	if (r == -ENOENT)
		already(b, -1, NULL, "it is gone");
	else if (r < 0 || !same_file(&now, &b->d->after))
		end(b, WARD_APPLY_CONFLICT, CHANGED);
	else if (dry(b))
		return;
	else if (unlinkat(b->s.dir, b->s.name, AT_REMOVEDIR) == 0)
		undone(b, -1, NULL);
	else if (errno == ENOTEMPTY || errno == EEXIST)
		end(b, WARD_APPLY_CONFLICT, "there are files in it that were not applied");
	else
		end_errno(b, -errno, "could not be undone");
}

static void back_rmdir(struct back *b)
{
	struct ward_review_base now;
	mode_t type;
	if (ward_host_stat_at(b->s.dir, b->s.name, &now, &type) == 0) {
		if (S_ISDIR(type))
			already(b, b->s.dir, b->s.name, "it is there");
		else
			end(b, WARD_APPLY_CONFLICT, "the project has another file of this name");
		return;
	}
	if (dry(b))
		return;
	if (mkdirat(b->s.dir, b->s.name, 0700) < 0 ||
		fchownat(b->s.dir, b->s.name, b->d->c.base.uid, b->d->c.base.gid,
			AT_SYMLINK_NOFOLLOW) < 0 ||
		fchmodat(b->s.dir, b->s.name, b->d->c.base.mode, 0) < 0)
		end_errno(b, -errno, "could not be undone");
	else
		undone(b, b->s.dir, b->s.name);
}

static void back_renamed(struct back *b)
{
	const struct ward_change *c = &b->d->c;
	struct ward_review_base now;
	const char *name = NULL;
	mode_t type;
	ward_cleanup_fd int dir = ward_host_parent(b->w->u->roots[c->from_root], c->from, &name);
	int r = ward_host_stat_at(b->s.dir, b->s.name, &now, &type);
	if (dir >= 0 && r == -ENOENT) {
		if (ward_host_stat_at(dir, name, &now, &type) == 0 && stood(b, &now, type))
			already(b, dir, name, "it is where it was");
		else
			end(b, WARD_APPLY_CONFLICT, CHANGED);
		return;
	}
	if (dir < 0 || r < 0) {
		end_errno(b, dir < 0 ? dir : r, "what is to be renamed back");
		return;
	}
	if (!stood(b, &now, type)) {
		end(b, WARD_APPLY_CONFLICT, CHANGED);
		return;
	}
	if (dry(b))
		return;
	if (syscall(SYS_renameat2, b->s.dir, b->s.name, dir, name, RENAME_NOREPLACE) < 0)
		fail(b, -errno);
	else
		undone(b, dir, name);
}

/* --- in order --- */

static int begin(struct undoing *w, size_t i, struct back *b)
{
	const struct ward_done *d = &w->u->applied->v[i];
	*b = (struct back){.w = w, .i = i, .d = d, .s = {.dir = -1}};
	if (w->u->roots[d->c.root] < 0 || (d->c.from && w->u->roots[d->c.from_root] < 0)) {
		end(b, WARD_APPLY_REFUSED, "it is of another directory than this project's");
		return -EXDEV;
	}
	int r = ward_swap_begin(w->u->roots[d->c.root], d->c.path, w->undo, (uint32_t)i + 1, &b->s);
	if (r < 0 && w->u->dry)
		end(b, WARD_APPLY_DONE, "would be undone");
	else if (r < 0)
		end_errno(b, r, "the directory that it lies in");
	return r;
}

static void one(struct undoing *w, size_t i, back_fn fn)
{
	struct back b;
	if (begin(w, i, &b) == 0)
		fn(&b);
	ward_swap_end(&b.s);
}

static bool settled(enum ward_apply_end e)
{
	return e == WARD_APPLY_DONE || e == WARD_APPLY_ALREADY;
}

/* Which round it belongs to: permissions, content, names, then files that were removed. */
static unsigned round_of(const struct ward_change *c)
{
	switch (c->kind) {
	case WARD_CHANGE_NONE:
	case WARD_CHANGE_MODE:
		break;
	case WARD_CHANGE_ADDED:
	case WARD_CHANGE_MODIFIED:
		return S_ISDIR(c->type) ? 2 : 1;
	case WARD_CHANGE_REMOVED:
		return S_ISDIR(c->type) ? 2 : 3;
	case WARD_CHANGE_LINKED:
		return 1;
	case WARD_CHANGE_RENAMED:
		return 2;
	}
	return 0;
}

static back_fn way_back(const struct ward_change *c)
{
	bool dir = S_ISDIR(c->type);
	switch (c->kind) {
	case WARD_CHANGE_NONE:
	case WARD_CHANGE_MODE:
		break;
	case WARD_CHANGE_ADDED:
		return dir ? back_mkdir : back_added;
	case WARD_CHANGE_MODIFIED:
		/* In the place of a file of the same kind that is nowhere else now. */
		return back_changed;
	case WARD_CHANGE_REMOVED:
		return dir ? back_rmdir : back_removed;
	case WARD_CHANGE_RENAMED:
		return back_renamed;
	case WARD_CHANGE_LINKED:
		return back_linked;
	}
	return back_mode;
}

/* The records of one apply, [low, high). Names may wait for one another. */
static void undo_step(struct undoing *w, const bool *wanted, size_t low, size_t high)
{
	const struct ward_applied *a = w->u->applied;
	for (unsigned round = 0; round < 4; round++) {
		bool more = true;
		for (size_t times = 0; more && times <= high - low; times++) {
			more = false;
			for (size_t i = high; i-- > low;) {
				if (!wanted[i] || a->v[i].off || a->v[i].undone ||
					settled(w->u->ends[i]) || round_of(&a->v[i].c) != round)
					continue;
				one(w, i, way_back(&a->v[i].c));
				more = more || settled(w->u->ends[i]);
			}
			more = more && round == 2 && !w->u->dry;
		}
	}
}

static bool failed(enum ward_apply_end e)
{
	return e == WARD_APPLY_CONFLICT || e == WARD_APPLY_REFUSED || e == WARD_APPLY_FAILED;
}

/* All of a unit is left as it is, because of the record `of`. */
static void keep_back(struct undoing *w, const uint32_t *unit, bool *wanted, size_t low,
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
static int settle_units(struct undoing *w, bool *wanted, size_t low, size_t high)
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
		undo_step(w, look, low, high);
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
	struct undoing w = {.u = u, .log = {.fd = -1}};
	ward_cleanup_free bool *still = calloc(u->applied->n ? u->applied->n : 1, sizeof(*still));
	if (!still)
		return ward_err_sys(err, -ENOMEM, "undo");
	memcpy(still, wanted, u->applied->n * sizeof(*still));
	if (ward_fd_lock(u->dir_fd, LOCK_EX, 1) < 0)
		return ward_err_set(err, -EBUSY, "another apply of this session is under way");
	int r = w.undo = ward_applied_dir(u->dir_fd, false);
	if (r >= 0)
		r = ward_undo_log_open(w.undo, u->applied->roots, u->applied->n_roots, &w.log);
	if (r >= 0 && !u->dry)
		r = ward_applied_recover(w.undo, u->roots, u->applied, &w.log);
	if (r >= 0) {
		for (size_t high = u->applied->n, low; high; high = low) {
			low = high;
			while (low && u->applied->v[low - 1].step == u->applied->v[high - 1].step)
				low--;
			r = settle_units(&w, still, low, high);
			if (r < 0)
				break;
			undo_step(&w, still, low, high);
		}
		r = r < 0 ? r : ward_undo_log_error(&w.log);
		if (r == 0 && !u->dry)
			r = ward_sync_all(u->roots, 16, w.undo);
	}
	ward_undo_log_close(&w.log);
	if (w.undo >= 0)
		close(w.undo);
	(void)flock(u->dir_fd, LOCK_UN);
	return r < 0 ? ward_err_sys(err, r, "undo") : 0;
}
