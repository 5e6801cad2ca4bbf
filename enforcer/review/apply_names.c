/* SPDX-License-Identifier: Apache-2.0 */
/* Files of the project that get other names: renamed, linked, two or more that change places. */
#include <errno.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/review/apply.h"
#include "enforcer/review/circle.h"
#include "enforcer/review/part.h"

/*
 * Where what is to be renamed or linked is: by its own name, or in a directory that has been
 * renamed before. *ret_dir is the caller's, also if it fails; ret_name points into o or its change.
 * -ESTALE: another file is there.
 */
static int find_origin(struct ward_one *o, int *ret_dir, const char **ret_name)
{
	const struct ward_change *c = o->c;
	struct ward_applying *w = o->w;
	struct ward_review_base now;
	mode_t type;
	*ret_dir = ward_host_parent(w->a->roots[c->from_root], c->from, ret_name);
	int r = *ret_dir < 0 ? *ret_dir : ward_host_stat_at(*ret_dir, *ret_name, &now, &type);
	if (r == 0 && ward_one_is_base(c, &now, type, ward_one_has_moved(c, &now)))
		return 0;
	size_t len = strlen(c->from), by, root;
	while (ward_moved_next(&w->moved, c->from_root, c->from, &len, &by, &root, o->at)) {
		const char *name = NULL;
		ward_cleanup_fd int dir =
			w->a->roots[root] < 0 ? -1
					      : ward_host_parent(w->a->roots[root], o->at, &name);
		if (dir < 0 || ward_host_stat_at(dir, name, &now, &type) < 0 ||
			!ward_one_is_base(c, &now, type, ward_one_has_moved(c, &now)))
			continue;
		if (*ret_dir >= 0)
			close(*ret_dir);
		*ret_dir = ward_steal_fd(&dir);
		*ret_name = name;
		o->own = *c;
		o->own.from = o->at;
		o->own.from_root = root;
		o->c = &o->own;
		return 0;
	}
	return r < 0 ? r : -ESTALE;
}

void ward_one_about(struct ward_one *o)
{
	const char *name = NULL;
	int dir = -1;
	/* In a directory that another apply has renamed: the undo of this one finds it there. */
	if (o->c->kind == WARD_CHANGE_RENAMED)
		(void)!find_origin(o, &dir, &name);
	if (dir >= 0)
		close(dir);
	ward_one_log(o, "-");
}

/* The change that moves to where this one comes from what stands where this one goes. */
static const struct ward_change *swaps_with(const struct ward_one *o)
{
	const struct ward_change *c = o->c;
	const struct ward_change *p = c->kind == WARD_CHANGE_RENAMED
					      ? ward_changes_find(o->w->a->changes, c->from_root,
							c->from, WARD_CHANGE_RENAMED)
					      : NULL;
	return p && p->from_root == c->root && strcmp(p->from, c->path) == 0 ? p : NULL;
}

/* Is what stands at the name the file of a change that renames it, or was it? */
static bool stands(int dir, const char *name, const struct ward_change *c)
{
	struct ward_review_base now;
	mode_t type;
	return ward_host_stat_at(dir, name, &now, &type) == 0 &&
	       ward_one_is_base(c, &now, type, true);
}

/* Two names that change places: both changes, in one step. dir, name: where this one comes from. */
static void swap_names(struct ward_one *o, const struct ward_change *p, int dir, const char *name)
{
	struct ward_apply *a = o->w->a;
	const size_t k = (size_t)(p - a->changes->v);
	if (!stands(o->s.dir, o->s.name, p) || (!a->dry && !o->w->number[k])) {
		ward_one_ended(o, WARD_APPLY_CONFLICT, WARD_APPLY_SAYS_OTHER);
		return;
	}
	if (a->dry) {
		ward_one_ended(o, WARD_APPLY_DONE, "would be renamed");
		return;
	}
	if (syscall(SYS_renameat2, dir, name, o->s.dir, o->s.name, RENAME_EXCHANGE) < 0) {
		ward_one_failed(o, -errno, "could not be renamed");
		return;
	}
	if (!stands(o->s.dir, o->s.name, o->c) || !stands(dir, name, p)) {
		const bool back = syscall(SYS_renameat2, dir, name, o->s.dir, o->s.name,
					  RENAME_EXCHANGE) == 0;
		ward_one_ended(o, back ? WARD_APPLY_CONFLICT : WARD_APPLY_FAILED,
			back ? "somebody changed it at this moment: it was put back"
			     : "somebody changed it at this moment: it has the other name");
		return;
	}
	ward_one_ended(o, WARD_APPLY_DONE, "renamed");
	a->ends[k] = WARD_APPLY_DONE;
	snprintf(a->why[k], sizeof(a->why[k]), "renamed");
}

/* The file came there in an apply before, and then its new content, as another file. */
bool ward_one_came_with_content(
	const struct ward_one *o, const struct ward_review_base *there, mode_t type)
{
	char object[WARD_PART_NAME];
	const struct ward_change *m =
		ward_changes_find(o->w->a->changes, o->c->root, o->c->path, WARD_CHANGE_MODIFIED);
	struct ward_one of = *o;
	if (!m)
		return false;
	/* A part of it, or merged. */
	if (m->base.ino != m->seen.ino && ward_host_same(there, &m->base, true))
		return true;
	of.c = m;
	snprintf(object, sizeof(object), "objects/%u", m->object);
	return ward_one_has_object(&of, there, type, object);
}

/* Renamed, if it was what was looked at. -ESTALE: another file, put back. -EBUSY: not put back. */
static int move_name(struct ward_one *o, int dir, const char *name)
{
	int r = ward_one_rename_at(dir, name, o->s.dir, o->s.name);
	if (r < 0 || stands(o->s.dir, o->s.name, o->c))
		return r;
	return ward_one_rename_at(o->s.dir, o->s.name, dir, name) < 0 ? -EBUSY : -ESTALE;
}

/* As move_name(). The name that is taken back is taken out first, and looked at. */
static int link_name(struct ward_one *o, int dir, const char *name)
{
	struct ward_review_base now;
	mode_t type;
	if (linkat(dir, name, o->s.dir, o->s.name, 0) < 0)
		return -errno;
	int r = ward_host_stat_at(o->s.dir, o->s.name, &now, &type);
	if (r == 0 && ward_one_is_base(o->c, &now, type, true))
		return 0;
	return r < 0 || ward_swap_unlink(&o->s, &now) < 0 ? -EBUSY : -ESTALE;
}

/* Has the name what comes to it? */
static bool has_come(const struct ward_one *o)
{
	struct ward_review_base there;
	mode_t type;
	if (ward_host_stat_at(o->s.dir, o->s.name, &there, &type) < 0)
		return false;
	return (there.ino == o->c->base.ino && there.dev == o->c->base.dev) ||
	       (o->c->kind != WARD_CHANGE_LINKED && ward_one_came_with_content(o, &there, type));
}

void ward_one_rename(struct ward_one *o)
{
	const struct ward_change *c = o->c;
	const char *name = NULL;
	ward_cleanup_fd int dir = -1;
	bool links = c->kind == WARD_CHANGE_LINKED;
	if (has_come(o)) {
		ward_one_ended(o, WARD_APPLY_ALREADY, "the project has it");
		return;
	}
	int r = find_origin(o, &dir, &name);
	if (r == -ESTALE) {
		ward_one_ended(o, WARD_APPLY_CONFLICT, WARD_APPLY_SAYS_CHANGED);
		return;
	}
	if (r < 0) {
		ward_one_failed(o, r, links ? "what is to be linked" : "what is to be renamed");
		return;
	}
	const struct ward_change *other = ward_one_is_there(o) ? swaps_with(o) : NULL;
	if (other) {
		swap_names(o, other, dir, name);
		return;
	}
	/* It may be of a file that goes yet: another round. */
	if (ward_one_is_there(o) && !ward_one_goes_first(o) && !o->w->room) {
		ward_one_ended(o, WARD_APPLY_CONFLICT, WARD_APPLY_SAYS_OTHER);
		return;
	}
	if (o->w->a->dry) {
		ward_one_ended(o, WARD_APPLY_DONE, links ? "would be linked" : "would be renamed");
		return;
	}
	r = links ? link_name(o, dir, name) : move_name(o, dir, name);
	if (r == -ESTALE)
		ward_one_ended(o, WARD_APPLY_CONFLICT,
			"somebody changed it at this moment: it was put back");
	else if (r == -EBUSY)
		ward_one_ended(o, WARD_APPLY_FAILED,
			"somebody changed it at this moment: it has the other name");
	else if (r < 0)
		ward_one_failed(o, r, links ? "could not be linked" : "could not be renamed");
	else
		ward_one_ended(o, WARD_APPLY_DONE, links ? "linked" : "renamed");
}

static bool is_of_circle(void *arg, const struct ward_circle_name *name,
	const struct ward_review_base *now, mode_t type, bool moved)
{
	const struct ward_change *c = &((const struct ward_review_changes *)arg)->v[name->tag];
	return ward_one_is_base(c, now, type, moved || ward_one_has_moved(c, now));
}

/* All of it, or none: what was exchanged already is exchanged back. */
static int turn(const struct ward_circle *c, bool dry, bool *ret_already)
{
	size_t at = 0;
	int r = ward_circle_look(c, &at);
	*ret_already = r == 0 && at + 1 == c->n;
	if (r < 0 || *ret_already || dry)
		return r;
	r = ward_circle_go(c, &at, c->n - 1);
	return r < 0 && ward_circle_go(c, &at, 0) < 0 ? -EBUSY : r;
}

void ward_one_circle(struct ward_applying *w, const size_t *which, size_t n)
{
	const struct ward_change *v = w->a->changes->v;
	struct ward_circle c = {.roots = w->a->roots,
		.v = calloc(n, sizeof(*c.v)),
		.n = n,
		.is = is_of_circle,
		.arg = w->a->changes};
	bool already = false, announced = true;
	size_t come = 0;
	for (size_t i = 0; c.v && i < n; i++) {
		const struct ward_change *of = &v[which[i]];
		struct ward_one o;
		come += ward_one_begin(w, which[i], &o) == 0 && has_come(&o);
		announced = announced && (w->a->dry || w->number[which[i]]);
		c.v[i] = (struct ward_circle_name){.root = of->from_root,
			.path = of->from,
			.base = &of->base,
			.type = of->type,
			.tag = which[i]};
	}
	int r = !c.v ? -ENOMEM : announced ? 0 : -ESTALE;
	already = come == n;
	if (r == 0 && !already) {
		ward_circle_begin(&c);
		r = turn(&c, w->a->dry, &already);
	}
	free(c.v);
	for (size_t i = 0; i < n; i++) {
		struct ward_one o = {.w = w, .i = which[i], .c = &v[which[i]]};
		if (already)
			ward_one_ended(&o, WARD_APPLY_ALREADY, "the project has it");
		else if (r == -ESTALE)
			ward_one_ended(&o, WARD_APPLY_CONFLICT,
				"one of the files that change places: " WARD_APPLY_SAYS_CHANGED);
		else if (r == -EBUSY)
			ward_one_ended(&o, WARD_APPLY_FAILED,
				"somebody changed one of the files that change places at this moment: "
				"run it again");
		else if (r < 0)
			ward_one_failed(&o, r, "could not be renamed");
		else
			ward_one_ended(
				&o, WARD_APPLY_DONE, w->a->dry ? "would be renamed" : "renamed");
	}
}

void ward_one_link(struct ward_one *o)
{
	struct ward_review_base now, there;
	const char *name = NULL;
	mode_t type;
	ward_cleanup_fd int dir =
		ward_host_parent(o->w->a->roots[o->c->from_root], o->c->from, &name);
	int r = dir < 0 ? dir : ward_host_stat_at(dir, name, &now, &type);
	if (r == 0 && type != o->c->type)
		r = -ENOENT;
	if (r < 0 && !o->w->a->dry) {
		ward_one_failed(o, r, "what is to be linked");
		return;
	}
	if (r == 0 && ward_host_stat_at(o->s.dir, o->s.name, &there, &type) == 0) {
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
	r = linkat(dir, name, o->s.dir, o->s.name, 0) < 0 ? -errno : 0;
	if (r == 0)
		r = ward_host_stat_at(o->s.dir, o->s.name, &there, &type);
	if (r == 0 && (there.ino != now.ino || there.dev != now.dev))
		r = ward_swap_unlink(&o->s, &there) < 0 ? -EBUSY : -ESTALE;
	if (r < 0) {
		ward_one_failed(o, r, "could not be linked");
		ward_undo_log_off(&o->w->log, o->w->number[o->i]);
		return;
	}
	ward_undo_log_ready(&o->w->log, o->w->number[o->i], &there, "-");
	ward_one_ended(o, WARD_APPLY_DONE, "linked");
}
