/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the list, and compares paths with it. */
#include "enforcer/session/tree/executed_list.h"

#include <stdlib.h>
#include <string.h>

#include "conf/embedded.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/session/tree/executed.h"

static struct ward_executed_line take_apart(const char *pattern, size_t n)
{
	struct ward_executed_line w = {.dir = pattern, .name = pattern, .n_name = n};
	for (size_t i = 0; i < n; i++)
		if (pattern[i] == '/') {
			w.n_dir = i;
			w.name = pattern + i + 1;
			w.n_name = n - i - 1;
		}
	return w;
}

static size_t word(const char **s, const char **ret)
{
	*s += strspn(*s, " \t");
	*ret = *s;
	*s += strcspn(*s, " \t\n");
	return (size_t)(*s - *ret);
}

static bool is_word(const char *at, size_t n, const char *word_)
{
	return strlen(word_) == n && memcmp(at, word_, n) == 0;
}

void ward_executed_list_read(struct ward_executed_list *s)
{
	s->n_names = s->n_git = 0;
	for (const char *list = ward_embedded_lists[0].data; *list;) {
		const char *at = list, *where, *verb, *pattern;
		list += strcspn(list, "\n");
		list += *list == '\n';
		size_t n_where = word(&at, &where);
		size_t n_verb = word(&at, &verb), n = word(&at, &pattern);
		if (!n_verb || !n || s->n_names == WARD_EXECUTED_LINES_MAX ||
			s->n_git == WARD_EXECUTED_LINES_MAX)
			continue;
		const struct ward_executed_line w = take_apart(pattern, n);
		if (is_word(where, n_where, "git"))
			s->git[s->n_git++] = w;
		else if (is_word(where, n_where, "top") || is_word(where, n_where, "new") ||
			 is_word(where, n_where, "there"))
			s->names[s->n_names++] = w;
	}
}

/* A '*' at the end of the word stands for any rest. */
static bool fits(const char *name, const char *word_, size_t n)
{
	if (word_[n - 1] == '*')
		return strncmp(name, word_, n - 1) == 0;
	return strlen(name) == n && memcmp(name, word_, n) == 0;
}

/* Does what path (n bytes) names lie in a directory whose path ends so? */
static bool lies_in(const char *path, size_t n, const struct ward_executed_line *w)
{
	const size_t from = n - w->n_dir;
	return n >= w->n_dir && memcmp(path + from, w->dir, w->n_dir) == 0 &&
	       (from == 0 || path[from - 1] == '/');
}

bool ward_executed_listed(
	const struct ward_executed_line *w, size_t n, const char *path, const char *name)
{
	const size_t len = strlen(path) - strlen(name);
	for (size_t i = 0; i < n; i++)
		if (fits(name, w[i].name, w[i].n_name) &&
			(w[i].n_dir == 0 || (len > 0 && lies_in(path, len - 1, &w[i]))))
			return true;
	return false;
}

bool ward_executed_named(const char *path)
{
	ward_cleanup_free struct ward_executed_list *s = calloc(1, sizeof(*s));
	if (!s)
		return true;
	ward_executed_list_read(s);
	return ward_executed_list_named(s, path);
}

bool ward_executed_list_named(const struct ward_executed_list *s, const char *path)
{
	ward_cleanup_free char *up = strdup(path);
	if (!up)
		return true;
	for (char *end = up + strlen(up), *slash; end; end = slash) {
		*end = '\0';
		slash = strrchr(up, '/');
		const char *name = slash ? slash + 1 : up;
		const char *git = strstr(up, ".git/");
		if (ward_executed_listed(s->names, s->n_names, up, name) ||
			(git && (git == up || git[-1] == '/') &&
				ward_executed_listed(s->git, s->n_git, git + 5, name)))
			return true;
	}
	return false;
}

/* Is what the line says, behind its first n bytes, beneath the directory? */
static bool has_rest(
	const struct ward_executed_line *w, size_t n, ward_executed_may_fn *has, void *arg)
{
	char rest[256];
	size_t len = (size_t)(w->name - w->dir) + w->n_name;
	if (n >= len || len - n >= sizeof(rest))
		return false;
	memcpy(rest, w->dir + n, len - n);
	rest[len - n] = '\0';
	/* Any rest of a name: the directory of it is enough. */
	if (w->name[w->n_name - 1] == '*') {
		char *slash = strrchr(rest, '/');
		if (slash)
			*slash = '\0';
		else
			memcpy(rest, ".", 2);
	}
	return !has || has(arg, rest);
}

/* Does path (len bytes) end in the first names of the line, which have n bytes? */
static bool ends_in(const char *path, size_t len, const struct ward_executed_line *w, size_t n)
{
	const bool whole = n == w->n_dir || w->dir[n] == '/';
	return whole && n <= len && memcmp(path + len - n, w->dir, n) == 0 &&
	       (n == len || path[len - n - 1] == '/');
}

bool ward_executed_list_beneath(
	const struct ward_executed_list *s, const char *path, ward_executed_may_fn *has, void *arg)
{
	const size_t len = strlen(path);
	for (size_t i = 0; i < s->n_names; i++) {
		const struct ward_executed_line *w = &s->names[i];
		for (size_t n = 1; n <= w->n_dir; n++)
			if (ends_in(path, len, w, n) && has_rest(w, n + 1, has, arg))
				return true;
	}
	return false;
}

bool ward_executed_beneath(const char *path, ward_executed_may_fn *has, void *arg)
{
	ward_cleanup_free struct ward_executed_list *s = calloc(1, sizeof(*s));
	if (!s)
		return true;
	ward_executed_list_read(s);
	return ward_executed_list_beneath(s, path, has, arg);
}

size_t ward_executed_tail(const char *path)
{
	ward_cleanup_free struct ward_executed_list *s = calloc(1, sizeof(*s));
	const size_t len = strlen(path);
	size_t most = 0;
	if (!s)
		return 0;
	ward_executed_list_read(s);
	for (size_t i = 0; i < s->n_names; i++) {
		const struct ward_executed_line *w = &s->names[i];
		for (size_t n = 1; n <= w->n_dir; n++)
			if (n > most && ends_in(path, len, w, n))
				most = n;
	}
	return most;
}
