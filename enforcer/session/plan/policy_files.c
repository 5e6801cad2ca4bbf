/* SPDX-License-Identifier: Apache-2.0 */
/* Guards a policy's own files where a tree serves them. */
#include "enforcer/session/plan/policy_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/base/mounts.h"
#include "enforcer/base/way.h"
#include "enforcer/ipc/helper.h"
#include "enforcer/policy/load.h"
#include "enforcer/session/owner/project.h"

struct tree {
	const char *path; /* inside */
	char *top;	  /* the kernel's name for its source; NULL: not of the host, or missing */
	struct ward_spot spot; /* where that lies, whatever mount shows it; path NULL: the same */
};

struct guards {
	struct tree trees[WARD_TREES_MAX];
	size_t n_trees;
	struct ward_mounts mounts;
	struct ward_buf *text;
	bool begun;
};

static void guards_clear(struct guards *g)
{
	for (size_t i = 0; i < g->n_trees; i++) {
		free(g->trees[i].top);
		ward_spot_clear(&g->trees[i].spot);
	}
	ward_mounts_clear(&g->mounts);
}

static int find_trees(const struct ward_settings *s, const char *home, const char *project,
	struct guards *g, struct ward_err *err)
{
	int r = ward_mounts_read(&g->mounts, err);
	for (size_t i = 0; r == 0 && i < s->n_trees && i < WARD_TREES_MAX; i++) {
		const struct ward_tree *t = &s->trees[i];
		ward_cleanup(ward_buf_clear) struct ward_buf source = WARD_BUF_INIT;
		struct tree *own = &g->trees[g->n_trees++];
		*own = (struct tree){.path = t->path};
		if (!t->source)
			continue;
		r = ward_tree_source_resolve(t->source, home, project, &source, err);
		if (r < 0)
			return ward_err_wrap(err, "[tree %s] source", t->path);
		ward_cleanup_fd int fd =
			open(ward_buf_str(&source), O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (fd >= 0)
			r = ward_fd_path(fd, &own->top);
		if (own->top)
			r = ward_spot_find(&g->mounts, fd, &own->spot);
		if (r == -ENOMEM)
			return ward_err_sys(err, r, "[tree %s]", t->path);
		r = 0;
	}
	return r;
}

static void put_name(struct ward_buf *b, const char *name)
{
	ward_buf_puts(b, "/");
	ward_pattern_quote(b, name, strlen(name));
}

/* The tree's name for the path top/rel/name/rest; the middle two may be "", as may be rest. */
static void guard_one(struct guards *g, const char *verb, const char *const names[4])
{
	if (!g->begun)
		ward_buf_puts(g->text, "[guard]\n");
	g->begun = true;
	ward_buf_printf(g->text, "%s = ", verb);
	ward_pattern_quote(g->text, names[0], strlen(names[0]));
	for (size_t i = 1; i < 4; i++)
		if (*names[i])
			put_name(g->text, names[i]);
	ward_buf_putc(g->text, '\n');
}

/* Calls fn with names as above, for each tree that shows dir, and each name of it there. */
static int each_name(struct guards *g, const char *dir, const char *name, const char *rest,
	int (*fn)(void *user, const char *const names[4]), void *user)
{
	ward_cleanup(ward_spot_clear) struct ward_spot place = {0};
	int r = ward_spot_of_name(&g->mounts, dir, &place);
	for (size_t i = 0; i < g->n_trees && r == 0; i++) {
		const struct tree *t = &g->trees[i];
		const char *rel = t->top ? ward_path_beneath(dir, t->top) : NULL;
		/* A bind mount shows the directory under a name that no tree has. */
		const char *bound = t->spot.path ? ward_spot_beneath(&place, &t->spot) : NULL;
		if (rel)
			r = fn(user, (const char *const[4]){t->path, rel, name, rest});
		if (r == 0 && bound && (!rel || strcmp(rel, bound) != 0))
			r = fn(user, (const char *const[4]){t->path, bound, name, rest});
	}
	return r;
}

static int guard_file(void *user, const char *const names[4])
{
	struct guards *g = user;
	guard_one(g, "read", names);
	return ward_buf_error(g->text);
}

/* ward_way_fn */
static int guard_name(void *user, const char *dir, const char *name, bool is_link)
{
	(void)is_link;
	return each_name(user, dir, name, "", guard_file, user);
}

int ward_policy_files_guard(const struct ward_policy *p, const char *home, const char *project,
	struct ward_buf *text, struct ward_err *err)
{
	static const enum ward_source_kind kinds[] = {WARD_SOURCE_BASE, WARD_SOURCE_PROFILE};
	ward_cleanup(guards_clear) struct guards g = {.text = text};
	int r = find_trees(ward_policy_settings(p), home, project, &g, err);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]) && r == 0; i++) {
		struct ward_source_text s;
		/* A shipped profile has no path. */
		if (!ward_policy_source(p, kinds[i], &s) || s.file[0] != '/')
			continue;
		r = ward_way_each(s.file, guard_name, &g);
		/* What came through a pipe (--policy /dev/stdin) has no name that anybody could
		 * change. */
		if (r == -ENOENT)
			r = 0;
		if (r < 0)
			ward_err_sys(err, r, "what leads to %s", s.file);
	}
	return r;
}

struct own {
	struct guards *g;
	const struct ward_policy *policy;
	const char *rest; /* what is missing beneath the name */
	uint32_t forbidden;
};

/* What the policy gives is left as it is: the start is refused for it. */
static int guard_own(void *user, const char *const names[4])
{
	const struct own *o = user;
	ward_cleanup(ward_buf_clear) struct ward_buf inside = WARD_BUF_INIT;
	const struct ward_state *state = NULL;
	ward_buf_puts(&inside, names[0]);
	for (size_t i = 1; i < 4; i++)
		ward_buf_printf(&inside, "%s%s", *names[i] ? "/" : "", names[i]);
	int r = ward_buf_error(&inside);
	if (r == 0)
		r = ward_policy_walk(o->policy, ward_buf_str(&inside), inside.len, &state);
	if (r < 0)
		return r;
	const uint32_t rights = ward_policy_rights(o->policy, state);
	ward_policy_state_put(o->policy, state);
	if (!(rights & o->forbidden))
		guard_one(o->g, o->forbidden & WARD_RIGHT_READ ? "hide" : "read", names);
	return ward_buf_error(o->g->text);
}

/* ward_way_fn */
static int guard_own_name(void *user, const char *dir, const char *name, bool is_link)
{
	struct own *o = user;
	return is_link ? each_name(o->g, dir, name, "", guard_file, o->g)
		       : each_name(o->g, dir, name, o->rest, guard_own, o);
}

int ward_own_dir_guard(const struct ward_policy *p, const char *home, const char *project,
	const char *dir, uint32_t forbidden, struct ward_buf *text, struct ward_err *err)
{
	ward_cleanup(guards_clear) struct guards g = {.text = text};
	ward_cleanup_free char *path = strdup(dir);
	struct own o = {.g = &g, .policy = p, .rest = "", .forbidden = forbidden};
	int r = path ? find_trees(ward_policy_settings(p), home, project, &g, err) : -ENOMEM;
	const size_t before = text->len;
	for (char *slash = path; r == 0 && path; *slash = '\0') {
		r = ward_way_each(path, guard_own_name, &o);
		slash = strrchr(path, '/');
		if ((r != -ENOENT && r != -ENOTDIR) || !slash || slash == path)
			break;
		/* Made later, it lies beneath what is there now. */
		o.rest = dir + (slash - path) + 1;
		r = 0;
	}
	/* Where the owner cannot look, neither can wardfs-fs. */
	if (r == -EACCES && text->len == before)
		r = 0;
	return r < 0 ? ward_err_sys(err, r, "what leads to %s", dir) : 0;
}
