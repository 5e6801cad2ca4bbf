/* SPDX-License-Identifier: Apache-2.0 */
/* What stands at a path once changes are made, and where links lead then. */
#include "enforcer/cli/review/review_after.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/session/tree/executed.h"

/* As path_resolution(7). */
#define LINKS_MAX 40U

/* --- what stands at a path --- */

/* The last change of a path that puts something there, or, with gone, takes something away. */
static const struct ward_change *find(
	const struct ward_after *a, size_t root, const char *path, bool gone)
{
	const struct ward_review_changes *c = a->changes;
	size_t low = 0, high = c->n;
	while (low < high) {
		size_t mid = low + (high - low) / 2;
		const struct ward_change *v = &c->v[mid];
		int r = v->root != root ? (v->root < root ? -1 : 1) : strcmp(v->path, path);
		if (r < 0)
			low = mid + 1;
		else
			high = mid;
	}
	for (; low < c->n && c->v[low].root == root && strcmp(c->v[low].path, path) == 0; low++)
		if ((c->v[low].kind == WARD_CHANGE_REMOVED) == gone)
			return &c->v[low];
	return NULL;
}

static int by_origin(const void *a, const void *b)
{
	const struct ward_change *x = *(const struct ward_change *const *)a;
	const struct ward_change *y = *(const struct ward_change *const *)b;
	if (x->from_root != y->from_root)
		return x->from_root < y->from_root ? -1 : 1;
	return strcmp(x->from, y->from);
}

const struct ward_change *ward_after_moved(
	const struct ward_after *a, size_t root, const char *path)
{
	const struct ward_change key = {.from_root = root, .from = (char *)path}, *k = &key;
	const struct ward_change *const *found =
		a->n_moved ? bsearch(&k, a->moved, a->n_moved, sizeof(*a->moved), by_origin) : NULL;
	return found ? *found : NULL;
}

int ward_after_init(struct ward_after *a, const struct ward_review_meant *m)
{
	const struct ward_review_changes *c = &m->changes;
	*a = (struct ward_after){.m = m, .changes = c};
	a->moved = calloc(c->n ? c->n : 1, sizeof(*a->moved));
	if (!a->moved)
		return -ENOMEM;
	for (size_t i = 0; i < c->n; i++)
		if (c->v[i].kind == WARD_CHANGE_RENAMED)
			a->moved[a->n_moved++] = &c->v[i];
	if (a->n_moved)
		qsort(a->moved, a->n_moved, sizeof(*a->moved), by_origin);
	return 0;
}

void ward_after_clear(struct ward_after *a)
{
	free(a->moved);
	a->moved = NULL;
	a->n_moved = 0;
}

static enum ward_after_kind kind_of(mode_t type)
{
	return S_ISDIR(type) ? WARD_AFTER_DIR : S_ISLNK(type) ? WARD_AFTER_LINK : WARD_AFTER_OTHER;
}

/* Of the host: ret (PATH_MAX) gets what a link says. */
static enum ward_after_kind on_host(
	const struct ward_after *a, size_t root, const char *path, char *ret)
{
	mode_t type;
	return ward_review_host_look(a->m->roots[root], path, &type, ret, PATH_MAX) < 0
		       ? WARD_AFTER_NONE
		       : kind_of(type);
}

enum ward_after_kind ward_after_of(
	const struct ward_after *a, const struct ward_change *c, char *ret)
{
	char name[32];
	if (!S_ISLNK(c->type))
		return kind_of(c->type);
	if (!c->object)
		return c->from ? on_host(a, c->from_root, c->from, ret) : WARD_AFTER_OTHER;
	snprintf(name, sizeof(name), "objects/%u", c->object);
	ssize_t n = readlinkat(a->m->dir_fd, name, ret, PATH_MAX - 1);
	if (n < 0)
		return WARD_AFTER_OTHER;
	ret[n] = '\0';
	return WARD_AFTER_LINK;
}

/* What of the host stays where it is, beneath what lies at path[0..n) and was put here with all. */
static enum ward_after_kind left_on_host(
	const struct ward_after *a, size_t root, const char *path, size_t n, char *ret)
{
	char up[PATH_MAX];
	if (a->m->roots[root] < 0)
		return WARD_AFTER_OTHER;
	snprintf(up, sizeof(up), "%s", path);
	for (size_t len = strlen(up); len > n; len = strlen(up)) {
		if (!a->keep && (find(a, root, up, true) || ward_after_moved(a, root, up)))
			return WARD_AFTER_NONE;
		char *slash = strrchr(up, '/');
		*(slash ? slash : up) = '\0';
	}
	return on_host(a, root, path, ret);
}

enum ward_after_kind ward_after_at(const struct ward_after *a, const char *path, char *ret)
{
	char up[PATH_MAX], host[PATH_MAX];
	if (!*path)
		return WARD_AFTER_DIR;
	const struct ward_change *c = find(a, a->root, path, false);
	if (c && c->kind != WARD_CHANGE_MODE)
		return ward_after_of(a, c, ret);
	/* In a directory that is new, or was somewhere else. */
	snprintf(up, sizeof(up), "%s", path);
	for (char *slash; (slash = strrchr(up, '/'));) {
		*slash = '\0';
		c = find(a, a->root, up, false);
		if (!c || c->kind == WARD_CHANGE_MODE || !S_ISDIR(c->type))
			continue;
		if (!c->from && a->keep)
			break;
		if (!c->from)
			return WARD_AFTER_NONE;
		if ((size_t)snprintf(host, sizeof(host), "%s%s", c->from, path + strlen(up)) >=
			sizeof(host))
			return WARD_AFTER_OTHER;
		const enum ward_after_kind kind =
			left_on_host(a, c->from_root, host, strlen(c->from), ret);
		if (kind != WARD_AFTER_NONE || !a->keep)
			return kind;
	}
	return left_on_host(a, a->root, path, 0, ret);
}

/* --- links --- */

bool ward_after_up(char at[PATH_MAX])
{
	char *slash = strrchr(at, '/');
	if (!*at)
		return false;
	*(slash ? slash : at) = '\0';
	return true;
}

/* What a link says is gone from `at`, before the rest. False: that leads out, or is too long. */
static bool enter_link(
	const struct ward_links *links, const char *to, char at[PATH_MAX], char rest[PATH_MAX])
{
	char all[2 * PATH_MAX];
	if (*to == '/') {
		const size_t n = strlen(links->root);
		if (!n || strncmp(to, links->root, n) != 0 || (to[n] && to[n] != '/'))
			return false;
		to += n;
		*at = '\0';
	}
	int n = snprintf(all, sizeof(all), "%s/%s", to, rest);
	if (n < 0 || n >= PATH_MAX)
		return false;
	memcpy(rest, all, (size_t)n + 1);
	return true;
}

/* Takes the next name. False: there is none; *ret is "" for one that is too long. */
static bool next_name(char rest[PATH_MAX], char ret[NAME_MAX + 1])
{
	const char *at = rest + strspn(rest, "/");
	const size_t n = strcspn(at, "/");
	if (!n)
		return false;
	snprintf(ret, NAME_MAX + 1, "%.*s", n > NAME_MAX ? 0 : (int)n, at);
	memmove(rest, at + n, strlen(at + n) + 1);
	return true;
}

bool ward_after_go(const struct ward_after *a, const char *path, const char *text,
	char at[PATH_MAX], ward_after_visit_fn *visit, void *arg)
{
	char rest[PATH_MAX] = "", to[PATH_MAX], name[NAME_MAX + 1];
	struct ward_links links;
	unsigned n_links = 0;
	enum ward_after_kind kind = WARD_AFTER_DIR; /* of what is at `at` */
	ward_links_init(&links, a->m->roots[a->root]);
	snprintf(at, PATH_MAX, "%s", path);
	if (!ward_after_up(at) || !enter_link(&links, text, at, rest))
		return false;
	while (next_name(rest, name)) {
		const size_t was = strlen(at);
		if (strcmp(name, ".") == 0)
			continue;
		if (strcmp(name, "..") == 0) {
			if (kind != WARD_AFTER_DIR || !ward_after_up(at))
				return false;
			continue;
		}
		if (!*name || was + strlen(name) + 2 > PATH_MAX)
			return false;
		snprintf(at + was, PATH_MAX - was, "%s%s", was ? "/" : "", name);
		kind = ward_after_at(a, at, to);
		if (kind != WARD_AFTER_LINK)
			continue;
		if (visit)
			visit(arg, at);
		at[was] = '\0';
		kind = WARD_AFTER_DIR;
		if (++n_links > LINKS_MAX || !enter_link(&links, to, at, rest))
			return false;
	}
	return true;
}

bool ward_after_beneath(const char *path, const char *dir)
{
	const size_t len = strlen(dir);
	return !strncmp(path, dir, len) && (!len || path[len] == '/' || !path[len]);
}
