/* SPDX-License-Identifier: Apache-2.0 */
/* Looks at what the project will be. */
#include "enforcer/cli/review/review_flags.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/session/tree/executed.h"

/* As path_resolution(7). */
#define LINKS_MAX 40U

enum kind { KIND_NONE = 0, KIND_DIR, KIND_LINK, KIND_OTHER };

/* Names beneath a directory that was renamed, and of all of these together. */
#define NAMES_MAX 10000U
#define NAMES_ALL_MAX 50000U

/* Levels for which the last answer about a directory is kept: all that a path has room for. */
#define LEVELS_MAX (PATH_MAX / 2)

/* Where links of names that the host executes are looked for; and how many are followed. */
#define LINK_LEVELS 4U
#define LINK_NAMES_MAX 20000U
#define BEHIND_MAX 1024U

static const char unseen[] = "wardfs cannot look at all that is in it";

struct asked {
	char *dir; /* owned; NULL: none was asked about */
	size_t root;
	bool git;
};

/* Where a link leads that has such a name: what is there is executed by that name. */
struct behind {
	size_t root;
	char *path; /* owned */
};

/* The project with all changes; with none, as it is. */
struct after {
	const struct ward_review_meant *m;
	const struct ward_review_changes *changes;
	size_t root;
	const struct ward_change **moved; /* owned; what is renamed, by where it was */
	size_t n_moved;
	size_t left;	     /* of NAMES_ALL_MAX */
	struct asked *asked; /* owned; LEVELS_MAX */
	/* Of the last change, and of the last one of git's state: is it in a repository? */
	struct asked parent[2];
	struct behind *behind; /* owned; BEHIND_MAX */
	size_t n_behind;
};

/* --- what stands at a path --- */

/* The last change of a path that puts something there, or, with gone, takes something away. */
static const struct ward_change *find(
	const struct after *a, size_t root, const char *path, bool gone)
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

/* Is it what a change moves away from its path? */
static bool moved_away(const struct after *a, size_t root, const char *path)
{
	const struct ward_change key = {.from_root = root, .from = (char *)path}, *k = &key;
	return a->n_moved &&
	       bsearch(&k, a->moved, a->n_moved, sizeof(*a->moved), by_origin) != NULL;
}

static int find_moved(struct after *a)
{
	const struct ward_review_changes *c = a->changes;
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

static enum kind kind_of(mode_t type)
{
	return S_ISDIR(type) ? KIND_DIR : S_ISLNK(type) ? KIND_LINK : KIND_OTHER;
}

/* Of the host: ret (PATH_MAX) gets what a link says. */
static enum kind on_host(const struct after *a, size_t root, const char *path, char *ret)
{
	mode_t type;
	return ward_review_host_look(a->m->roots[root], path, &type, ret, PATH_MAX) < 0
		       ? KIND_NONE
		       : kind_of(type);
}

static enum kind of_change(const struct after *a, const struct ward_change *c, char *ret)
{
	char name[32];
	if (!S_ISLNK(c->type))
		return kind_of(c->type);
	if (!c->object)
		return c->from ? on_host(a, c->from_root, c->from, ret) : KIND_OTHER;
	snprintf(name, sizeof(name), "objects/%u", c->object);
	ssize_t n = readlinkat(a->m->dir_fd, name, ret, PATH_MAX - 1);
	if (n < 0)
		return KIND_OTHER;
	ret[n] = '\0';
	return KIND_LINK;
}

/* What of the host stays where it is, beneath what lies at path[0..n) and was put here with all. */
static enum kind left_on_host(
	const struct after *a, size_t root, const char *path, size_t n, char *ret)
{
	char up[PATH_MAX];
	if (a->m->roots[root] < 0)
		return KIND_OTHER;
	snprintf(up, sizeof(up), "%s", path);
	for (size_t len = strlen(up); len > n; len = strlen(up)) {
		if (find(a, root, up, true) || moved_away(a, root, up))
			return KIND_NONE;
		char *slash = strrchr(up, '/');
		*(slash ? slash : up) = '\0';
	}
	return on_host(a, root, path, ret);
}

/* What path will be. Above it there are directories, no links. */
static enum kind kind_at(const struct after *a, const char *path, char *ret)
{
	char up[PATH_MAX], host[PATH_MAX];
	if (!*path)
		return KIND_DIR;
	const struct ward_change *c = find(a, a->root, path, false);
	if (c && c->kind != WARD_CHANGE_MODE)
		return of_change(a, c, ret);
	/* In a directory that is new, or was somewhere else. */
	snprintf(up, sizeof(up), "%s", path);
	for (char *slash; (slash = strrchr(up, '/'));) {
		*slash = '\0';
		c = find(a, a->root, up, false);
		if (!c || c->kind == WARD_CHANGE_MODE || !S_ISDIR(c->type))
			continue;
		if (!c->from)
			return KIND_NONE;
		if ((size_t)snprintf(host, sizeof(host), "%s%s", c->from, path + strlen(up)) >=
			sizeof(host))
			return KIND_OTHER;
		return left_on_host(a, c->from_root, host, strlen(c->from), ret);
	}
	return left_on_host(a, a->root, path, 0, ret);
}

/* --- links --- */

/* One step up. False: that leads out. */
static bool step_up(char at[PATH_MAX])
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

/*
 * Does the link at path lead out of the project? What cannot be told counts as out, and so does a
 * step up from what is no directory yet: a later session could put a link there.
 */
static bool leads_out(const struct after *a, const char *path, const char *text)
{
	char at[PATH_MAX], rest[PATH_MAX] = "", to[PATH_MAX], name[NAME_MAX + 1];
	struct ward_links links;
	unsigned n_links = 0;
	enum kind kind = KIND_DIR; /* of what is at `at` */
	ward_links_init(&links, a->m->roots[a->root]);
	snprintf(at, sizeof(at), "%s", path);
	if (!step_up(at) || !enter_link(&links, text, at, rest))
		return true;
	while (next_name(rest, name)) {
		const size_t was = strlen(at);
		if (strcmp(name, ".") == 0)
			continue;
		if (strcmp(name, "..") == 0) {
			if (kind != KIND_DIR || !step_up(at))
				return true;
			continue;
		}
		if (!*name || was + strlen(name) + 2 > sizeof(at))
			return true;
		snprintf(at + was, sizeof(at) - was, "%s%s", was ? "/" : "", name);
		kind = kind_at(a, at, to);
		if (kind != KIND_LINK)
			continue;
		at[was] = '\0';
		kind = KIND_DIR;
		if (++n_links > LINKS_MAX || !enter_link(&links, to, at, rest))
			return true;
	}
	return false;
}

/* --- what the host executes --- */

static bool stands(const struct after *a, const char *dir, const char *name)
{
	char path[PATH_MAX], to[PATH_MAX];
	if ((size_t)snprintf(path, sizeof(path), "%s%s%s", dir, *dir ? "/" : "", name) >=
		sizeof(path))
		return true;
	return kind_at(a, path, to) != KIND_NONE;
}

/* Will git take the directory for a repository (setup.c, is_git_directory())? */
static bool is_git_dir(struct after *a, const char *dir)
{
	size_t level = *dir != '\0';
	for (const char *s = dir; *s; s++)
		level += *s == '/';
	struct asked *k = level < LEVELS_MAX ? &a->asked[level] : NULL;
	if (k && k->dir && k->root == a->root && strcmp(k->dir, dir) == 0)
		return k->git;
	const bool git = stands(a, dir, "HEAD") &&
			 (stands(a, dir, "commondir") ||
				 (stands(a, dir, "objects") && stands(a, dir, "refs")));
	if (k) {
		free(k->dir);
		*k = (struct asked){.dir = strdup(dir), .root = a->root, .git = git};
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
static bool beneath_git_dir(struct after *a, const char *dir, bool state)
{
	struct asked *last = &a->parent[state];
	char up[PATH_MAX];
	if (last->dir && last->root == a->root && strcmp(last->dir, dir) == 0)
		return last->git;
	bool git = false;
	snprintf(up, sizeof(up), "%s", dir);
	do
		git = !(state && is_called_git(up)) && is_git_dir(a, up);
	while (!git && step_up(up));
	free(last->dir);
	*last = (struct asked){.dir = strdup(dir), .root = a->root, .git = git};
	return git;
}

/* Is the change in a repository without a name that tells? */
static bool in_git_dir(struct after *a, const struct ward_change *c)
{
	char up[PATH_MAX];
	if (S_ISDIR(c->type) && is_git_dir(a, c->path))
		return !is_called_git(c->path) || c->kind != WARD_CHANGE_MODE;
	snprintf(up, sizeof(up), "%s", c->path);
	return step_up(up) && beneath_git_dir(a, up, is_git_state(c));
}

struct beneath {
	const struct after *a;
	const char *dir;
};

static bool stands_beneath(void *arg, const char *rest)
{
	const struct beneath *b = arg;
	return stands(b->a, b->dir, rest);
}

/* --- what the host executes by the name of a link --- */

/* path: taken. */
static void add_behind(struct after *a, size_t root, char *path)
{
	if (!path || !*path || a->n_behind == BEHIND_MAX) {
		free(path);
		return;
	}
	a->behind[a->n_behind].root = root;
	a->behind[a->n_behind++].path = path;
}

struct links_of {
	struct after *a;
	size_t root;
	struct ward_links links;
};

static bool note_link(void *arg, const char *path, mode_t type, const char *to)
{
	const struct links_of *l = arg;
	const struct ward_links *links = &l->links;
	const size_t len = strlen(links->root);
	ward_cleanup_free char *real = NULL;
	bool out = false;
	(void)to;
	if (!S_ISLNK(type) || !ward_executed_named(path))
		return true;
	ward_cleanup_fd int fd = ward_links_open(links, path, &out);
	if (fd >= 0 && !out && ward_fd_path(fd, &real) == 0 && !strncmp(real, links->root, len) &&
		real[len] == '/')
		add_behind(l->a, l->root, strdup(real + len + 1));
	return true;
}

/* Where the text of a link at path leads as it is spelled; NULL: out, to the top, or no memory. */
static char *text_place(const char *path, const char *to)
{
	char *s = malloc(strlen(path) + strlen(to) + 2);
	const char *slash = strrchr(path, '/');
	size_t len = slash ? (size_t)(slash - path) : 0;
	if (!s)
		return NULL;
	memcpy(s, path, len);
	for (size_t n; *to; to += n + (to[n] == '/')) {
		n = strcspn(to, "/");
		if (n == 2 && !memcmp(to, "..", 2)) {
			while (len > 0 && s[--len] != '/')
				;
		} else if (n > 0 && !(n == 1 && *to == '.')) {
			if (len)
				s[len++] = '/';
			memcpy(s + len, to, n);
			len += n;
		}
	}
	s[len] = '\0';
	return s;
}

static void find_behind(struct after *a)
{
	char to[PATH_MAX];
	for (size_t i = 0; i < 16; i++) {
		struct links_of l = {.a = a, .root = i};
		size_t left = LINK_NAMES_MAX;
		if (a->m->roots[i] < 0)
			continue;
		ward_links_init(&l.links, a->m->roots[i]);
		(void)!ward_review_host_beneath(
			a->m->roots[i], "", LINK_LEVELS, &left, note_link, &l);
	}
	for (size_t i = 0; i < a->changes->n; i++) {
		const struct ward_change *v = &a->changes->v[i];
		struct ward_links links;
		if (v->kind == WARD_CHANGE_REMOVED || !S_ISLNK(v->type) ||
			a->m->roots[v->root] < 0 || (v->from && a->m->roots[v->from_root] < 0) ||
			!ward_executed_named(v->path) || of_change(a, v, to) != KIND_LINK)
			continue;
		ward_links_init(&links, a->m->roots[v->root]);
		const size_t len = strlen(links.root);
		if (*to != '/')
			add_behind(a, v->root, text_place(v->path, to));
		else if (len && !strncmp(to, links.root, len) && to[len] == '/')
			add_behind(a, v->root, text_place("", to + len));
	}
}

static bool lies_at(const char *path, const char *at)
{
	const size_t len = strlen(at);
	return !strncmp(path, at, len) && (path[len] == '/' || !path[len]);
}

/* A directory that comes to stand above such a place counts as well. */
static bool is_behind(const struct after *a, const struct ward_change *c)
{
	for (size_t i = 0; i < a->n_behind; i++)
		if (a->behind[i].root == c->root &&
			(lies_at(c->path, a->behind[i].path) ||
				(c->kind == WARD_CHANGE_RENAMED &&
					lies_at(a->behind[i].path, c->path))))
			return true;
	return false;
}

/* --- directories that are renamed, with all beneath them --- */

/* What was of this kind in its old place, too, says nothing new. */
struct moved {
	struct after *a;
	const struct after *was;
	const struct ward_change *c;
	const char *flag;
};

static bool look_beneath(void *arg, const char *path, mode_t type, const char *text)
{
	struct moved *v = arg;
	char is[PATH_MAX], was[PATH_MAX], to[PATH_MAX];
	if ((size_t)snprintf(is, sizeof(is), "%s/%s", v->c->path, path) >= sizeof(is) ||
		(size_t)snprintf(was, sizeof(was), "%s/%s", v->c->from, path) >= sizeof(was)) {
		v->flag = unseen;
		return false;
	}
	const bool named = ward_executed_named(is) && !ward_executed_named(was);
	if ((!named && !S_ISLNK(type)) || kind_at(v->a, is, to) == KIND_NONE)
		return true;
	if (named)
		v->flag = "this host may execute what is in it";
	else if (leads_out(v->a, is, text) && !leads_out(v->was, was, text))
		v->flag = "a link in it leads out of the project";
	return !*v->flag;
}

/* A directory that moves, with all that it has on the host. */
static const char *flag_moved(struct after *a, const struct ward_change *c)
{
	static const struct ward_review_changes none = {.v = NULL};
	const struct after was = {.m = a->m, .changes = &none, .root = c->from_root};
	struct moved v = {.a = a, .was = &was, .c = c, .flag = ""};
	const size_t room = a->left < NAMES_MAX ? a->left : NAMES_MAX;
	size_t left = room;
	int r = ward_review_host_beneath(
		a->m->roots[c->from_root], c->from, 0, &left, look_beneath, &v);
	a->left -= room - left;
	if (*v.flag || r == -ENOENT)
		return v.flag;
	return r == -E2BIG ? "it has more in it than wardfs looks at" : r < 0 ? unseen : "";
}

/* Would it be executable where the project has a file that is not? */
static bool becomes_executable(const struct after *a, const struct ward_change *c)
{
	mode_t was = 0;
	char to[PATH_MAX];
	if (!S_ISREG(c->type) || !(c->mode & 0111))
		return false;
	if (c->kind == WARD_CHANGE_MODIFIED && c->has_base)
		return c->mode & 0111 & ~c->base.mode;
	return ward_review_host_look(a->m->roots[c->root], c->path, &was, to, sizeof(to)) == 0 &&
	       S_ISREG(was) && (c->mode & 0111 & ~was);
}

static const char *flag(struct after *a, const struct ward_change *c)
{
	char to[PATH_MAX];
	struct beneath b = {a, c->path};
	a->root = c->root;
	if (c->kind == WARD_CHANGE_REMOVED)
		return "";
	if (c->mode & (S_ISUID | S_ISGID) && !S_ISDIR(c->type) &&
		(!c->has_base || c->base.mode != c->mode))
		return "setuid or setgid";
	if ((ward_executed_named(c->path) && !is_git_state(c)) || is_behind(a, c))
		return "this host may execute it";
	/* Of directories that this project does not serve nothing is applied. */
	if (a->m->roots[c->root] < 0 || (c->from && a->m->roots[c->from_root] < 0))
		return "";
	if (c->from && S_ISDIR(c->type) && ward_executed_beneath(c->path, stands_beneath, &b))
		return "this host may execute what is in it";
	if (in_git_dir(a, c))
		return "part of a git repository";
	if (S_ISLNK(c->type) && c->kind != WARD_CHANGE_MODE &&
		(of_change(a, c, to) != KIND_LINK || leads_out(a, c->path, to)))
		return "a link that leads out of the project";
	if (becomes_executable(a, c))
		return "it becomes executable";
	return S_ISDIR(c->type) && c->kind == WARD_CHANGE_RENAMED ? flag_moved(a, c) : "";
}

int ward_review_flags(const struct ward_review_meant *m, const char ***ret, struct ward_err *err)
{
	const size_t n = m->changes.n;
	const char **flags = calloc(n ? n : 1, sizeof(*flags));
	struct after a = {.m = m,
		.changes = &m->changes,
		.left = NAMES_ALL_MAX,
		.asked = calloc(LEVELS_MAX, sizeof(*a.asked)),
		.behind = calloc(BEHIND_MAX, sizeof(*a.behind))};
	int r = flags && a.asked && a.behind ? find_moved(&a) : -ENOMEM;
	if (r == 0)
		find_behind(&a);
	for (size_t i = 0; r == 0 && i < n; i++)
		flags[i] = flag(&a, &m->changes.v[i]);
	for (size_t i = 0; a.asked && i < LEVELS_MAX; i++)
		free(a.asked[i].dir);
	for (size_t i = 0; i < a.n_behind; i++)
		free(a.behind[i].path);
	free(a.asked);
	free(a.behind);
	free(a.parent[0].dir);
	free(a.parent[1].dir);
	free(a.moved);
	if (r < 0) {
		free(flags);
		return ward_err_sys(err, r, "staged changes");
	}
	*ret = flags;
	return 0;
}
