/* SPDX-License-Identifier: Apache-2.0 */
#include "enforcer/review/moved.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int by_origin(const void *x, const void *y, void *changes)
{
	const struct ward_change *v = ((const struct ward_review_changes *)changes)->v;
	const struct ward_change *a = &v[*(const size_t *)x], *b = &v[*(const size_t *)y];
	if (a->from_root != b->from_root)
		return a->from_root < b->from_root ? -1 : 1;
	return strcmp(a->from, b->from);
}

int ward_moved_find(const struct ward_review_changes *c, struct ward_moved *ret)
{
	*ret = (struct ward_moved){.changes = c, .v = calloc(c->n ? c->n : 1, sizeof(*ret->v))};
	if (!ret->v)
		return -ENOMEM;
	for (size_t i = 0; i < c->n; i++)
		if (c->v[i].kind == WARD_CHANGE_RENAMED && S_ISDIR(c->v[i].type))
			ret->v[ret->n++] = i;
	if (ret->n)
		qsort_r(ret->v, ret->n, sizeof(*ret->v), by_origin, (void *)c);
	return 0;
}

void ward_moved_clear(struct ward_moved *m)
{
	free(m->v);
	*m = (struct ward_moved){.v = NULL};
}

/* The directory of this name is renamed. */
static bool find(const struct ward_moved *m, size_t root, const char *path, size_t len, size_t *ret)
{
	size_t low = 0, high = m->n;
	while (low < high) {
		const size_t mid = low + (high - low) / 2;
		const struct ward_change *c = &m->changes->v[m->v[mid]];
		int r = c->from_root != root ? (c->from_root < root ? -1 : 1)
					     : strncmp(c->from, path, len);
		r = r ? r : c->from[len] != '\0';
		if (r == 0) {
			*ret = m->v[mid];
			return true;
		}
		if (r < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return false;
}

bool ward_moved_next(const struct ward_moved *m, size_t root, const char *path, size_t *len,
	size_t *ret_change, size_t *ret_root, char ret[PATH_MAX])
{
	while (m->n && *len > 0) {
		const char *slash = memrchr(path, '/', *len);
		size_t i;
		*len = slash ? (size_t)(slash - path) : 0;
		if (!slash || !find(m, root, path, *len, &i))
			continue;
		const struct ward_change *c = &m->changes->v[i];
		if (snprintf(ret, PATH_MAX, "%s%s", c->path, path + *len) >= PATH_MAX)
			continue;
		*ret_change = i;
		*ret_root = c->root;
		return true;
	}
	return false;
}
