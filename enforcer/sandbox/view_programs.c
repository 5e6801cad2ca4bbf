/* SPDX-License-Identifier: Apache-2.0 */
/*
 * [process] exec in the view. Landlock refuses execve(2) of unlisted programs. But a command that
 * may run a dynamic program may also run its loader, and `ld.so FILE` only reads FILE and maps it.
 * A file on a noexec mount cannot be mapped as code (mm/mmap.c). So everything except libraries and
 * the listed programs is on such a mount.
 */
#include "enforcer/sandbox/view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A hole for each program up to so many; beyond, for the directories that they are in. */
#define HOLES_MAX 256

/* Libraries are mapped from there by whatever program. */
static const char *const libraries[] = {"/lib", "/lib32", "/lib64", "/libx32", "/usr/lib",
	"/usr/lib32", "/usr/lib64", "/usr/libx32", "/usr/local/lib", "/usr/local/lib64"};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static bool is_library(const char *path)
{
	for (size_t i = 0; i < COUNT(libraries); i++)
		if (strcmp(libraries[i], path) == 0)
			return true;
	return false;
}

static bool is_dir(const char *path)
{
	struct stat st;
	return lstat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* The entry that shows this path of the host, at the same path and read-only; NULL. */
static struct ward_blueprint_entry *shown_by(
	const struct ward_view_list *w, size_t n, const char *path)
{
	struct ward_blueprint_entry *deepest = NULL;
	for (size_t i = 0; i < n; i++)
		if (ward_blueprint_path_below(path, w->v[i].path) &&
			(!deepest || strlen(w->v[i].path) > strlen(deepest->path)))
			deepest = &w->v[i];
	bool same = deepest &&
		    (deepest->kind == WARD_BLUEPRINT_BIND ||
			    deepest->kind == WARD_BLUEPRINT_TREE_FILE) &&
		    strcmp(deepest->path, deepest->text) == 0;
	return same ? deepest : NULL;
}

/* A place that only the session has: nobody decides by name there. */
static int mark_place(
	const struct ward_sandbox_spec *spec, struct ward_blueprint_entry *e, struct ward_err *err)
{
	switch (spec->programs->listed(spec->programs->user, e->path)) {
	case WARD_SANDBOX_LISTED_NOT:
		e->flags |= WARD_BLUEPRINT_NOEXEC;
		return 0;
	case WARD_SANDBOX_LISTED:
		e->flags |= WARD_BLUEPRINT_EXEC;
		return 0;
	case WARD_SANDBOX_LISTED_BENEATH:
		break;
	}
	return ward_err_set(err, -EINVAL,
		"[process] exec names a program beneath %s, which is empty when a session starts and has no rules for single names; list the whole directory, or put the program into a tree",
		e->path);
}

static void mark_tree(const struct ward_sandbox_spec *spec, struct ward_blueprint_entry *e)
{
	const char *path = spec->trees[e->mode].path;
	e->flags |= spec->programs->listed(spec->programs->user, path) == WARD_SANDBOX_LISTED_NOT
			    ? WARD_BLUEPRINT_NOEXEC
			    : WARD_BLUEPRINT_EXEC;
}

/* More of the host: libraries beside a program are its own. The system's are known. */
static void mark_bind(const struct ward_sandbox_programs *p, struct ward_blueprint_entry *e)
{
	bool system = strcmp(e->path, "/usr") == 0 || strcmp(e->path, "/bin") == 0 ||
		      strcmp(e->path, "/sbin") == 0;
	bool used = is_library(e->path);
	for (size_t i = 0; i < p->n && !used && !system; i++)
		used = ward_blueprint_path_below(p->v[i], e->path) ||
		       ward_blueprint_path_below(e->path, p->v[i]);
	if (!used)
		e->flags |= WARD_BLUEPRINT_NOEXEC;
}

static int mark(
	const struct ward_sandbox_spec *spec, struct ward_view_list *w, struct ward_err *err)
{
	int r = 0;
	for (size_t i = 0; i < w->n && r == 0; i++) {
		struct ward_blueprint_entry *e = &w->v[i];
		switch (e->kind) {
		case WARD_BLUEPRINT_SHARED:
		case WARD_BLUEPRINT_TMPFS:
			r = mark_place(spec, e, err);
			break;
		case WARD_BLUEPRINT_TREE:
		case WARD_BLUEPRINT_TREE_AT:
			mark_tree(spec, e);
			break;
		case WARD_BLUEPRINT_BIND:
		case WARD_BLUEPRINT_TREE_FILE:
			mark_bind(spec->programs, e);
			break;
		case WARD_BLUEPRINT_NONE:
		case WARD_BLUEPRINT_DIR:
		case WARD_BLUEPRINT_FILE:
		case WARD_BLUEPRINT_LINK:
		case WARD_BLUEPRINT_HOST:
		case WARD_BLUEPRINT_DEVICE:
		case WARD_BLUEPRINT_COVER:
		case WARD_BLUEPRINT_PTS:
		case WARD_BLUEPRINT_FILES:
		case WARD_BLUEPRINT_KINDS_:
			break;
		}
	}
	return r;
}

static void add_hole(struct ward_view_list *w, const char *path)
{
	if (!ward_view_find(w, path))
		ward_view_add(w, WARD_BLUEPRINT_BIND, path, path, 0, WARD_BLUEPRINT_OPTIONAL);
}

static void add_hole_for(struct ward_view_list *w, const char *program, bool many)
{
	const char *slash = strrchr(program, '/');
	char *dir = many && slash > program ? strndup(program, (size_t)(slash - program)) : NULL;
	add_hole(w, dir && shown_by(w, w->n, dir) ? dir : program);
	free(dir);
}

static int add_program(struct ward_view_list *w, const char *path)
{
	w->programs[w->n_programs] = strdup(path);
	if (!w->programs[w->n_programs])
		return -ENOMEM;
	w->n_programs++;
	return 0;
}

int ward_view_programs(
	const struct ward_sandbox_spec *spec, struct ward_view_list *w, struct ward_err *err)
{
	const struct ward_sandbox_programs *p = spec->programs;
	size_t n = w->n;
	int r = mark(spec, w, err);
	if (r < 0)
		return r;
	w->programs = calloc(p->n + 1, sizeof(*w->programs));
	if (!w->programs)
		return ward_err_sys(err, -ENOMEM, "programs");
	for (size_t i = 0; i < COUNT(libraries); i++) {
		const struct ward_blueprint_entry *e = shown_by(w, n, libraries[i]);
		if (e && e->flags & WARD_BLUEPRINT_NOEXEC && is_dir(libraries[i]))
			add_hole(w, libraries[i]);
	}
	for (size_t i = 0; i < p->n && r == 0; i++) {
		/* Of those that were there before any hole: adding may move them. */
		const struct ward_blueprint_entry *e =
			ward_blueprint_path_ok(p->v[i]) ? shown_by(w, n, p->v[i]) : NULL;
		bool closed = e && e->flags & WARD_BLUEPRINT_NOEXEC;
		r = e ? add_program(w, p->v[i]) : 0;
		/* A library directory is open as a whole. */
		e = shown_by(w, w->n, p->v[i]);
		if (closed && e && e->flags & WARD_BLUEPRINT_NOEXEC)
			add_hole_for(w, p->v[i], p->n > HOLES_MAX);
	}
	return r < 0 ? ward_err_sys(err, r, "programs") : 0;
}
