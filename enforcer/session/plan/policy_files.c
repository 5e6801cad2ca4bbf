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
#include "enforcer/base/way.h"
#include "enforcer/ipc/helper.h"
#include "enforcer/policy/load.h"
#include "enforcer/session/owner/project.h"

struct tree {
	const char *path; /* inside */
	char *top;	  /* the kernel's name for its source; NULL: not of the host, or missing */
};

struct guards {
	struct tree trees[WARD_TREES_MAX];
	size_t n_trees;
	struct ward_buf *text;
	bool begun;
};

static void guards_clear(struct guards *g)
{
	for (size_t i = 0; i < g->n_trees; i++)
		free(g->trees[i].top);
}

static int find_trees(const struct ward_settings *s, const char *home, const char *project,
	struct guards *g, struct ward_err *err)
{
	for (size_t i = 0; i < s->n_trees && i < WARD_TREES_MAX; i++) {
		const struct ward_tree *t = &s->trees[i];
		ward_cleanup(ward_buf_clear) struct ward_buf source = WARD_BUF_INIT;
		struct tree *own = &g->trees[g->n_trees++];
		*own = (struct tree){.path = t->path};
		if (!t->source)
			continue;
		int r = ward_tree_source_resolve(t->source, home, project, &source, err);
		if (r < 0)
			return ward_err_wrap(err, "[tree %s] source", t->path);
		ward_cleanup_fd int fd =
			open(ward_buf_str(&source), O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (fd >= 0 && ward_fd_path(fd, &own->top) == -ENOMEM)
			return ward_err_sys(err, -ENOMEM, "[tree %s]", t->path);
	}
	return 0;
}

/* ward_way_fn */
static int guard_name(void *user, const char *dir, const char *name, bool is_link)
{
	struct guards *g = user;
	(void)is_link;
	for (size_t i = 0; i < g->n_trees; i++) {
		const struct tree *t = &g->trees[i];
		const char *rel = t->top ? ward_path_beneath(dir, t->top) : NULL;
		if (!rel)
			continue;
		if (!g->begun)
			ward_buf_puts(g->text, "[guard]\n");
		g->begun = true;
		ward_buf_puts(g->text, "read = ");
		ward_pattern_quote(g->text, t->path, strlen(t->path));
		ward_buf_puts(g->text, *rel ? "/" : "");
		ward_pattern_quote(g->text, rel, strlen(rel));
		ward_buf_puts(g->text, "/");
		ward_pattern_quote(g->text, name, strlen(name));
		ward_buf_putc(g->text, '\n');
	}
	return ward_buf_error(g->text);
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
