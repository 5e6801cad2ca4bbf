/* SPDX-License-Identifier: Apache-2.0 */
/* Under which path the session sees a file: of the journal, enforcer/review/seen.c finds it out. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fs/review/review_internal.h"

/* Deeper than any path has names: a journal that says so has a loop. */
#define DEPTH_MAX 4096U

/* Directories of the host's that are elsewhere now, or nowhere, by their path there. */
struct ward_steps_moved {
	struct ward_review_file **v;
	size_t n, room;
};

static int by_path(const void *a, const void *b)
{
	const struct ward_review_file *x = *(struct ward_review_file *const *)a;
	const struct ward_review_file *y = *(struct ward_review_file *const *)b;

	if (x->root != y->root)
		return x->root < y->root ? -1 : 1;
	return strcmp(x->path, y->path);
}

static int add_moved(struct ward_steps_moved *m, struct ward_review_file *f)
{
	if (m->n == m->room) {
		const size_t more = m->room ? m->room * 2 : 64;
		void *v = reallocarray(m->v, more, sizeof(*m->v));

		if (!v)
			return -ENOMEM;
		m->v = v;
		m->room = more;
	}
	m->v[m->n++] = f;
	return 0;
}

int ward_steps_paths_begin(struct ward_review *rv, struct ward_steps_moved **ret)
{
	struct ward_steps_moved *m = calloc(1, sizeof(*m));
	int r = m ? 0 : -ENOMEM;

	rv->steps.round++;
	for (struct ward_review_file *f = rv->all; f; f = f->all_next)
		f->at = NULL;
	for (size_t i = 0; rv->names.v && i <= rv->names.mask; i++)
		for (struct ward_review_name *n = rv->names.v[i]; n; n = n->hash_next)
			if (n->file)
				n->file->at = n;
	for (struct ward_review_file *f = rv->all; r == 0 && f; f = f->all_next)
		if (f->left && S_ISDIR(f->type))
			r = add_moved(m, f);
	if (r < 0) {
		ward_steps_paths_end(rv, m);
		return r;
	}
	if (m->n)
		qsort(m->v, m->n, sizeof(*m->v), by_path);
	*ret = m;
	return 0;
}

int ward_steps_paths_again(struct ward_review *rv, struct ward_steps_moved **io_m)
{
	if (*io_m)
		free((*io_m)->v);
	free(*io_m);
	*io_m = NULL;
	return ward_steps_paths_begin(rv, io_m);
}

void ward_steps_paths_end(struct ward_review *rv, struct ward_steps_moved *m)
{
	for (struct ward_review_file *f = rv->all; f; f = f->all_next) {
		free(f->seen.text);
		free(f->before.text);
		f->seen.text = f->before.text = NULL;
		f->changing = false;
	}
	if (m)
		free(m->v);
	free(m);
}

/* The moved directory with the longest path above the place, and *ret_rest behind it. */
static struct ward_review_file *moved_above(
	const struct ward_steps_moved *m, size_t root, const char *place, const char **ret_rest)
{
	ward_cleanup_free char *path = strdup(place);
	char *slash;

	while (path && (slash = strrchr(path, '/'))) {
		struct ward_review_file key = {.root = root, .path = path}, *at = &key;
		struct ward_review_file **found;

		*slash = '\0';
		found = m->n ? bsearch(&at, m->v, m->n, sizeof(*m->v), by_path) : NULL;
		if (found) {
			*ret_rest = place + strlen(path) + 1;
			return *found;
		}
	}
	return NULL;
}

static int path_of(struct ward_review *rv, struct ward_steps_moved *m, struct ward_review_file *f,
	unsigned depth, const struct ward_review_path **ret)
{
	const struct ward_review_path *above = NULL;
	struct ward_review_file *up;
	const char *place, *rest;
	size_t root = f->root;
	int r = 0;

	*ret = f->seen.text ? &f->seen : NULL;
	if (f->seen_round == rv->steps.round)
		return 0;
	if (depth > DEPTH_MAX)
		return -ELOOP;
	free(f->seen.text);
	place = ward_review_place(f, &root);
	f->seen = (struct ward_review_path){.root = root};
	up = f->at ? f->at->dir : NULL;
	rest = f->at ? f->at->text : NULL;
	if (!up && place)
		up = moved_above(m, root, place, &rest);
	if (up)
		r = path_of(rv, m, up, depth + 1, &above);
	if (r < 0)
		return r;
	if (above) {
		f->seen.root = above->root;
		if (asprintf(&f->seen.text, "%s%s%s", above->text, *above->text ? "/" : "", rest) <
			0)
			return -ENOMEM;
	} else if (!up && place) {
		f->seen.text = strdup(place);
		if (!f->seen.text)
			return -ENOMEM;
	}
	f->seen_round = rv->steps.round;
	*ret = f->seen.text ? &f->seen : NULL;
	return 0;
}

int ward_steps_path(struct ward_review *rv, struct ward_steps_moved *m, struct ward_review_file *f,
	const struct ward_review_path **ret)
{
	return path_of(rv, m, f, 0, ret);
}

/* --- a list of changes --- */

/* What a name leads to now, and on the host. */
static char letter_of(const struct ward_review_name *n)
{
	return !n->file ? 'D' : !n->was ? 'A' : 'M';
}

static int each_name(struct ward_review *rv, struct ward_steps_moved *m,
	const struct ward_review_name *n, bool (*fn)(void *, char, size_t, const char *, mode_t),
	void *user)
{
	ward_cleanup_free char *text = NULL;
	const struct ward_review_path *dir;
	int r;

	if (n->file == n->was)
		return 0;
	r = ward_steps_path(rv, m, n->dir, &dir);
	if (r < 0 || !dir)
		return r;
	if (asprintf(&text, "%s%s%s", dir->text, *dir->text ? "/" : "", n->text) < 0)
		return -ENOMEM;
	return fn(user, letter_of(n), dir->root, text, n->file ? n->file->type : n->was->type) ? 0
											       : 1;
}

int ward_review_each_change(struct ward_review *rv,
	bool (*fn)(void *user, char letter, size_t root, const char *path, mode_t type), void *user)
{
	struct ward_steps_moved *m = NULL;
	const struct ward_review_path *at;
	int r;

	pthread_rwlock_wrlock(&rv->lock);
	r = ward_steps_paths_begin(rv, &m);
	for (size_t i = 0; r == 0 && rv->names.v && i <= rv->names.mask; i++)
		for (struct ward_review_name *n = rv->names.v[i]; r == 0 && n; n = n->hash_next)
			r = each_name(rv, m, n, fn, user);
	for (struct ward_review_file *f = rv->all; r == 0 && f; f = f->all_next) {
		if (!f->has_lower || !f->staged || f->gone || S_ISDIR(f->type))
			continue;
		r = ward_steps_path(rv, m, f, &at);
		if (r == 0 && at && !fn(user, 'M', at->root, at->text, f->type))
			r = 1;
	}
	if (m)
		ward_steps_paths_end(rv, m);
	pthread_rwlock_unlock(&rv->lock);
	return r < 0 ? r : 0;
}
