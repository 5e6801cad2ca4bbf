/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names that change, in their order. Whatever has the place of another one goes first, and before
 * both the directory that they come to. Where that waits for itself, one of them goes aside. The
 * same order is gone through twice: as a plan, which shows what cannot be done, and then for good.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/review/shifts_internal.h"

/* Names that make room for one another, one call in another: then one of them goes aside. */
#define DEPTH_MAX 200U
/* Plans, each of which leaves out what the one before it could not do. */
#define PLANS_MAX 32U

static int end(struct ward_shift *n, enum ward_shift_end how, int error)
{
	n->end = how;
	n->error = error;
	n->over = true;
	return 0;
}

static bool planned(const struct ward_shifts *ns, const struct ward_shift *n)
{
	return n->wanted && (ns->planning || n->end == WARD_SHIFT_READY);
}

/* --- steps --- */

/* Both places, opened. */
struct both {
	int dir, dir2;
	const char *name, *name2;
	char path[PATH_MAX], path2[PATH_MAX];
};

static int open_both(struct ward_shifts *ns, const struct ward_shift *n,
	const struct ward_shift_place *to, struct both *ret)
{
	int r = ward_shifts_open(ns, &ns->one, &n->real, n, ret->path, &ret->dir, &ret->name);
	return r < 0 ? r
		     : ward_shifts_open(ns, &ns->two, to, n, ret->path2, &ret->dir2, &ret->name2);
}

/* The directories above others are elsewhere now. */
static void moved(struct ward_shifts *ns, struct ward_shift *n, const struct ward_shift_place *to)
{
	n->at = *to;
	if (ns->planning)
		return;
	n->real = *to;
	if (S_ISDIR(n->type))
		ward_shifts_forget(ns);
}

/* One name. -ESTALE: it was another file, and is where it was; -EUCLEAN: it is not. */
static int move(struct ward_shifts *ns, struct ward_shift *n, const struct ward_shift_place *to)
{
	struct both b;
	const bool there = !to->aside && ward_shifts_same_place(to, &n->goal);
	if (ns->planning) {
		moved(ns, n, to);
		return 0;
	}
	int r = open_both(ns, n, to, &b);
	if (r == 0)
		r = ward_swap_rename(b.dir, b.name, b.dir2, b.name2);
	if (r < 0)
		return r;
	if (!ns->ops->is(ns->arg, n, false, true, b.dir2, b.name2))
		return ward_swap_rename(b.dir2, b.name2, b.dir, b.name) < 0 ? -EUCLEAN : -ESTALE;
	if (there && ns->ops->done)
		ns->ops->done(ns->arg, n, b.dir2, b.name2);
	moved(ns, n, to);
	return 0;
}

/* Both get to where they belong at once. -EINVAL: the file system has no such call. */
static int swap(struct ward_shifts *ns, struct ward_shift *x, struct ward_shift *y)
{
	struct both b;
	if (!ns->planning) {
		int r = open_both(ns, x, &x->goal, &b);
		if (r == 0)
			r = ward_swap_names(b.dir, b.name, b.dir2, b.name2);
		if (r < 0)
			return r;
		if (!ns->ops->is(ns->arg, x, false, true, b.dir2, b.name2) ||
			!ns->ops->is(ns->arg, y, false, true, b.dir, b.name))
			return ward_swap_names(b.dir, b.name, b.dir2, b.name2) < 0 ? -EUCLEAN
										   : -ESTALE;
		if (ns->ops->done) {
			ns->ops->done(ns->arg, x, b.dir2, b.name2);
			ns->ops->done(ns->arg, y, b.dir, b.name);
		}
	}
	moved(ns, x, &x->goal);
	moved(ns, y, &y->goal);
	return 0;
}

static int move_aside(struct ward_shifts *ns, struct ward_shift *n)
{
	struct ward_shift_place p = n->at;
	p.aside = true;
	return n->pinned || n->at.aside || !n->ino ? -EEXIST : move(ns, n, &p);
}

/* --- what is in the way --- */

/* Somebody's file, or nobody's: 0 where the place is free. */
static int is_free(struct ward_shifts *ns, const struct ward_shift *n)
{
	const struct ward_shift_place *p = &n->goal;
	const size_t had = ward_shifts_from(ns, p);
	char path[PATH_MAX];
	const char *name = NULL;
	size_t root;
	int dir = -1;
	if (p->node != NO_PLACE && !ns->v[p->node].found)
		return ns->planning ? 0 : -ENOENT;
	int r = ward_shifts_open(ns, &ns->two, p, n, path, &dir, &name);
	if (r < 0)
		return r;
	if (faccessat(dir, name, F_OK, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : -errno;
	/* In a plan nothing has gone yet. */
	if (ns->planning && had != NO_PLACE && ward_shifts_same_place(&ns->v[had].real, p))
		return 0;
	r = ward_shifts_first(ns, p, path, &root);
	return r == 0 && ns->planning && ns->ops->goes(ns->arg, root, path) ? 0 : -EEXIST;
}

/* Has a directory that is to go names in it which stay? */
static int has_others(struct ward_shifts *ns, struct ward_shift *n)
{
	char path[PATH_MAX], first[PATH_MAX];
	const char *name = NULL;
	size_t root;
	int at = -1;
	int r = ward_shifts_open(ns, &ns->two, &n->real, n, path, &at, &name);
	ward_cleanup_fd int fd =
		r < 0 ? -1 : openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	/* What nobody can read is found out by rmdir(2). */
	if (fd < 0)
		return 0;
	ward_cleanup_dir DIR *d = fdopendir(fd);
	if (!d)
		return -ENOMEM;
	fd = -1;
	for (const struct dirent *e; (e = readdir(d));) {
		const struct ward_shift_place p = {.node = (size_t)(n - ns->v), .rest = e->d_name};
		const size_t i = ward_shifts_from(ns, &p);
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 ||
			strncmp(e->d_name, ".wardfs-apply-", 14) == 0)
			continue;
		if (i != NO_PLACE && ward_shifts_same_place(&ns->v[i].real, &p))
			continue;
		r = ward_shifts_first(ns, &p, first, &root);
		if (r < 0 || !ns->ops->goes(ns->arg, root, first))
			return r < 0 ? r : 1;
	}
	return 0;
}

/* --- in order --- */

static int settle(struct ward_shifts *ns, size_t i, unsigned depth);

/* A directory goes when what is to leave it has left. */
static int settle_gone(struct ward_shifts *ns, size_t i, unsigned depth)
{
	struct ward_shift *n = &ns->v[i];
	char path[PATH_MAX];
	const char *name = NULL;
	int dir = -1, r = 0;
	for (size_t k = ward_shifts_beneath(ns, i);
		k < ns->n_from && ward_shifts_is_beneath(ns, i, ns->by_from[k]); k++) {
		const struct ward_shift *m = &ns->v[ns->by_from[k]];
		r = settle(ns, ns->by_from[k], depth + 1);
		if (m->found && !m->gone && m->at.node == i)
			return r < 0 ? r : end(n, WARD_SHIFT_FULL, 0);
	}
	if (ns->planning) {
		r = has_others(ns, n);
		n->gone = r == 0;
		return r ? end(n, r < 0 ? WARD_SHIFT_FAILED : WARD_SHIFT_FULL, r)
			 : end(n, WARD_SHIFT_READY, 0);
	}
	r = ward_shifts_open(ns, &ns->one, &n->real, n, path, &dir, &name);
	if (r == 0)
		r = ns->ops->remove(ns->arg, n, dir, name);
	if (r < 0)
		return end(n, r == -ENOTEMPTY || r == -EEXIST ? WARD_SHIFT_FULL : WARD_SHIFT_FAILED,
			r);
	n->gone = true;
	ward_shifts_forget(ns);
	if (ns->ops->done)
		ns->ops->done(ns->arg, n, -1, NULL);
	return end(n, WARD_SHIFT_DONE, 0);
}

static int ended(struct ward_shifts *ns, struct ward_shift *n, int r)
{
	if (r == 0) {
		n->final = true;
		return end(n, ns->planning ? WARD_SHIFT_READY : WARD_SHIFT_DONE, 0);
	}
	return end(n,
		r == -EEXIST	? WARD_SHIFT_TAKEN
		: r == -ESTALE	? WARD_SHIFT_RACED
		: r == -EUCLEAN ? WARD_SHIFT_ASTRAY
		: r == -ENOENT	? WARD_SHIFT_APART
				: WARD_SHIFT_FAILED,
		r);
}

/* The two are at each other's place, and that of y is one for good. */
static bool may_swap(
	const struct ward_shifts *ns, const struct ward_shift *x, const struct ward_shift *y)
{
	return x->kind == WARD_SHIFT_MOVES && y->kind == WARD_SHIFT_MOVES && planned(ns, y) &&
	       !y->over && ward_shifts_same_place(&x->at, &y->goal) &&
	       (y->goal.node == NO_PLACE || ns->v[y->goal.node].final);
}

/* Whoever has the place of n goes first, or aside. False: it stays. */
static bool make_room(struct ward_shifts *ns, struct ward_shift *n, size_t i, unsigned depth)
{
	struct ward_shift *y = &ns->v[i];
	int r = settle(ns, i, depth + 1);
	if (y->gone || !ward_shifts_same_place(&y->at, &n->goal))
		return true;
	return r == -EAGAIN && planned(ns, y) && move_aside(ns, y) == 0;
}

static int make(struct ward_shifts *ns, struct ward_shift *n)
{
	char path[PATH_MAX];
	const char *name = NULL;
	int dir = -1;
	if (!ns->planning) {
		int r = ward_shifts_open(ns, &ns->two, &n->goal, n, path, &dir, &name);
		if (r == 0)
			r = ns->ops->make(ns->arg, n, dir, name);
		if (r < 0)
			return r;
		n->found = true;
		n->real = n->goal;
		if (ns->ops->done)
			ns->ops->done(ns->arg, n, dir, name);
	}
	n->at = n->goal;
	return 0;
}

/* The directory that it comes to is there. 0; 1: it is not, which is said. */
static int settle_parent(struct ward_shifts *ns, struct ward_shift *n, unsigned depth)
{
	const struct ward_shift *up = n->goal.node == NO_PLACE ? NULL : &ns->v[n->goal.node];
	int r = up ? settle(ns, n->goal.node, depth + 1) : 0;
	if (r < 0 || !up)
		return r;
	const bool there = up->final || (ns->back && up->found && !up->gone);
	if (!there)
		(void)end(n, n->wanted ? WARD_SHIFT_APART : WARD_SHIFT_NONE, -ENOENT);
	return there ? 0 : 1;
}

static int settle_place(struct ward_shifts *ns, struct ward_shift *n, unsigned depth)
{
	int r = settle_parent(ns, n, depth);
	if (r)
		return r < 0 ? r : 0;
	if (n->found && ward_shifts_same_place(&n->at, &n->goal)) {
		n->final = true;
		/* While it was looked at, another one took it along. */
		return n->over ? 0 : end(n, n->wanted ? WARD_SHIFT_THERE : WARD_SHIFT_NONE, 0);
	}
	if (!planned(ns, n))
		return end(n, n->end, n->error);
	if (!n->found && n->kind == WARD_SHIFT_MOVES)
		return end(n, WARD_SHIFT_LOST, n->error);
	const size_t i = ward_shifts_from(ns, &n->goal);
	struct ward_shift *y = i == NO_PLACE || ns->v[i].gone ? NULL : &ns->v[i];
	if (y && ward_shifts_same_place(&y->at, &n->goal)) {
		if (may_swap(ns, n, y)) {
			r = swap(ns, n, y);
			if (r == 0)
				(void)ended(ns, y, 0);
			if (r != -EINVAL)
				return ended(ns, n, r);
		}
		const bool room = make_room(ns, n, i, depth);
		/* That one may have changed places with this one. */
		if (n->over || !room)
			return n->over ? 0 : end(n, WARD_SHIFT_TAKEN, 0);
	}
	r = is_free(ns, n);
	if (r == 0)
		r = n->kind == WARD_SHIFT_COMES ? make(ns, n) : move(ns, n, &n->goal);
	return ended(ns, n, r);
}

/* 0: it is over. -EAGAIN: it waits for one that is being done. */
static int settle(struct ward_shifts *ns, size_t i, unsigned depth)
{
	struct ward_shift *n = &ns->v[i];
	int r = 0;
	if (n->over)
		return 0;
	if (n->visiting || depth > DEPTH_MAX)
		return -EAGAIN;
	n->visiting = true;
	if (n->kind != WARD_SHIFT_GOES)
		r = settle_place(ns, n, depth);
	else if (!planned(ns, n))
		r = end(n, n->end, n->error);
	else if (!n->found)
		r = end(n, n->error == -ENOENT ? WARD_SHIFT_THERE : WARD_SHIFT_LOST, n->error);
	else
		r = settle_gone(ns, i, depth);
	n->visiting = false;
	return r;
}

static void settle_all(struct ward_shifts *ns)
{
	for (size_t i = 0; i < ns->n; i++) {
		struct ward_shift *n = &ns->v[i];
		n->over = n->final = n->gone = n->visiting = false;
		n->at = n->real;
		if (ns->planning && !n->pinned)
			n->end = WARD_SHIFT_NONE;
	}
	for (size_t k = 0; k < ns->n_to; k++)
		(void)settle(ns, ns->by_to[k], 0);
	/* What waited for too many others. */
	for (size_t k = 0; k < ns->n_to; k++)
		(void)settle(ns, ns->by_to[k], 0);
	/* Beneath first. */
	for (size_t k = ns->n_from; k-- > 0;)
		if (ns->v[ns->by_from[k]].kind == WARD_SHIFT_GOES)
			(void)settle(ns, ns->by_from[k], 0);
	for (size_t i = 0; i < ns->n; i++)
		if (!ns->v[i].over && planned(ns, &ns->v[i]))
			(void)end(&ns->v[i], WARD_SHIFT_FAILED, -ELOOP);
	ward_shifts_forget(ns);
}

/* Nothing goes aside that does not get away from there. True: there was such a one. */
static bool pin(struct ward_shifts *ns, bool all)
{
	bool any = false;
	for (size_t i = 0; i < ns->n; i++) {
		struct ward_shift *n = &ns->v[i];
		const bool stays = n->found && n->at.aside && !n->real.aside && !n->gone;
		if (!n->pinned && (all || stays)) {
			n->pinned = true;
			any = any || stays;
		}
	}
	return any;
}

void ward_shifts_plan(struct ward_shifts *ns)
{
	ns->planning = true;
	for (size_t i = 0; i < ns->n; i++)
		ns->v[i].pinned = false;
	settle_all(ns);
	for (unsigned k = 1; pin(ns, k == PLANS_MAX); k++)
		settle_all(ns);
	ns->planning = false;
}

void ward_shifts_go(struct ward_shifts *ns)
{
	settle_all(ns);
	/* Somebody was there since the plan was made. */
	for (size_t i = 0; i < ns->n; i++) {
		struct ward_shift *n = &ns->v[i];
		if (!n->found || n->gone || !n->real.aside)
			continue;
		struct ward_shift_place back = n->real;
		back.aside = false;
		if (move(ns, n, &back) < 0)
			n->end = WARD_SHIFT_ASTRAY;
	}
	ward_shifts_forget(ns);
}
