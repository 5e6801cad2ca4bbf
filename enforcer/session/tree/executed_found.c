/* SPDX-License-Identifier: Apache-2.0 */
/* What a session left: in which order, and of several trees. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "enforcer/base/buf.h"
#include "enforcer/session/tree/executed.h"

/* --- of one tree --- */

/* The name that the list has, as far as it may not be varied ("lefthook.*"). */
static size_t kind_name(const struct ward_executed_new *e, const char **ret)
{
	const char *slash = strrchr(e->path, '/');
	*ret = e->git ? ".git" : slash ? slash + 1 : e->path;
	return 1 + strcspn(*ret + 1, ".");
}

static int by_nearness(const struct ward_executed_new *x, const struct ward_executed_new *y)
{
	const size_t n = strlen(x->path), m = strlen(y->path);
	if (x->depth != y->depth)
		return x->depth < y->depth ? -1 : 1;
	return n != m ? (n < m ? -1 : 1) : strcmp(x->path, y->path);
}

static int kinds(const struct ward_executed_new *x, const struct ward_executed_new *y)
{
	const char *a = NULL, *b = NULL;
	if (x->left || y->left)
		return (int)x->left - (int)y->left;
	const size_t n = kind_name(x, &a), m = kind_name(y, &b);
	const int r = strncmp(a, b, n < m ? n : m);
	return r ? r : n != m ? (n < m ? -1 : 1) : 0;
}

static int by_kind(const void *a, const void *b)
{
	const int r = kinds(a, b);
	return r ? r : by_nearness(a, b);
}

static int by_turn(const void *a, const void *b)
{
	const struct ward_executed_new *x = a, *y = b;
	if (x->turn != y->turn)
		return x->turn < y->turn ? -1 : 1;
	return by_nearness(x, y);
}

static void put_in_order(struct ward_executed_new *new, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (const char *s = new[i].path; *s; s++)
			new[i].depth += *s == '/';
	if (n)
		qsort(new, n, sizeof(*new), by_kind);
	for (size_t i = 1; i < n; i++)
		new[i].turn = kinds(&new[i - 1], &new[i]) == 0 ? new[i - 1].turn + 1 : 0;
	if (n)
		qsort(new, n, sizeof(*new), by_turn);
}

int ward_executed_take(struct ward_executed *found, struct ward_executed_new *new, size_t n)
{
	put_in_order(new, n);
	for (size_t i = 0; i < n; i++) {
		if (found->n == WARD_EXECUTED_FOUND_MAX) {
			found->whole = false;
			break;
		}
		char *path = strdup(new[i].path);
		if (!path)
			return -ENOMEM;
		found->paths[found->n++] = path;
	}
	return 0;
}

int ward_executed_take_left(struct ward_executed *found, struct ward_executed_new *new, size_t n)
{
	put_in_order(new, n);
	for (size_t i = 0; i < n; i++) {
		if (found->n_left == WARD_EXECUTED_FOUND_MAX) {
			found->left_more++;
			continue;
		}
		struct ward_left *l = &found->left[found->n_left++];
		*l = (struct ward_left){new[i].left, strdup(new[i].path), NULL};
		l->to = new[i].to ? strdup(new[i].to) : NULL;
		if (!l->path || (new[i].to && !l->to))
			return -ENOMEM;
	}
	return 0;
}

/* --- of several --- */

/* "tree/path", the caller's. */
static char *in_tree(const char *tree, const char *path)
{
	struct ward_buf b = WARD_BUF_INIT;
	ward_buf_printf(&b, "%s/%s", strcmp(tree, "/") == 0 ? "" : tree, path);
	return ward_buf_steal(&b);
}

int ward_executed_add(
	struct ward_executed *all, const char *tree, const struct ward_executed *other)
{
	if (!all->paths)
		all->paths = calloc(WARD_EXECUTED_FOUND_MAX, sizeof(*all->paths));
	if (!all->left)
		all->left = calloc(WARD_EXECUTED_FOUND_MAX, sizeof(*all->left));
	if (!all->paths || !all->left)
		return -ENOMEM;
	all->whole = all->whole && other->whole;
	all->left_more += other->left_more;
	for (size_t i = 0; i < other->n; i++) {
		if (all->n == WARD_EXECUTED_FOUND_MAX) {
			all->whole = false;
			break;
		}
		char *path = in_tree(tree, other->paths[i]);
		if (!path)
			return -ENOMEM;
		all->paths[all->n++] = path;
	}
	for (size_t i = 0; i < other->n_left; i++) {
		const struct ward_left *l = &other->left[i];
		if (all->n_left == WARD_EXECUTED_FOUND_MAX) {
			all->left_more++;
			continue;
		}
		struct ward_left copy = {l->kind, in_tree(tree, l->path), NULL};
		copy.to = l->to ? strdup(l->to) : NULL;
		all->left[all->n_left++] = copy;
		if (!copy.path || (l->to && !copy.to))
			return -ENOMEM;
	}
	return 0;
}

void ward_executed_clear(struct ward_executed *e)
{
	for (size_t i = 0; i < e->n; i++)
		free(e->paths[i]);
	free(e->paths);
	for (size_t i = 0; i < e->n_left; i++) {
		free(e->left[i].path);
		free(e->left[i].to);
	}
	free(e->left);
	*e = (struct ward_executed){.n = 0};
}
