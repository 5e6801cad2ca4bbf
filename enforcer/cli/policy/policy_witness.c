/* SPDX-License-Identifier: Apache-2.0 */
/* Walks through the project for examples. */
#include "enforcer/cli/policy/policy_witness.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/policy/diff.h"
#include "enforcer/policy/mounted.h"

#define TOP "/workspace"
/* A look of well below a second: an example is no promise. */
#define ENTRIES_MAX 50000U
#define DEPTH_MAX 32U

struct look {
	const struct ward_policy *before, *after;
	struct policy_effect *e;
	unsigned entries;
	int top; /* the project's directory */
};

/* One path that exists. */
static void take(struct look *l, const char *path, const struct ward_difference *d)
{
	for (size_t i = 0; i < l->e->n_groups; i++) {
		struct policy_effect_group *g = &l->e->groups[i];
		if (g->lost != d->lost || g->gained != d->gained)
			continue;
		g->n_here++;
		if (g->here)
			continue;
		g->here = strdup(path);
		g->here_rule = d->a;
	}
}

static void walk(struct look *l, const char *path, const struct ward_state *a,
	const struct ward_state *b, unsigned depth);

static void entry(struct look *l, const char *parent, const char *name, bool dir,
	const struct ward_state *a, const struct ward_state *b, unsigned depth)
{
	ward_cleanup(ward_buf_clear) struct ward_buf path = WARD_BUF_INIT;
	const struct ward_state *sa = NULL, *sb = NULL;
	struct ward_difference d = {0};
	ward_buf_printf(&path, "%s/%s", parent, name);
	if (ward_buf_error(&path) < 0 ||
		ward_policy_step(l->before, a, name, strlen(name), &sa) < 0)
		return;
	if (ward_policy_step(l->after, b, name, strlen(name), &sb) == 0) {
		if (ward_policy_differ(l->before, sa, l->after, sb, dir, &d))
			take(l, ward_buf_str(&path), &d);
		/* What git keeps is not what people ask about. */
		if (dir && strcmp(name, ".git") != 0)
			walk(l, ward_buf_str(&path), sa, sb, depth + 1);
		ward_policy_state_put(l->after, sb);
	}
	ward_policy_state_put(l->before, sa);
}

static void walk(struct look *l, const char *path, const struct ward_state *a,
	const struct ward_state *b, unsigned depth)
{
	const char *rel = path + sizeof(TOP) - 1;
	if (depth > DEPTH_MAX)
		return;
	/* Not into other mounts, which may not answer: these are examples. */
	int fd = ward_mounted_open_in(l->top, *rel ? rel + 1 : ".", O_RDONLY, RESOLVE_NO_XDEV);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir) {
		if (fd >= 0)
			close(fd);
		return;
	}
	const struct dirent *x;
	while (l->entries < ENTRIES_MAX && !ward_policy_study_over(l->after) &&
		(x = readdir(dir))) {
		struct stat st;
		if (strcmp(x->d_name, ".") == 0 || strcmp(x->d_name, "..") == 0)
			continue;
		l->entries++;
		const bool is_dir = x->d_type == DT_DIR ||
				    (x->d_type == DT_UNKNOWN &&
					    fstatat(fd, x->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
					    S_ISDIR(st.st_mode));
		entry(l, path, x->d_name, is_dir, a, b, depth);
	}
	closedir(dir);
}

/* "/workspace/docs/x.pem" of "/workspace/docs/x.pem"; "/workspace/docs" of
 * "/workspace/docs/[*].pem". */
static char *literal(const char *path)
{
	const size_t n = strcspn(path, "*?[\\");
	size_t end = strlen(path);
	if (path[n])
		for (end = n; end > 0 && path[end] != '/'; end--)
			;
	return strndup(path, end);
}

void policy_witness_find(const struct ward_policy_place *place, const struct ward_policy *before,
	const struct ward_policy *after, struct policy_effect *e)
{
	ward_cleanup_free char *host = ward_policy_place_host(place, TOP);
	const struct ward_state *a = NULL, *b = NULL;
	struct look l = {.before = before, .after = after, .e = e, .top = place->project.fd};
	for (size_t i = 0; i < e->n_groups; i++) {
		struct policy_effect_group *g = &e->groups[i];
		ward_cleanup_free char *known = literal(g->path);
		const unsigned type = known ? ward_policy_place_type(place, known) : 0;
		const bool whole = known && strlen(known) == strlen(g->path);
		g->exists = whole && type;
		/* Nothing lies beneath a file. */
		g->beneath_file = !whole && type && type != S_IFDIR;
		g->in_dir = !whole && type == S_IFDIR && !strchr(g->path + strlen(known) + 1, '/');
	}
	if (!place->in_project || !host || strcmp(host, place->project.path) != 0)
		return;
	if (ward_policy_walk(before, TOP, strlen(TOP), &a) == 0 &&
		ward_policy_walk(after, TOP, strlen(TOP), &b) == 0)
		walk(&l, TOP, a, b, 0);
	ward_policy_state_put(before, a);
	ward_policy_state_put(after, b);
}
