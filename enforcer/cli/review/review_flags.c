/* SPDX-License-Identifier: Apache-2.0 */
/* Looks at what the project will be. */
#include "enforcer/cli/review/review_flags.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/cli/review/review_after.h"
#include "enforcer/cli/review/review_behind.h"
#include "enforcer/session/tree/executed_list.h"

/* Names beneath a directory that was renamed, and of all of these together. */
#define NAMES_MAX 10000U
#define NAMES_ALL_MAX 50000U

/* Levels for which the last answer about a directory is kept: all that a path has room for. */
#define LEVELS_MAX (PATH_MAX / 2)

static const char unseen[] = "wardfs cannot look at all that is in it";

struct asked {
	char *dir; /* owned; NULL: none was asked about */
	size_t root;
	bool git;
};

struct flags {
	struct ward_after a;
	size_t left;	     /* of NAMES_ALL_MAX */
	struct asked *asked; /* owned; LEVELS_MAX */
	/* Of the last change, and of the last one of git's state: is it in a repository? */
	struct asked parent[2];
	struct ward_behind *behind;	 /* owned */
	struct ward_executed_list *list; /* owned */
};

/* --- what the host executes --- */

/* Does, or may, something stand there, by way of links too? What leads out counts. */
static bool stands(const struct ward_after *after, const char *dir, const char *name)
{
	struct ward_after a = *after;
	char in[PATH_MAX], path[PATH_MAX], to[PATH_MAX];
	a.keep = true;
	if ((size_t)snprintf(in, sizeof(in), "%s%sx", dir, *dir ? "/" : "") >= sizeof(in) ||
		!ward_after_go(&a, in, name, path, NULL, NULL))
		return true;
	return ward_after_at(&a, path, to) != WARD_AFTER_NONE;
}

/* Will git take the directory for a repository (setup.c, is_git_directory())? */
static bool is_git_dir(struct flags *f, const char *dir)
{
	size_t level = *dir != '\0';
	for (const char *s = dir; *s; s++)
		level += *s == '/';
	struct asked *k = level < LEVELS_MAX ? &f->asked[level] : NULL;
	if (k && k->dir && k->root == f->a.root && strcmp(k->dir, dir) == 0)
		return k->git;
	const bool git = stands(&f->a, dir, "HEAD") &&
			 (stands(&f->a, dir, "commondir") ||
				 (stands(&f->a, dir, "objects") && stands(&f->a, dir, "refs")));
	if (k) {
		free(k->dir);
		*k = (struct asked){.dir = strdup(dir), .root = f->a.root, .git = git};
	}
	return git;
}

/* What git writes at every commit, and the host does not execute. */
static bool is_git_state(const struct ward_change *c)
{
	return !S_ISLNK(c->type) && ward_change_is_git_state(c->path);
}

static bool is_called_git(const char *path)
{
	const char *slash = strrchr(path, '/');
	return strcmp(slash ? slash + 1 : path, ".git") == 0;
}

/* Is the directory, or one above it, one? The project itself may be. state: .git does not count. */
static bool beneath_git_dir(struct flags *f, const char *dir, bool state)
{
	struct asked *last = &f->parent[state];
	char up[PATH_MAX];
	if (last->dir && last->root == f->a.root && strcmp(last->dir, dir) == 0)
		return last->git;
	bool git = false;
	snprintf(up, sizeof(up), "%s", dir);
	do
		git = !(state && is_called_git(up)) && is_git_dir(f, up);
	while (!git && ward_after_up(up));
	free(last->dir);
	*last = (struct asked){.dir = strdup(dir), .root = f->a.root, .git = git};
	return git;
}

/* Is the change in a repository without a name that tells? */
static bool in_git_dir(struct flags *f, const struct ward_change *c)
{
	char up[PATH_MAX];
	if (S_ISDIR(c->type) && is_git_dir(f, c->path))
		return !is_called_git(c->path) || c->kind != WARD_CHANGE_MODE;
	snprintf(up, sizeof(up), "%s", c->path);
	return ward_after_up(up) && beneath_git_dir(f, up, is_git_state(c));
}

struct beneath {
	const struct ward_after *a;
	const char *dir;
};

static bool stands_beneath(void *arg, const char *rest)
{
	const struct beneath *b = arg;
	return stands(b->a, b->dir, rest);
}

static bool is_repository(void *arg, size_t root, const char *path)
{
	struct flags *f = arg;
	f->a.root = root;
	return is_git_dir(f, path);
}

static bool leads_out(const struct ward_after *a, const char *path, const char *text)
{
	char at[PATH_MAX];
	return !ward_after_go(a, path, text, at, NULL, NULL);
}

/* --- directories that are renamed, with all beneath them --- */

/* What was of this kind in its old place, too, says nothing new. */
struct moved {
	struct flags *f;
	const struct ward_after *was;
	const struct ward_change *c;
	bool over; /* its place is one of a directory on the host */
	const char *flag;
};

/* Is it executable (or, not so, is it not), as the host has it? False: that is no file. */
static bool host_file_is(const struct ward_review_meant *m, size_t root, const char *path, bool so)
{
	mode_t mode;
	char to[PATH_MAX];
	return m->roots[root] >= 0 &&
	       ward_review_host_look(m->roots[root], path, &mode, to, sizeof(to)) == 0 &&
	       S_ISREG(mode) && so == ((mode & 0111) != 0);
}

static bool look_beneath(void *arg, const char *path, mode_t type, const char *text)
{
	struct moved *v = arg;
	struct ward_after *a = &v->f->a;
	char is[PATH_MAX], was[PATH_MAX], to[PATH_MAX];
	if ((size_t)snprintf(is, sizeof(is), "%s/%s", v->c->path, path) >= sizeof(is) ||
		(size_t)snprintf(was, sizeof(was), "%s/%s", v->c->from, path) >= sizeof(was)) {
		v->flag = unseen;
		return false;
	}
	const bool named = ward_executed_list_named(v->f->list, is) &&
			   !ward_executed_list_named(v->f->list, was);
	const bool executable = v->over && S_ISREG(type) &&
				host_file_is(a->m, v->c->root, is, false) &&
				host_file_is(a->m, v->c->from_root, was, true);
	a->keep = true;
	const bool there = ward_after_at(a, is, to) != WARD_AFTER_NONE;
	a->keep = false;
	if ((!named && !S_ISLNK(type) && !executable) || !there)
		return true;
	if (named)
		v->flag = "this host may execute what is in it";
	else if (executable)
		v->flag = "a file in it becomes executable";
	else if (leads_out(a, is, text) && !leads_out(v->was, was, text))
		v->flag = "a link in it leads out of the project";
	return !*v->flag;
}

/* A directory that moves, with all that it has on the host. */
static const char *flag_moved(struct flags *f, const struct ward_change *c)
{
	static const struct ward_review_changes none = {.v = NULL};
	const struct ward_review_meant *m = f->a.m;
	const struct ward_after was = {.m = m, .changes = &none, .root = c->from_root};
	struct moved v = {.f = f, .was = &was, .c = c, .flag = ""};
	const size_t room = f->left < NAMES_MAX ? f->left : NAMES_MAX;
	size_t left = room;
	mode_t mode;
	char to[PATH_MAX];
	v.over = ward_review_host_look(m->roots[c->root], c->path, &mode, to, sizeof(to)) == 0 &&
		 S_ISDIR(mode);
	int r = ward_review_host_beneath(
		m->roots[c->from_root], c->from, 0, &left, look_beneath, &v);
	f->left -= room - left;
	if (*v.flag || r == -ENOENT)
		return v.flag;
	return r == -E2BIG ? "it has more in it than wardfs looks at" : r < 0 ? unseen : "";
}

/* May what the link leads to be executed? to: what it says. */
static bool leads_to_executable(const struct flags *f, const struct ward_change *c, const char *to)
{
	const struct ward_review_changes *all = f->a.changes;
	char at[PATH_MAX];
	bool changed = false;
	if (!ward_after_go(&f->a, c->path, to, at, NULL, NULL))
		return true;
	for (size_t i = 0; i < all->n; i++) {
		const struct ward_change *v = &all->v[i];
		if (v->kind == WARD_CHANGE_REMOVED || v->root != c->root ||
			strcmp(v->path, at) != 0)
			continue;
		if (S_ISREG(v->type) && (v->mode & 0111))
			return true;
		changed = true;
	}
	return !changed && host_file_is(f->a.m, c->root, at, true);
}

/* Would it be executable where the project has a file that is not? */
static bool becomes_executable(const struct flags *f, const struct ward_change *c, const char *to)
{
	if (S_ISLNK(c->type))
		return host_file_is(f->a.m, c->root, c->path, false) &&
		       leads_to_executable(f, c, to);
	if (!S_ISREG(c->type) || !(c->mode & 0111))
		return false;
	if (c->has_base && c->kind == WARD_CHANGE_MODIFIED && (c->mode & 0111 & ~c->base.mode))
		return true;
	mode_t was = 0;
	char text[PATH_MAX];
	return ward_review_host_look(f->a.m->roots[c->root], c->path, &was, text, sizeof(text)) ==
		       0 &&
	       S_ISREG(was) && (c->mode & 0111 & ~was);
}

/* to (PATH_MAX): what it says. What stands in its place today says no more than what is to come. */
static bool link_leads_out(const struct flags *f, const struct ward_change *c, char *to)
{
	static const struct ward_review_changes none = {.v = NULL};
	const struct ward_after was = {.m = f->a.m, .changes = &none, .root = c->root};
	return ward_after_of(&f->a, c, to) != WARD_AFTER_LINK || leads_out(&f->a, c->path, to) ||
	       leads_out(&was, c->path, to);
}

/* A link that makes names of what lies behind it. */
static bool link_executes(const struct flags *f, const struct ward_change *c, const char *to)
{
	struct beneath b = {&f->a, NULL};
	char at[PATH_MAX];
	b.dir = at;
	return !ward_after_go(&f->a, c->path, to, at, NULL, NULL) ||
	       ward_executed_beneath(c->path, stands_beneath, &b);
}

static const char *flag_link(const struct flags *f, const struct ward_change *c)
{
	char to[PATH_MAX];
	if (link_leads_out(f, c, to))
		return "a link that leads out of the project";
	if (link_executes(f, c, to))
		return "this host may execute what it leads to";
	return becomes_executable(f, c, to) ? "it becomes executable" : "";
}

static const char *flag(struct flags *f, const struct ward_change *c)
{
	const struct ward_review_meant *m = f->a.m;
	struct beneath b = {&f->a, c->path};
	f->a.root = c->root;
	if (c->kind == WARD_CHANGE_REMOVED)
		return "";
	if (c->mode & (S_ISUID | S_ISGID) && !S_ISDIR(c->type) &&
		(!c->has_base || c->base.mode != c->mode))
		return "setuid or setgid";
	if ((ward_executed_list_named(f->list, c->path) && !is_git_state(c)) ||
		ward_behind_has(f->behind, c))
		return "this host may execute it";
	/* Of directories that this project does not serve nothing is applied. */
	if (m->roots[c->root] < 0 || (c->from && m->roots[c->from_root] < 0))
		return "";
	if (c->from && S_ISDIR(c->type) && ward_executed_beneath(c->path, stands_beneath, &b))
		return "this host may execute what is in it";
	if (in_git_dir(f, c))
		return "part of a git repository";
	if (S_ISLNK(c->type) && c->kind != WARD_CHANGE_MODE)
		return flag_link(f, c);
	if (becomes_executable(f, c, ""))
		return "it becomes executable";
	return S_ISDIR(c->type) && c->kind == WARD_CHANGE_RENAMED ? flag_moved(f, c) : "";
}

static void clear(struct flags *f)
{
	for (size_t i = 0; f->asked && i < LEVELS_MAX; i++)
		free(f->asked[i].dir);
	free(f->asked);
	free(f->parent[0].dir);
	free(f->parent[1].dir);
	ward_behind_free(f->behind);
	free(f->list);
	ward_after_clear(&f->a);
}

int ward_review_flags(const struct ward_review_meant *m, const char ***ret, struct ward_err *err)
{
	const size_t n = m->changes.n;
	ward_cleanup_free const char **flags = calloc(n ? n : 1, sizeof(*flags));
	struct flags f = {.left = NAMES_ALL_MAX,
		.asked = calloc(LEVELS_MAX, sizeof(*f.asked)),
		.list = calloc(1, sizeof(*f.list))};
	int r = ward_after_init(&f.a, m);
	r = r == 0 && !(flags && f.asked && f.list) ? -ENOMEM : r;
	if (r == 0)
		ward_executed_list_read(f.list);
	if (r == 0 && n)
		r = ward_behind_find(&f.a, is_repository, &f, &f.behind);
	for (size_t i = 0; r == 0 && i < n; i++)
		flags[i] = flag(&f, &m->changes.v[i]);
	clear(&f);
	if (r < 0)
		return ward_err_sys(err, r, "staged changes");
	*ret = ward_steal_ptr(&flags);
	return 0;
}
