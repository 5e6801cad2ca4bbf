/* SPDX-License-Identifier: Apache-2.0 */
/* [tree P]: the trees that are served, from the sections; what `source` and `at` say. */
#include "enforcer/policy/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int no_memory(struct ward_err *err)
{
	return ward_err_set(err, -ENOMEM, "out of memory");
}

const char *ward_tree_tmpfs(const char *source)
{
	return strncmp(source, "tmpfs:", 6) == 0 ? source + 6 : NULL;
}

int ward_trees_settle(struct ward_policy *p, struct ward_err *err)
{
	struct ward_settings *s = &p->settings;
	s->trees = calloc(p->n_trees, sizeof(*s->trees));
	if (!s->trees)
		return no_memory(err);
	s->n_trees = p->n_trees;
	for (size_t i = 0; i < p->n_trees; i++) {
		s->trees[i].path = strdup(p->trees[i]);
		if (!s->trees[i].path)
			return no_memory(err);
	}
	return 0;
}

/* Where the tree was named first. */
static const struct ward_place_of *place_of(const struct ward_policy *p, const char *path)
{
	size_t i = 0;
	while (i + 1 < p->n_trees && strcmp(p->trees[i], path) != 0)
		i++;
	return &p->tree_places[i];
}

int ward_tree_source_read(struct ward_policy *p, const struct ward_key *k, const char *instance,
	void *base, struct ward_err *err)
{
	struct ward_tree *t = base;
	const struct ward_entry *e = ward_entry_of(p, k, instance);
	const struct ward_place_of *where = place_of(p, instance);
	if (!e && strcmp(instance, "/workspace") != 0)
		return ward_err_set(err, -EINVAL, WARD_PLACE_FMT ": [tree %s] has no source",
			WARD_PLACE(where->file, where->line), instance);
	t->of_run = e && e->source == WARD_SOURCE_RUN;
	if (e && ward_tree_tmpfs(e->value)) {
		t->tmpfs_size = e->number;
		return 0;
	}
	t->source = strdup(e ? e->value : ".");
	return t->source ? 0 : no_memory(err);
}

int ward_tree_at_read(struct ward_policy *p, const struct ward_key *k, const char *instance,
	void *base, struct ward_err *err)
{
	struct ward_tree *t = base;
	const struct ward_entry *e = ward_entry_of(p, k, instance);
	/* a tree without a path on the host cannot be shown there; the row of `source` comes first
	 */
	t->at = strdup(e ? e->value : t->tmpfs_size ? "none" : k->fallback);
	return t->at ? 0 : no_memory(err);
}

/* No way up, no blank, nothing that a file system would not take: [A-Za-z0-9._-] and slashes. */
static bool plain_file(const char *s, size_t n)
{
	static const char good[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				   "._-/";
	if (n == 0 || n > 200 || strspn(s, good) < n || s[0] == '/' || s[n - 1] == '/')
		return false;
	for (size_t i = 0, len; i < n; i += len + 1) {
		const char *slash = memchr(s + i, '/', n - i);
		len = slash ? (size_t)(slash - s) - i : n - i;
		if (len == 0 || (s[i] == '.' && (len == 1 || (len == 2 && s[i + 1] == '.'))))
			return false;
	}
	return true;
}

int ward_seed_parse(const char *value, struct ward_seed_line *ret, struct ward_err *err)
{
	static const char with[] = " if ";
	static const char upper[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
	struct ward_seed_line l = {.file = value, .file_len = strcspn(value, " :")};
	const char *s = value + l.file_len;
	if (strncmp(s, with, sizeof(with) - 1) == 0) {
		l.name = s + sizeof(with) - 1;
		l.name_len = strspn(l.name, upper);
		s = l.name_len ? l.name + l.name_len : s;
	}
	if (*s != ':' || !plain_file(value, l.file_len))
		return ward_err_set(err, -EINVAL,
			"write FILE: TEXT, or FILE if VARIABLE: TEXT, where FILE is a path within the tree");
	l.text = s + 1 + (s[1] == ' ');
	*ret = l;
	return 0;
}

static void strings_clear(struct ward_strings *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->v[i]);
	free(s->v);
	*s = (struct ward_strings){0};
}

void ward_trees_clear(struct ward_settings *s)
{
	for (size_t i = 0; s->trees && i < s->n_trees; i++) {
		free(s->trees[i].path);
		free(s->trees[i].source);
		free(s->trees[i].at);
		strings_clear(&s->trees[i].seed);
		strings_clear(&s->trees[i].seed_project);
	}
	free(s->trees);
	s->trees = NULL;
	s->n_trees = 0;
}
