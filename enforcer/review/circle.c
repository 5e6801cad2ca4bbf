/* SPDX-License-Identifier: Apache-2.0 */
#include "enforcer/review/circle.h"

#include <errno.h>
#include <linux/fs.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/review/host_file.h"

static int order(size_t root, const char *path, size_t root2, const char *path2)
{
	return root != root2 ? (root < root2 ? -1 : 1) : strcmp(path, path2);
}

/* --- found --- */

static int by_from(const void *a, const void *b)
{
	const struct ward_circle_move *x = a, *y = b;
	return order(x->from_root, x->from, y->from_root, y->from);
}

/* What leaves the place that v[i] goes to; n: nothing does. */
static size_t next_of(const struct ward_circle_move *v, size_t n, size_t i)
{
	const struct ward_circle_move key = {.from_root = v[i].root, .from = v[i].path};
	const struct ward_circle_move *found = bsearch(&key, v, n, sizeof(*v), by_from);
	return found ? (size_t)(found - v) : n;
}

int ward_circle_find(struct ward_circle_move *v, size_t n,
	void (*fn)(void *arg, struct ward_circle_name *names, size_t n), void *arg)
{
	ward_cleanup_free bool *met = calloc(n ? n : 1, sizeof(*met));
	ward_cleanup_free struct ward_circle_name *names = calloc(n ? n : 1, sizeof(*names));
	if (!met || !names)
		return -ENOMEM;
	if (n)
		qsort(v, n, sizeof(*v), by_from);
	for (size_t i = 0; i < n; i++) {
		size_t k = i, length = 0;
		for (; k < n && !met[k]; k = next_of(v, n, k)) {
			met[k] = true;
			names[length++] = (struct ward_circle_name){.root = v[k].from_root,
				.path = v[k].from,
				.base = v[k].base,
				.type = v[k].type,
				.tag = v[k].tag};
		}
		if (k == i && length > 2)
			fn(arg, names, length);
	}
	return 0;
}

/* --- turned --- */

void ward_circle_begin(struct ward_circle *c)
{
	size_t first = 0;
	for (size_t i = 1; i < c->n; i++)
		if (order(c->v[i].root, c->v[i].path, c->v[first].root, c->v[first].path) < 0)
			first = i;
	/* Turned by three reversals. */
	const size_t parts[][2] = {{0, first}, {first, c->n}, {0, c->n}};
	for (size_t p = 0; p < 3; p++)
		for (size_t i = parts[p][0], k = parts[p][1]; i + 1 < k; i++, k--) {
			const struct ward_circle_name t = c->v[i];
			c->v[i] = c->v[k - 1];
			c->v[k - 1] = t;
		}
}

struct stand {
	int dir; /* the caller's */
	const char *name;
	struct ward_review_base now;
	mode_t type;
};

static int stand_at(const struct ward_circle *c, size_t i, struct stand *ret)
{
	const char *name = NULL;
	ward_cleanup_fd int dir = ward_host_parent(c->roots[c->v[i].root], c->v[i].path, &name);
	int r = dir < 0 ? dir : ward_host_stat_at(dir, name, &ret->now, &ret->type);
	if (r < 0)
		return r;
	ret->name = name;
	ret->dir = ward_steal_fd(&dir);
	return 0;
}

static bool has(const struct ward_circle *c, const struct stand *s, size_t file, bool moved)
{
	return c->is(c->arg, &c->v[file], &s->now, s->type, moved);
}

int ward_circle_look(const struct ward_circle *c, size_t *ret)
{
	size_t at = 0;
	struct stand s;
	int r = stand_at(c, 0, &s);
	if (r < 0)
		return r;
	close(s.dir);
	while (at < c->n && !has(c, &s, at, true))
		at++;
	/* Before the first exchange nothing has been renamed yet. */
	if (at == c->n || (at == 0 && !has(c, &s, 0, false)))
		return -ESTALE;
	for (size_t i = 1; i < c->n; i++) {
		r = stand_at(c, i, &s);
		if (r < 0)
			return r;
		close(s.dir);
		if (!has(c, &s, i <= at ? i - 1 : i, i <= at))
			return -ESTALE;
	}
	*ret = at;
	return 0;
}

/* The first name and the i-th: files a and b have them before, and change places. */
static int exchange(const struct ward_circle *c, size_t i, size_t a, size_t b)
{
	struct stand one, two;
	int r = stand_at(c, 0, &one);
	if (r < 0)
		return r;
	ward_cleanup_fd int dir = one.dir;
	r = stand_at(c, i, &two);
	if (r < 0)
		return r;
	ward_cleanup_fd int dir2 = two.dir;
	if (!has(c, &one, a, true) || !has(c, &two, b, true))
		return -ESTALE;
	if (syscall(SYS_renameat2, dir, one.name, dir2, two.name, RENAME_EXCHANGE) < 0)
		return -errno;
	if (ward_host_stat_at(dir, one.name, &one.now, &one.type) == 0 &&
		ward_host_stat_at(dir2, two.name, &two.now, &two.type) == 0 &&
		has(c, &one, b, true) && has(c, &two, a, true))
		return 0;
	return syscall(SYS_renameat2, dir, one.name, dir2, two.name, RENAME_EXCHANGE) < 0 ? -EBUSY
											  : -ESTALE;
}

int ward_circle_go(const struct ward_circle *c, size_t *at, size_t to)
{
	int r = 0;
	while (r == 0 && *at != to) {
		/* At stage k the first name has file k, and the k-th has file k - 1. */
		r = *at < to ? exchange(c, *at + 1, *at, *at + 1) : exchange(c, *at, *at, *at - 1);
		if (r == 0)
			*at = *at < to ? *at + 1 : *at - 1;
	}
	return r;
}
