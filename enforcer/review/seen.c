/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the paths under which a session sees its files. */
#include "enforcer/review/seen.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "enforcer/base/cleanup.h"

/* More levels have no path, with a letter and a slash each; a circle of a journal ends here. */
#define LEVELS_MAX (PATH_MAX / 2U)

struct ward_seen_place {
	size_t root;
	uint32_t file;
	const char *path;
};

struct ward_seen_path {
	bool known;
	int error; /* of what is known */
	size_t root;
	char *path;
};

char *ward_seen_join(const char *dir, const char *name)
{
	char *s = NULL;
	return asprintf(&s, "%s%s%s", dir, *dir && *name ? "/" : "", name) < 0 ? NULL : s;
}

static int join(const char *dir, const char *name, char **ret)
{
	if (strlen(dir) + 1 + strlen(name) >= PATH_MAX)
		return -ENAMETOOLONG;
	*ret = ward_seen_join(dir, name);
	return *ret ? 0 : -ENOMEM;
}

static int by_path(const void *a, const void *b)
{
	const struct ward_seen_place *x = a, *y = b;
	if (x->root != y->root)
		return x->root < y->root ? -1 : 1;
	int r = strcmp(x->path, y->path);
	return r ? r : x->file < y->file ? -1 : x->file > y->file;
}

int ward_seen_init(struct ward_seen *s, const struct ward_journal *j)
{
	*s = (struct ward_seen){.j = j};
	s->places = calloc(j->n_files + 1, sizeof(*s->places));
	s->paths = calloc(j->n_files + 1, sizeof(*s->paths));
	if (!s->places || !s->paths)
		return -ENOMEM;
	for (uint32_t i = 1; i < j->n_files; i++)
		if (j->files[i].known && j->files[i].has_lower)
			s->places[s->n_places++] = (struct ward_seen_place){
				.root = j->files[i].root, .file = i, .path = j->files[i].path};
	qsort(s->places, s->n_places, sizeof(*s->places), by_path);
	return 0;
}

void ward_seen_clear(struct ward_seen *s)
{
	for (size_t i = 0; s->paths && i < s->j->n_files; i++)
		free(s->paths[i].path);
	free(s->paths);
	free(s->places);
	*s = (struct ward_seen){.j = NULL};
}

/* The last one that was found there; 0: none was. */
static uint32_t find_place(const struct ward_seen *s, size_t root, const char *path)
{
	size_t low = 0, high = s->n_places;
	const struct ward_seen_place want = {.root = root, .path = path, .file = UINT32_MAX};
	while (low < high) {
		size_t mid = low + (high - low) / 2;
		if (by_path(&s->places[mid], &want) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	const struct ward_seen_place *p = low ? &s->places[low - 1] : NULL;
	return p && p->root == root && strcmp(p->path, path) == 0 ? p->file : 0;
}

/* Its path, borrowed until the end. */
static int path_of(
	struct ward_seen *s, uint32_t file, unsigned level, const char **ret, size_t *ret_root);

/* Where it sees what the host has at this path. */
static int seen_host(struct ward_seen *s, size_t root, const char *path, unsigned level, char **ret,
	size_t *ret_root)
{
	ward_cleanup_free char *up = strdup(path);
	const char *dir = NULL;
	if (!up)
		return -ENOMEM;
	for (char *slash; (slash = strrchr(up, '/'));) {
		*slash = '\0';
		uint32_t file = find_place(s, root, up);
		if (!file)
			continue;
		int r = path_of(s, file, level + 1, &dir, ret_root);
		return r < 0 ? r : join(dir, path + strlen(up) + 1, ret);
	}
	*ret_root = root;
	*ret = strdup(path);
	return *ret ? 0 : -ENOMEM;
}

static int find(struct ward_seen *s, uint32_t file, unsigned level, char **ret, size_t *ret_root)
{
	const struct ward_journal_file *f = &s->j->files[file];
	const char *dir = NULL;
	if (level > LEVELS_MAX)
		return -ENAMETOOLONG;
	/* Its place on the host first: another name is a further one. */
	if (f->entry && (!f->has_lower || f->left)) {
		const struct ward_journal_name *n = &s->j->names[f->entry - 1];
		int r = path_of(s, n->dir, level + 1, &dir, ret_root);
		return r < 0 ? r : join(dir, n->name, ret);
	}
	if (!f->has_lower || f->left)
		return -ENOENT;
	return seen_host(s, f->root, f->path, level, ret, ret_root);
}

static int path_of(
	struct ward_seen *s, uint32_t file, unsigned level, const char **ret, size_t *ret_root)
{
	struct ward_seen_path *p = &s->paths[file];
	if (!p->known) {
		int r = find(s, file, level, &p->path, &p->root);
		/* Seen from beneath, too many levels may be those beneath. */
		if (r == -ENOMEM || (r == -ENAMETOOLONG && level > 0))
			return r;
		p->error = r;
		p->known = true;
	}
	*ret = p->path;
	*ret_root = p->root;
	return p->error;
}

int ward_seen_file(struct ward_seen *s, uint32_t file, char **ret, size_t *ret_root)
{
	const char *path = NULL;
	int r = path_of(s, file, 0, &path, ret_root);
	if (r < 0)
		return r;
	char *copy = strdup(path);
	if (!copy)
		return -ENOMEM;
	*ret = copy;
	return 0;
}

int ward_seen_name(
	struct ward_seen *s, const struct ward_journal_name *n, char **ret, size_t *ret_root)
{
	const char *dir = NULL;
	int r = path_of(s, n->dir, 0, &dir, ret_root);
	return r < 0 ? r : join(dir, n->name, ret);
}
