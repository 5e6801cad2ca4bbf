/* SPDX-License-Identifier: Apache-2.0 */
/* Directories that are made, removed and renamed, files that get another name or a further one. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/review/apply.h"
#include "enforcer/review/part.h"

bool ward_apply_names_has(const struct ward_change *c)
{
	return c->kind == WARD_CHANGE_RENAMED ||
	       (S_ISDIR(c->type) &&
		       (c->kind == WARD_CHANGE_ADDED || c->kind == WARD_CHANGE_REMOVED));
}

/* --- what a name has --- */

bool ward_one_came_with_content(const struct ward_one *o, size_t root, const char *path,
	const struct ward_review_base *there, mode_t type)
{
	char object[WARD_PART_NAME];
	const struct ward_review_changes *all = o->w->a->changes;
	const struct ward_change *m = ward_changes_find(all, root, path, WARD_CHANGE_MODIFIED);
	struct ward_one of = *o;
	if (!m)
		m = ward_changes_find(all, root, path, WARD_CHANGE_ADDED);
	if (!m || S_ISDIR(m->type))
		return false;
	/* A part of it, or merged. */
	if (m->has_base && m->base.ino != m->seen.ino && ward_host_same(there, &m->base, true))
		return true;
	of.c = m;
	snprintf(object, sizeof(object), "objects/%u", m->object);
	return ward_one_has_object(&of, there, type, object);
}

static bool is_one(
	void *arg, const struct ward_shift *n, bool there, bool moved, int dir, const char *name)
{
	struct ward_applying *w = arg;
	const struct ward_change *c = &w->a->changes->v[n->tag];
	struct ward_one o = {.w = w, .i = n->tag, .c = c, .s = {.dir = dir, .name = name}};
	struct ward_review_base now;
	mode_t type;
	if (ward_host_stat_at(dir, name, &now, &type) < 0)
		return false;
	if (n->kind == WARD_SHIFT_COMES)
		return S_ISDIR(type);
	if (there && now.ino == c->base.ino && now.dev == c->base.dev)
		return true;
	return (there && ward_one_came_with_content(&o, c->root, c->path, &now, type)) ||
	       ward_one_came_in_place(&o, &now, type) ||
	       ward_one_is_base(c, &now, type, moved || ward_one_has_moved(c, &now));
}

/* --- made and removed --- */

/* By its descriptor: a link that somebody puts there meanwhile leads nowhere. */
static int make_beside(const struct ward_one *o, struct ward_review_base *ret)
{
	mode_t type;
	if (mkdirat(o->s.dir, o->s.beside, 0700) < 0)
		return -errno;
	ward_cleanup_fd int fd =
		openat(o->s.dir, o->s.beside, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int r = fd < 0 ? -errno : 0;
	if (r == 0 && o->c->object) {
		char object[WARD_PART_NAME];
		snprintf(object, sizeof(object), "objects/%u", o->c->object);
		ward_cleanup_fd int from = openat(
			o->w->a->dir_fd, object, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		/* Its owner may have taken the right to read from it. */
		char has[WARD_REVIEW_DIGEST_SIZE] = "";
		r = from < 0 ? 0 : ward_content_copy_attributes(from, fd, has);
		if (r == 0 && strcmp(has, o->c->attributes) != 0)
			r = -EBADMSG;
	}
	if (r == 0 && fchmod(fd, o->c->mode | 0300) < 0)
		r = -errno;
	if (r < 0)
		return r;
	return ward_host_stat(fd, ret, &type);
}

/* Beside, so that there is never one that is half made, or that the log does not know. */
static int make(void *arg, const struct ward_shift *n, int dir, const char *name)
{
	struct ward_applying *w = arg;
	struct ward_review_base now;
	struct ward_one o;
	(void)dir;
	(void)name;
	ward_swap_place_forget(&w->place);
	int r = ward_one_begin(w, n->tag, &o);
	if (r == 0)
		r = make_beside(&o, &now);
	if (r < 0)
		return r;
	ward_undo_log_ready(&w->log, w->number[n->tag], &now, "-");
	r = ward_undo_log_error(&w->log);
	r = r < 0 ? r : ward_swap_rename(o.s.dir, o.s.beside, o.s.dir, o.s.name);
	if (r < 0)
		(void)unlinkat(o.s.dir, o.s.beside, AT_REMOVEDIR);
	return r;
}

/* What an undo makes it of again is kept. */
static int take(void *arg, const struct ward_shift *n, int dir, const char *name)
{
	const struct ward_applying *w = arg;
	const struct ward_change *c = &w->a->changes->v[n->tag];
	char kept[16];
	snprintf(kept, sizeof(kept), "%u", w->number[n->tag]);
	(void)unlinkat(w->undo, kept, AT_REMOVEDIR);
	int r = ward_content_copy_dir(dir, name, w->undo, kept, &c->base);
	if (r == 0 && unlinkat(dir, name, AT_REMOVEDIR) < 0)
		r = -errno;
	if (r < 0)
		(void)unlinkat(w->undo, kept, AT_REMOVEDIR);
	return r;
}

/* A file that goes by itself. */
static bool goes(void *arg, size_t root, const char *path)
{
	const struct ward_applying *w = arg;
	const struct ward_review_changes *all = w->a->changes;
	const struct ward_change *c = ward_changes_find(all, root, path, WARD_CHANGE_REMOVED);
	const size_t i = c ? (size_t)(c - all->v) : 0;
	return c && !S_ISDIR(c->type) && (w->ready[i] || ward_apply_is_settled(w, i));
}

static const struct ward_shift_ops ops = {.is = is_one, .make = make, .remove = take, .goes = goes};

/* --- all of them --- */

static struct ward_shift name_of(const struct ward_change *c, size_t i, bool wanted)
{
	struct ward_shift n = {.wanted = wanted, .type = c->type, .tag = i};
	if (c->kind == WARD_CHANGE_ADDED) {
		n.kind = WARD_SHIFT_COMES;
	} else if (c->kind == WARD_CHANGE_REMOVED) {
		n.kind = WARD_SHIFT_GOES;
		n.from = c->path;
		n.from_root = c->root;
	} else {
		n.kind = WARD_SHIFT_MOVES;
		n.from = c->from;
		n.from_root = c->from_root;
	}
	if (n.kind != WARD_SHIFT_COMES)
		n.ino = c->base.ino;
	if (n.kind != WARD_SHIFT_GOES) {
		n.to = c->path;
		n.to_root = c->root;
	}
	return n;
}

/* The directory of kept files, by which names beside others are told: 0 where there is none. */
static uint64_t key_of(const struct ward_applying *w)
{
	struct stat st;
	ward_cleanup_fd int fd = ward_applied_dir(w->a->place_fd, false);
	return fd >= 0 && fstat(fd, &st) == 0 ? st.st_ino : 0;
}

static const char *done_word(const struct ward_shift *n, bool dry)
{
	switch (n->kind) {
	case WARD_SHIFT_COMES:
		return dry ? "would be made" : "made";
	case WARD_SHIFT_GOES:
		return dry ? "would be removed" : "removed";
	case WARD_SHIFT_STAYS:
	case WARD_SHIFT_MOVES:
		break;
	}
	return dry ? "would be renamed" : "renamed";
}

/* Not what the session saw, or not any more. */
static void say_lost(struct ward_one *o, const struct ward_shift *n)
{
	struct ward_review_base now;
	mode_t type;
	if (n->kind == WARD_SHIFT_GOES && ward_one_begin(o->w, o->i, o) == 0 &&
		ward_host_stat_at(o->s.dir, o->s.name, &now, &type) == 0 &&
		ward_one_is_replaced(o, &now, type))
		ward_one_ended(o, WARD_APPLY_ALREADY, "it is gone");
	else if (n->error == -ESTALE || n->kind == WARD_SHIFT_GOES)
		ward_one_ended(o, WARD_APPLY_CONFLICT, WARD_APPLY_SAYS_CHANGED);
	else
		ward_one_failed(o, n->error, "what is to be renamed");
}

static void say(struct ward_applying *w, const struct ward_shift *n)
{
	struct ward_one o = {.w = w, .i = n->tag, .c = &w->a->changes->v[n->tag]};
	switch (n->end) {
	case WARD_SHIFT_NONE:
		break;
	case WARD_SHIFT_READY:
		if (w->a->dry)
			ward_one_ended(&o, WARD_APPLY_DONE, "%s", done_word(n, true));
		break;
	case WARD_SHIFT_DONE:
		ward_one_ended(&o, WARD_APPLY_DONE, "%s", done_word(n, false));
		break;
	case WARD_SHIFT_THERE:
		ward_one_ended(&o, WARD_APPLY_ALREADY,
			n->kind == WARD_SHIFT_GOES ? "it is gone" : "the project has it");
		break;
	case WARD_SHIFT_LOST:
		say_lost(&o, n);
		break;
	case WARD_SHIFT_TAKEN:
		ward_one_ended(&o, WARD_APPLY_CONFLICT, WARD_APPLY_SAYS_OTHER);
		break;
	case WARD_SHIFT_APART:
		ward_one_failed(&o, n->error, "the directory that it lies in");
		break;
	case WARD_SHIFT_FULL:
		ward_one_ended(&o, WARD_APPLY_CONFLICT,
			"the project has files in it that the session did not remove");
		break;
	case WARD_SHIFT_RACED:
		ward_one_ended(&o, WARD_APPLY_CONFLICT,
			"somebody changed it at this moment: it was put back");
		break;
	case WARD_SHIFT_ASTRAY:
		ward_one_ended(&o, WARD_APPLY_FAILED,
			"somebody changed it at this moment: it has another name");
		break;
	case WARD_SHIFT_FAILED:
		ward_one_failed(&o, n->error,
			n->kind == WARD_SHIFT_COMES  ? "could not be made"
			: n->kind == WARD_SHIFT_GOES ? "could not be removed"
						     : "could not be renamed");
		break;
	}
}

/* In the log with where the file is now: other applies may have renamed directories above it. */
static void announce(struct ward_applying *w, size_t k)
{
	const struct ward_shift *n = &w->names.v[k];
	struct ward_one o = {.w = w, .i = n->tag, .c = &w->a->changes->v[n->tag]};
	size_t root = 0;
	if (n->from && ward_shifts_origin(&w->names, k, o.at, &root) == 0) {
		o.own = *o.c;
		if (n->kind == WARD_SHIFT_GOES) {
			o.own.from = o.own.path;
			o.own.from_root = o.own.root;
			o.own.path = o.at;
			o.own.root = root;
		} else {
			o.own.from = o.at;
			o.own.from_root = root;
		}
		o.c = &o.own;
	}
	ward_one_log(&o, "-");
}

int ward_apply_names_plan(struct ward_applying *w, const bool *wanted)
{
	const struct ward_review_changes *c = w->a->changes;
	struct ward_shift *v = calloc(c->n ? c->n : 1, sizeof(*v));
	size_t n = 0;
	w->names = (struct ward_shifts){
		.ops = &ops, .arg = w, .roots = w->a->roots, .key = key_of(w), .v = v};
	if (!v)
		return -ENOMEM;
	for (size_t i = 0; i < c->n; i++)
		if (ward_apply_names_has(&c->v[i]))
			v[n++] = name_of(&c->v[i], i, wanted[i]);
	w->names.n = n;
	int r = ward_shifts_find(&w->names);
	if (r < 0)
		return r;
	ward_shifts_plan(&w->names);
	for (size_t k = 0; k < n; k++) {
		say(w, &v[k]);
		if (!w->a->dry && v[k].end == WARD_SHIFT_READY)
			announce(w, k);
	}
	return 0;
}

void ward_apply_names_go(struct ward_applying *w)
{
	if (w->a->dry)
		return;
	ward_swap_place_forget(&w->place);
	ward_shifts_go(&w->names);
	ward_swap_place_forget(&w->place);
	for (size_t k = 0; k < w->names.n; k++)
		if (w->number[w->names.v[k].tag])
			say(w, &w->names.v[k]);
}

void ward_apply_names_end(struct ward_applying *w)
{
	ward_shifts_clear(&w->names);
	free(w->names.v);
	w->names.v = NULL;
	w->names.n = 0;
}

/* --- linked --- */

/* Is what is to be linked the file that the session saw, or what this or another apply made of it?
 */
static bool is_origin(const struct ward_one *o, int dir, const char *name,
	const struct ward_review_base *now, mode_t type)
{
	struct ward_one of = *o;
	of.s.dir = dir;
	of.s.name = name;
	return type == o->c->type &&
	       (!o->c->has_base || ward_one_is_base(o->c, now, type, true) ||
		       ward_one_came_with_content(&of, o->c->from_root, o->c->from, now, type));
}

void ward_one_link(struct ward_one *o)
{
	struct ward_review_base now, there;
	const char *name = NULL;
	mode_t type;
	ward_cleanup_fd int dir =
		ward_host_parent(o->w->a->roots[o->c->from_root], o->c->from, &name);
	int r = dir < 0 ? dir : ward_host_stat_at(dir, name, &now, &type);
	if (r == 0 && !o->w->a->dry && !is_origin(o, dir, name, &now, type)) {
		ward_one_ended(o, WARD_APPLY_CONFLICT, WARD_APPLY_SAYS_CHANGED);
		return;
	}
	if (r < 0 && !o->w->a->dry) {
		ward_one_failed(o, r, "what is to be linked");
		return;
	}
	if (r == 0 && ward_host_stat_at(o->s.dir, o->s.name, &there, &type) == 0 &&
		!ward_one_goes_first(o)) {
		bool same = there.ino == now.ino && there.dev == now.dev;
		ward_one_ended(o, same ? WARD_APPLY_ALREADY : WARD_APPLY_CONFLICT,
			same ? "the project has it" : WARD_APPLY_SAYS_OTHER);
		return;
	}
	if (o->w->a->dry) {
		ward_one_ended(o, WARD_APPLY_DONE, "would be linked");
		return;
	}
	ward_one_log(o, "-");
	ward_undo_log_ready(&o->w->log, o->w->number[o->i], &now, "-");
	r = ward_undo_log_error(&o->w->log);
	if (r == 0 && linkat(dir, name, o->s.dir, o->s.name, 0) < 0)
		r = -errno;
	if (r == 0)
		r = ward_host_stat_at(o->s.dir, o->s.name, &there, &type);
	if (r == 0 && (there.ino != now.ino || there.dev != now.dev))
		r = ward_swap_unlink(&o->s, &there) < 0 ? -EBUSY : -ESTALE;
	if (r < 0) {
		if (r == -ESTALE)
			ward_one_ended(o, WARD_APPLY_CONFLICT,
				"somebody changed it at this moment: it was put back");
		else
			ward_one_failed(o, r, "could not be linked");
		ward_undo_log_off(&o->w->log, o->w->number[o->i]);
		return;
	}
	ward_one_ended(o, WARD_APPLY_DONE, "linked");
}
