/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trees beneath other trees. A mount point in a tree can be reached only through the server of that
 * tree, so they are mounted last, by pid 1: at their paths, and wherever else the tree above is
 * seen, that each way to it shows the same.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/sandbox/init/init.h"

/* Where a tree is seen. */
struct seen {
	const char *top; /* the tree above all, there: what leads to it is ours or the host's */
	char *path;
};

struct trees {
	struct seen v[WARD_TREES_MAX][WARD_INIT_SEEN_MAX]; /* by tree; the first is its own path */
	size_t n[WARD_TREES_MAX];
};

static void clear(struct trees *t)
{
	for (size_t i = 0; i < WARD_TREES_MAX; i++)
		for (size_t k = 0; k < t->n[i]; k++)
			free(t->v[i][k].path);
}

/* rest "": top itself. */
static int add(struct trees *t, uint32_t tree, const char *top, const char *path, const char *rest)
{
	char *whole = NULL;
	if (t->n[tree] == WARD_INIT_SEEN_MAX)
		return -EOVERFLOW;
	if (asprintf(&whole, "%s%s", path, rest) < 0)
		return -ENOMEM;
	t->v[tree][t->n[tree]++] = (struct seen){.top = top ? top : whole, .path = whole};
	return 0;
}

/* The innermost tree above e; NULL: none. */
static const struct ward_blueprint_entry *above(
	const struct ward_blueprint *p, const struct ward_blueprint_entry *e)
{
	const struct ward_blueprint_entry *best = NULL;
	for (size_t i = 0; i < p->n_entries; i++) {
		const struct ward_blueprint_entry *t = &p->entries[i];
		if (t->kind == WARD_BLUEPRINT_TREE && t != e &&
			ward_blueprint_path_below(e->path, t->path) &&
			(!best || strlen(t->path) > strlen(best->path)))
			best = t;
	}
	return best;
}

/* The blueprint has trees above before those beneath. */
static int list(
	const struct ward_blueprint *p, const struct ward_blueprint_entry *e, struct trees *t)
{
	const struct ward_blueprint_entry *over =
		e->flags & WARD_BLUEPRINT_NESTED ? above(p, e) : NULL;
	const struct seen *first = over && t->n[over->mode] ? &t->v[over->mode][0] : NULL;
	if (e->flags & WARD_BLUEPRINT_NESTED && !first)
		return -EINVAL;
	int r = add(t, e->mode, first ? first->top : NULL, e->path, "");
	for (size_t i = 1; r == 0 && over && i < t->n[over->mode]; i++)
		r = add(t, e->mode, t->v[over->mode][i].top, t->v[over->mode][i].path,
			e->path + strlen(over->path));
	/* Its own second place is mounted already. */
	for (size_t i = 0; r == 0 && i < p->n_entries; i++)
		if (p->entries[i].kind == WARD_BLUEPRINT_TREE_AT && p->entries[i].mode == e->mode)
			r = add(t, e->mode, NULL, p->entries[i].path, "");
	return r;
}

/*
 * Down to the outermost tree the path leads through directories that wardfs made. From there on it
 * may lead only through directories, not links: an earlier session, or the author of the project,
 * could make a link in a tree and so choose what the mount covers.
 */
static int open_place(int root, const struct seen *s)
{
	const struct open_how how = {
		.flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS,
	};
	assert(s->top);
	ward_cleanup_fd int base = ward_init_open_inside(root, s->top);
	return base < 0 ? base : ward_fd_openat2(base, s->path + strlen(s->top) + 1, &how);
}

static int attach_at(
	struct ward_init *in, int mount, const struct seen *s, int root, struct ward_err *err)
{
	int at = open_place(root, s);
	if (at == -ELOOP)
		return ward_err_set(err, at,
			"the tree %s: a symbolic link is at this path, or on the way to it",
			s->path);
	if (at < 0)
		return ward_err_sys(err, at,
			"the tree %s: the tree above has no such directory for it", s->path);
	ward_cleanup_fd int point = at;
	int r = ward_init_attach(mount, point, s->path, err);
	struct statx sx;
	/* DONT_SYNC: asks the kernel alone. */
	if (r == 0 && statx(mount, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_MNT_ID, &sx) < 0)
		r = ward_err_sys(err, -errno, "the tree %s", s->path);
	if (r == 0)
		in->nested_ids[in->n_nested++] = sx.stx_mnt_id;
	return r;
}

static int attach_all(struct ward_init *in, const struct ward_blueprint_entry *e,
	const struct trees *t, int root, struct ward_err *err)
{
	int r = attach_at(in, in->nested[e->mode], &t->v[e->mode][0], root, err);
	for (size_t i = 1; r == 0 && i < t->n[e->mode]; i++) {
		const struct seen *s = &t->v[e->mode][i];
		if (s->top == s->path)
			continue;
		ward_cleanup_fd int again = ward_init_clone_tree(in->nested[e->mode]);
		r = again < 0 ? ward_err_sys(err, -errno, "show the tree at %s as well", s->path)
			      : attach_at(in, again, s, root, err);
	}
	close(in->nested[e->mode]);
	in->nested[e->mode] = -1;
	return r;
}

static int attach_trees(struct ward_init *in, struct trees *t, struct ward_err *err)
{
	const struct ward_blueprint *p = &in->blueprint;
	ward_cleanup_fd int root = open(in->view, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int r = root < 0 ? ward_err_sys(err, -errno, "open %s", in->view) : 0;
	for (size_t i = 0; i < p->n_entries && r == 0; i++) {
		const struct ward_blueprint_entry *e = &p->entries[i];
		if (e->kind != WARD_BLUEPRINT_TREE)
			continue;
		r = list(p, e, t);
		if (r < 0)
			return ward_err_sys(err, r, "the tree %s", e->path);
		if (e->flags & WARD_BLUEPRINT_NESTED)
			r = attach_all(in, e, t, root, err);
	}
	return r;
}

int ward_init_nested(struct ward_init *in, struct ward_err *err)
{
	const struct ward_blueprint *p = &in->blueprint;
	struct trees trees = {.n = {0}};
	bool any = false;
	for (size_t i = 0; i < p->n_entries; i++)
		any = any || p->entries[i].flags & WARD_BLUEPRINT_NESTED;
	if (!any)
		return 0;
	if (!(p->flags & WARD_BLUEPRINT_SERVED))
		return ward_err_set(
			err, -EINVAL, "a tree lies beneath another tree that nobody serves");
	int r = attach_trees(in, &trees, err);
	clear(&trees);
	return r;
}
