/* SPDX-License-Identifier: Apache-2.0 */
/* Asks the policy about a file that is shown as it is. */
#include "enforcer/session/plan/shown.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/policy/explain.h"
#include "enforcer/policy/load.h"
#include "enforcer/session/owner/as_owner.h"
#include "enforcer/session/plan/plan.h"
#include "enforcer/session/owner/project.h"

#define NEEDED (WARD_RIGHT_STAT | WARD_RIGHT_READ)

/* One of its names. */
static int ask(const struct ward_policy *p, const char *path, struct ward_shown_file *ret)
{
	const struct ward_state *s = NULL;
	const struct ward_rule *rule = NULL;
	int r = ward_policy_walk(p, path, strlen(path), &s);
	if (r < 0)
		return r;
	ret->rights &= ward_policy_ceiling(p, s, NEEDED, &rule);
	if (!ret->closed)
		ret->closed = rule;
	ward_policy_state_put(p, s);
	return 0;
}

/* The name that it has in a tree from this source, whatever the source is called. */
static int ask_tree(const struct ward_policy *p, const char *tree, const char *source,
	struct ward_shown_file *ret)
{
	ward_cleanup_fd int fd = open(source, O_PATH | O_DIRECTORY | O_CLOEXEC);
	ward_cleanup_free char *top = NULL;
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	if (fd < 0)
		return 0;
	int r = ward_fd_path(fd, &top);
	const char *rel = r == 0 ? ward_path_beneath(ret->real, top) : NULL;
	if (!rel)
		return r == -ENOMEM ? r : 0;
	ward_buf_printf(&b, "%s%s%s", tree, *rel ? "/" : "", rel);
	r = ward_buf_error(&b);
	return r < 0 ? r : ask(p, ward_buf_str(&b), ret);
}

int ward_shown_look(const struct ward_policy *p, const char *const *sources, const char *path,
	const char *at, struct ward_shown_file *ret)
{
	const struct ward_settings *settings = ward_policy_settings(p);
	struct ward_shown_file s = {.rights = WARD_RIGHTS_ALL};
	struct stat st;
	ward_cleanup_fd int fd = open(path, O_PATH | O_CLOEXEC);
	int r = ask(p, path, &s);
	if (r == 0 && at)
		r = ask(p, at, &s);
	if (r == 0 && fd >= 0 && fstat(fd, &st) == 0) {
		s.type = st.st_mode & S_IFMT;
		r = ward_fd_path(fd, &s.real);
		if (r == 0)
			r = ask(p, s.real, &s);
	}
	for (size_t i = 0; i < settings->n_trees && r == 0 && s.real; i++)
		if (sources[i])
			r = ask_tree(p, settings->trees[i].path, sources[i], &s);
	if (r < 0) {
		free(s.real);
		return r;
	}
	*ret = s;
	return 0;
}

/* True where a path goes on in another way than its names say. */
static bool is_winding(const char *s)
{
	size_t n = strlen(s);
	return strstr(s, "//") || strstr(s, "/./") || strstr(s, "/../") ||
	       (n > 1 && s[n - 1] == '/') || (n > 1 && strcmp(s + n - 2, "/.") == 0) ||
	       (n > 2 && strcmp(s + n - 3, "/..") == 0);
}

/*
 * What is relative to a file may go up from there. The kernel says where that leads; with the
 * owner's rights it is opened later. What is not there stays as it was written.
 */
static int straighten(struct ward_buf *b)
{
	char self[64], path[PATH_MAX];
	if (ward_buf_error(b) < 0 || !is_winding(ward_buf_str(b)))
		return ward_buf_error(b);
	ward_cleanup_fd int fd = open(ward_buf_str(b), O_PATH | O_CLOEXEC);
	if (fd < 0)
		return 0;
	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	ssize_t n = readlink(self, path, sizeof(path));
	if (n <= 0 || (size_t)n == sizeof(path) || path[0] != '/')
		return 0;
	ward_buf_clear(b);
	ward_buf_add(b, path, (size_t)n);
	return ward_buf_error(b);
}

int ward_shown_path(
	const char *text, const char *home, const char *project, char **ret, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	int r = ward_tree_source_resolve(text, home, project, &b, err);
	if (r < 0)
		return r;
	char *path = straighten(&b) < 0 ? NULL : ward_buf_steal(&b);
	if (!path)
		return ward_err_sys(err, -ENOMEM, "%s", text);
	*ret = path;
	return 0;
}

/* Is path, which is beneath what s shows, there, and no link that leads out of it? */
static bool lies_in(const char *path, const struct ward_shown_file *s)
{
	ward_cleanup_free char *real = NULL;
	ward_cleanup_fd int fd = open(path, O_PATH | O_CLOEXEC);
	return fd >= 0 && ward_fd_path(fd, &real) == 0 && ward_path_beneath(real, s->real);
}

int ward_shown_find(const struct ward_policy *p, const char *const *sources, const char *home,
	const char *project, const char *path, struct ward_shown_by *ret, struct ward_err *err)
{
	const struct ward_strings *all = &ward_policy_settings(p)->system_read;
	struct ward_shown_by by = {0};
	size_t longest = 0;
	for (size_t i = 0; i < all->n; i++) {
		ward_cleanup_free char *at = NULL;
		struct ward_shown_file s = {0};
		if (all->v[i][0] == '~' && !home)
			continue;
		int r = ward_shown_path(all->v[i], home, project, &at, err);
		if (r < 0)
			return r;
		/* of those beneath each other the inner one is seen */
		if (!ward_path_beneath(path, at) || strlen(at) < longest)
			continue;
		r = ward_shown_look(p, sources, at, NULL, &s);
		if (r < 0)
			return ward_err_sys(err, r, "%s", at);
		const bool shown = s.real && !s.closed && (S_ISREG(s.type) || S_ISDIR(s.type));
		if (s.real)
			longest = strlen(at);
		if (s.real)
			by = (struct ward_shown_by){.shown = shown,
				.there = shown && lies_in(path, &s),
				.rights = NEEDED | WARD_RIGHT_LIST | (s.rights & WARD_RIGHT_EXEC),
				.entry = i};
		free(s.real);
	}
	*ret = by;
	return 0;
}

static int refuse(const struct ward_shown_file *s, const char *path, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf why = WARD_BUF_INIT;
	bool other = s->real && strcmp(s->real, path) != 0;
	ward_rule_place(s->closed, &why);
	ward_buf_puts(&why, " ");
	ward_rule_text(s->closed, &why);
	return ward_err_set(err, -EINVAL,
		"%s%s%s cannot be shown: %s closes it, and --read and [system] read lift nothing",
		path, other ? ", which is " : "", other ? s->real : "", ward_buf_str(&why));
}

int ward_shown_check(const struct ward_run_plan *p, const struct ward_policy *policy,
	struct ward_shown_file *ret, struct ward_err *err)
{
	struct ward_as_owner as;
	const char *sources[WARD_TREES_MAX] = {NULL};
	for (size_t i = 0; i < p->n_trees; i++)
		sources[i] = p->trees[i].source;
	int r = ward_as_owner_begin(&p->id, &as, err);
	for (size_t i = 0; i < p->n_reads && r == 0; i++) {
		r = ward_shown_look(policy, sources, p->reads[i], p->reads_at[i], &ret[i]);
		if (r < 0)
			ward_err_sys(err, r, "[system] read = %s", p->reads[i]);
		else if (ret[i].closed)
			r = refuse(&ret[i], p->reads[i], err);
	}
	ward_as_owner_end(&as);
	return r;
}

int ward_shown_recheck(
	const struct ward_run_plan *p, const struct ward_policy *policy, struct ward_err *err)
{
	struct ward_shown_file *now = calloc(p->n_reads + 1, sizeof(*now));
	int r = now ? ward_shown_check(p, policy, now, err)
		    : ward_err_sys(err, -ENOMEM, "[system] read");
	for (size_t i = 0; i < p->n_reads && r == 0; i++)
		if (p->shown[i].rights & ~now[i].rights & WARD_RIGHT_EXEC)
			r = ward_err_set(err, -EINVAL, "%s is shown as one that may be executed",
				p->reads[i]);
	for (size_t i = 0; now && i < p->n_reads; i++)
		free(now[i].real);
	free(now);
	return r;
}
