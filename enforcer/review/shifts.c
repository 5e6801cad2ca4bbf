/* SPDX-License-Identifier: Apache-2.0 */
/* Names that change: their places, and where each file is. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/review/shifts_internal.h"

/* The form of swap.c's names beside others, so that no session reads it. */
#define ASIDE ".wardfs-apply-%llx-%llx-%08x"
#define ASIDE_SIZE 80U

/* --- sorted --- */

static int order(size_t root, const char *path, size_t root2, const char *path2)
{
	return root != root2 ? (root < root2 ? -1 : 1) : strcmp(path, path2);
}

static int by_from(const void *a, const void *b, void *v)
{
	const struct ward_shift *x = (const struct ward_shift *)v + *(const size_t *)a;
	const struct ward_shift *y = (const struct ward_shift *)v + *(const size_t *)b;
	return order(x->from_root, x->from, y->from_root, y->from);
}

static int by_to(const void *a, const void *b, void *v)
{
	const struct ward_shift *x = (const struct ward_shift *)v + *(const size_t *)a;
	const struct ward_shift *y = (const struct ward_shift *)v + *(const size_t *)b;
	return order(x->to_root, x->to, y->to_root, y->to);
}

static int by_parts(const struct ward_shift_place *a, const struct ward_shift_place *b)
{
	if (a->node != b->node)
		return a->node < b->node ? -1 : 1;
	return order(a->root, a->rest, b->root, b->rest);
}

static int by_place(const void *a, const void *b, void *v)
{
	return by_parts(&((const struct ward_shift *)v + *(const size_t *)a)->of,
		&((const struct ward_shift *)v + *(const size_t *)b)->of);
}

bool ward_shifts_same_place(const struct ward_shift_place *a, const struct ward_shift_place *b)
{
	return a->aside == b->aside && by_parts(a, b) == 0;
}

size_t ward_shifts_from(const struct ward_shifts *ns, const struct ward_shift_place *p)
{
	size_t low = 0, high = ns->n_place;
	while (low < high) {
		const size_t mid = low + (high - low) / 2;
		const int r = by_parts(&ns->v[ns->by_place[mid]].of, p);
		if (r == 0)
			return ns->by_place[mid];
		if (r < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return NO_PLACE;
}

/* Which of the names has this path; NO_PLACE: none has. */
static size_t name_at(
	const struct ward_shifts *ns, bool to, size_t root, const char *path, size_t len)
{
	const size_t *sorted = to ? ns->by_to : ns->by_from;
	size_t low = 0, high = to ? ns->n_to : ns->n_from;
	while (low < high) {
		const size_t mid = low + (high - low) / 2;
		const struct ward_shift *n = &ns->v[sorted[mid]];
		const size_t other = to ? n->to_root : n->from_root;
		const char *s = to ? n->to : n->from;
		int r = other != root ? (other < root ? -1 : 1) : strncmp(s, path, len);
		r = r ? r : s[len] != '\0';
		if (r == 0)
			return sorted[mid];
		if (r < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return NO_PLACE;
}

/* Beneath the innermost directory that changes its place, too. */
static struct ward_shift_place place_of(
	const struct ward_shifts *ns, bool to, size_t root, const char *path)
{
	size_t len = strlen(path);
	for (const char *slash; (slash = memrchr(path, '/', len)); len = (size_t)(slash - path)) {
		const size_t i = name_at(ns, to, root, path, (size_t)(slash - path));
		if (i != NO_PLACE && S_ISDIR(ns->v[i].type))
			return (struct ward_shift_place){.node = i, .rest = slash + 1};
	}
	return (struct ward_shift_place){.node = NO_PLACE, .root = root, .rest = path};
}

size_t ward_shifts_beneath(const struct ward_shifts *ns, size_t i)
{
	const struct ward_shift *n = &ns->v[i];
	const size_t len = strlen(n->from);
	size_t low = 0, high = ns->n_from;
	while (low < high) {
		const size_t mid = low + (high - low) / 2;
		const struct ward_shift *m = &ns->v[ns->by_from[mid]];
		int r = m->from_root != n->from_root ? (m->from_root < n->from_root ? -1 : 1)
						     : strncmp(m->from, n->from, len);
		if (r < 0 || (r == 0 && (unsigned char)m->from[len] < '/'))
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

bool ward_shifts_is_beneath(const struct ward_shifts *ns, size_t i, size_t k)
{
	const struct ward_shift *n = &ns->v[i], *m = &ns->v[k];
	const size_t len = strlen(n->from);
	return m->from_root == n->from_root && strncmp(m->from, n->from, len) == 0 &&
	       m->from[len] == '/';
}

/* --- paths --- */

static const char *last_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

/* By what both an apply and its undo know: the file, and the name that it had at first. */
static void aside_name(
	const struct ward_shifts *ns, const struct ward_shift *n, char ret[ASIDE_SIZE])
{
	uint32_t hash = 2166136261U;
	for (const char *s = last_of(ns->back && n->to ? n->to : n->from); *s; s++)
		hash = (hash ^ (unsigned char)*s) * 16777619U;
	snprintf(ret, ASIDE_SIZE, ASIDE, (unsigned long long)ns->key, (unsigned long long)n->ino,
		hash);
}

static bool put_front(char *path, size_t *at, const char *text, size_t len)
{
	if (len + 1 > *at)
		return false;
	if (path[*at])
		path[--*at] = '/';
	*at -= len;
	memcpy(path + *at, text, len);
	return true;
}

enum way { FIRST, NOW }; /* before all changes; as the host has it */

/* The path of a place. n: whose, where it is beside it. */
static int path_of(const struct ward_shifts *ns, enum way way, const struct ward_shift_place *p,
	const struct ward_shift *n, char path[PATH_MAX], size_t *ret_root)
{
	size_t at = PATH_MAX - 1, levels = 0;
	path[at] = '\0';
	for (;; levels++) {
		const char *last = last_of(p->rest);
		char aside[ASIDE_SIZE];
		bool fits = levels < PATH_MAX;
		if (p->aside && n) {
			aside_name(ns, n, aside);
			fits = fits && put_front(path, &at, aside, strlen(aside));
			if (last > p->rest)
				fits = fits &&
				       put_front(path, &at, p->rest, (size_t)(last - p->rest) - 1);
		} else {
			fits = fits && put_front(path, &at, p->rest, strlen(p->rest));
		}
		if (!fits)
			return -ENAMETOOLONG;
		if (p->node == NO_PLACE)
			break;
		n = &ns->v[p->node];
		if (way == NOW && !n->found)
			return -ENOENT;
		/* A directory that is made has no place before. */
		p = way == NOW ? &n->real : n->from ? &n->of : &n->goal;
	}
	*ret_root = p->root;
	memmove(path, path + at, PATH_MAX - at);
	return 0;
}

int ward_shifts_first(
	const struct ward_shifts *ns, const struct ward_shift_place *p, char *ret, size_t *ret_root)
{
	return path_of(ns, FIRST, p, NULL, ret, ret_root);
}

int ward_shifts_origin(const struct ward_shifts *ns, size_t i, char ret[PATH_MAX], size_t *ret_root)
{
	return path_of(ns, NOW, &ns->v[i].of, NULL, ret, ret_root);
}

int ward_shifts_now(const struct ward_shifts *ns, size_t root, const char *path, char ret[PATH_MAX],
	size_t *ret_root)
{
	const size_t i = name_at(ns, true, root, path, strlen(path));
	const struct ward_shift *n = i == NO_PLACE ? NULL : &ns->v[i];
	const struct ward_shift_place p = place_of(ns, true, root, path);
	if (n && !n->found)
		return -ENOENT;
	return n ? path_of(ns, NOW, &n->real, n, ret, ret_root)
		 : path_of(ns, NOW, &p, NULL, ret, ret_root);
}

bool ward_shifts_leaves(const struct ward_shifts *ns, size_t root, const char *path)
{
	const struct ward_shift_place p = place_of(ns, true, root, path);
	const size_t i = ward_shifts_from(ns, &p);
	char first[PATH_MAX];
	size_t first_root;
	if (i != NO_PLACE && ns->v[i].end == WARD_SHIFT_READY)
		return true;
	return ward_shifts_first(ns, &p, first, &first_root) == 0 &&
	       ns->ops->goes(ns->arg, first_root, first);
}

int ward_shifts_open(struct ward_shifts *ns, struct ward_swap_place *by,
	const struct ward_shift_place *p, const struct ward_shift *n, char *path, int *ret_dir,
	const char **ret_name)
{
	struct ward_swapping s;
	size_t root;
	int r = path_of(ns, NOW, p, n, path, &root);
	if (r == 0 && ns->roots[root] < 0)
		r = -EXDEV;
	if (r == 0)
		r = ward_swap_begin(by, ns->roots[root], path, 0, &s);
	if (r < 0)
		return r;
	*ret_dir = s.dir;
	*ret_name = s.name;
	return 0;
}

void ward_shifts_forget(struct ward_shifts *ns)
{
	ward_swap_place_forget(&ns->one);
	ward_swap_place_forget(&ns->two);
}

/* --- found --- */

static bool stands_at(struct ward_shifts *ns, struct ward_shift *n,
	const struct ward_shift_place *place, bool there, bool aside)
{
	struct ward_shift_place p = *place;
	char path[PATH_MAX];
	const char *name = NULL;
	int dir = -1;
	p.aside = aside;
	int r = ward_shifts_open(ns, &ns->one, &p, n, path, &dir, &name);
	if (r == 0 && faccessat(dir, name, F_OK, AT_SYMLINK_NOFOLLOW) < 0)
		r = -errno;
	if (r == 0 && !ns->ops->is(ns->arg, n, there, there || aside, dir, name))
		r = -ESTALE;
	if (r == 0) {
		n->found = true;
		n->at = n->real = p;
		return true;
	}
	if (!aside && !there)
		n->error = r;
	return false;
}

/* A directory that is to be made is there, and is none that goes elsewhere. */
static bool is_made(struct ward_shifts *ns, struct ward_shift *n)
{
	const size_t other = ward_shifts_from(ns, &n->goal);
	char path[PATH_MAX];
	const char *name = NULL;
	int dir = -1;
	if (ward_shifts_open(ns, &ns->one, &n->goal, n, path, &dir, &name) < 0 ||
		!ns->ops->is(ns->arg, n, true, true, dir, name))
		return false;
	if (other != NO_PLACE && ns->ops->is(ns->arg, &ns->v[other], false, true, dir, name))
		return false;
	n->found = true;
	n->at = n->real = n->goal;
	return true;
}

static bool is_known(const struct ward_shifts *ns, const struct ward_shift_place *p)
{
	return p->node == NO_PLACE || ns->v[p->node].found;
}

/* True: it is found by now. Each of its two directories is looked into once. */
static bool find_one(struct ward_shifts *ns, struct ward_shift *n)
{
	if (n->from && !n->tried[0] && is_known(ns, &n->of)) {
		n->tried[0] = true;
		if (stands_at(ns, n, &n->of, false, false) ||
			(n->ino && stands_at(ns, n, &n->of, false, true)))
			return true;
	}
	if (n->to && !n->tried[1] && is_known(ns, &n->goal)) {
		n->tried[1] = true;
		if (!n->from)
			return is_made(ns, n);
		return stands_at(ns, n, &n->goal, true, false) ||
		       (n->ino && stands_at(ns, n, &n->goal, true, true));
	}
	return false;
}

static int sort_all(struct ward_shifts *ns)
{
	const size_t room = ns->n ? ns->n : 1;
	ns->by_from = calloc(room, sizeof(size_t));
	ns->by_to = calloc(room, sizeof(size_t));
	ns->by_place = calloc(room, sizeof(size_t));
	if (!ns->by_from || !ns->by_to || !ns->by_place)
		return -ENOMEM;
	for (size_t i = 0; i < ns->n; i++) {
		if (ns->v[i].from)
			ns->by_from[ns->n_from++] = i;
		if (ns->v[i].to)
			ns->by_to[ns->n_to++] = i;
	}
	if (ns->n_from)
		qsort_r(ns->by_from, ns->n_from, sizeof(size_t), by_from, ns->v);
	if (ns->n_to)
		qsort_r(ns->by_to, ns->n_to, sizeof(size_t), by_to, ns->v);
	for (size_t i = 0; i < ns->n; i++) {
		struct ward_shift *n = &ns->v[i];
		n->error = -ENOENT;
		if (n->from) {
			n->of = place_of(ns, false, n->from_root, n->from);
			ns->by_place[ns->n_place++] = i;
		}
		if (n->to)
			n->goal = place_of(ns, true, n->to_root, n->to);
	}
	if (ns->n_place)
		qsort_r(ns->by_place, ns->n_place, sizeof(size_t), by_place, ns->v);
	return 0;
}

int ward_shifts_find(struct ward_shifts *ns)
{
	ward_swap_place_init(&ns->one, -1);
	ward_swap_place_init(&ns->two, -1);
	int r = sort_all(ns);
	bool more = r == 0;
	/* What is in a directory is found behind it. */
	while (more) {
		more = false;
		for (size_t k = 0; k < ns->n_from; k++) {
			struct ward_shift *n = &ns->v[ns->by_from[k]];
			more = (!n->found && find_one(ns, n)) || more;
		}
		for (size_t k = 0; k < ns->n_to; k++) {
			struct ward_shift *n = &ns->v[ns->by_to[k]];
			more = (!n->found && find_one(ns, n)) || more;
		}
	}
	ward_shifts_forget(ns);
	return r;
}

bool ward_shifts_is_aside(const struct ward_shifts *ns)
{
	for (size_t i = 0; i < ns->n; i++)
		if (ns->v[i].found && ns->v[i].real.aside)
			return true;
	return false;
}

void ward_shifts_clear(struct ward_shifts *ns)
{
	ward_shifts_forget(ns);
	free(ns->by_from);
	free(ns->by_to);
	free(ns->by_place);
	ns->by_from = ns->by_to = ns->by_place = NULL;
}
