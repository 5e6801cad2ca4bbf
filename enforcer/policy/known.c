/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps which repositories a search found. */
#include "enforcer/policy/known.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "enforcer/base/buf.h"
#include "enforcer/base/cleanup.h"

void ward_known_clear(struct ward_known *k)
{
	for (size_t i = 0; i < k->n; i++)
		free(k->v[i].path);
	for (size_t i = 0; i < k->n_trees; i++) {
		free(k->trees[i].path);
		free(k->trees[i].stopped);
	}
	for (size_t i = 0; i < k->n_marked; i++)
		free(k->marked[i]);
	free(k->v);
	free(k->trees);
	free(k->marked);
	*k = WARD_KNOWN_INIT;
}

static uint32_t hash_of(const char *s)
{
	uint32_t h = 2166136261U; /* FNV-1a */
	for (; *s; s++)
		h = (h ^ (unsigned char)*s) * 16777619U;
	return h;
}

static struct ward_known_repo *find(
	const struct ward_known *k, const char *path, enum ward_known_class class)
{
	const uint32_t hash = hash_of(path);
	for (size_t i = 0; i < k->n; i++)
		if (k->v[i].hash == hash && k->v[i].class == class &&
			strcmp(k->v[i].path, path) == 0)
			return &k->v[i];
	return NULL;
}

bool ward_known_has(const struct ward_known *k, const char *path, enum ward_known_class class)
{
	return find(k, path, class) != NULL;
}

/* The entry of this path and class, made where it is missing; NULL: no memory. */
static struct ward_known_repo *entry(
	struct ward_known *k, const char *path, enum ward_known_class class)
{
	struct ward_known_repo *e = find(k, path, class);
	if (e)
		return e;
	if (k->n == k->cap) {
		size_t cap = k->cap ? k->cap * 2 : 16;
		struct ward_known_repo *v = reallocarray(k->v, cap, sizeof(*v));
		if (!v)
			return NULL;
		k->v = v;
		k->cap = cap;
	}
	char *copy = strdup(path);
	if (!copy)
		return NULL;
	k->v[k->n] = (struct ward_known_repo){.path = copy, .hash = hash_of(path), .class = class};
	return &k->v[k->n++];
}

int ward_known_remember(struct ward_known *k, const char *path, enum ward_known_class class)
{
	struct ward_known_repo *e = entry(k, path, class);
	if (!e)
		return -ENOMEM;
	e->before = true;
	return 0;
}

/* "dir/rel", the caller's. */
static char *join(const char *dir, const char *rel)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	ward_buf_puts(&b, dir);
	if (*rel)
		ward_buf_printf(&b, "%s%s", strcmp(dir, "/") == 0 ? "" : "/", rel);
	return ward_buf_steal(&b);
}

int ward_known_found(
	struct ward_known *k, const char *dir, const char *rel, enum ward_known_class class)
{
	ward_cleanup_free char *path = join(dir, rel);
	struct ward_known_repo *e = path ? entry(k, path, class) : NULL;
	if (!e)
		return -ENOMEM;
	e->now = true;
	return 0;
}

int ward_known_seen(
	struct ward_known *k, const char *dir, const char *rel, enum ward_known_class class)
{
	ward_cleanup_free char *path = join(dir, rel);
	struct ward_known_repo *e = path ? find(k, path, class) : NULL;
	if (e)
		e->now = true;
	return path ? 0 : -ENOMEM;
}

int ward_known_marked(struct ward_known *k, const char *dir, const char *rel)
{
	ward_cleanup_free char *path = join(dir, rel);
	if (!path)
		return -ENOMEM;
	/* Both marks of one directory come one after the other. */
	if (k->n_marked == WARD_KNOWN_MAX ||
		(k->n_marked && strcmp(k->marked[k->n_marked - 1], path) == 0))
		return 0;
	if (!k->marked)
		k->marked = calloc(WARD_KNOWN_MAX, sizeof(*k->marked));
	if (!k->marked)
		return -ENOMEM;
	k->marked[k->n_marked++] = ward_steal_ptr(&path);
	return 0;
}

int ward_known_searched(struct ward_known *k, const char *path, const char *stopped)
{
	for (size_t i = 0; i < k->n_trees; i++)
		if (strcmp(k->trees[i].path, path) == 0)
			return 0;
	struct ward_known_tree *v = reallocarray(k->trees, k->n_trees + 1, sizeof(*v));
	if (!v)
		return -ENOMEM;
	k->trees = v;
	struct ward_known_tree t = {.path = strdup(path)};
	t.stopped = stopped ? join(path, stopped) : NULL;
	if (!t.path || (stopped && !t.stopped)) {
		free(t.path);
		free(t.stopped);
		return -ENOMEM;
	}
	k->trees[k->n_trees++] = t;
	return 0;
}

const char *ward_known_beneath(const char *path, const char *dir)
{
	size_t n = strcmp(dir, "/") == 0 ? 0 : strlen(dir);
	if (strncmp(path, dir, n) != 0 || (path[n] != '/' && path[n]))
		return NULL;
	path += n;
	return path + strspn(path, "/");
}
