/* SPDX-License-Identifier: Apache-2.0 */
/* Asks the policy about what is shown as it is. */
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
#include "enforcer/base/patient.h"
#include "enforcer/policy/explain.h"
#include "enforcer/policy/load.h"
#include "enforcer/session/owner/as_owner.h"
#include "enforcer/session/owner/project.h"
#include "enforcer/session/plan/plan.h"

#define NEEDED (WARD_RIGHT_STAT | WARD_RIGHT_READ)

void ward_shown_file_clear(struct ward_shown_file *s)
{
	if (s->fd >= 0)
		close(s->fd);
	free(s->real);
	ward_spot_clear(&s->spot);
	*s = WARD_SHOWN_FILE_INIT;
}

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

/* The name that it has in a tree that serves the place where it lies. */
static int ask_tree(const struct ward_policy *p, const struct ward_tree_spots *trees, size_t i,
	struct ward_shown_file *ret)
{
	ward_cleanup(ward_buf_clear) struct ward_buf name = WARD_BUF_INIT;
	const struct ward_tree *t = &ward_policy_settings(p)->trees[i];
	/* It may be another name of a file whose other names close it. */
	if (ret->linked && trees->v[i].path && trees->v[i].dev == ret->spot.dev &&
		t->hardlinks == WARD_HARDLINKS_DENY)
		ret->links = (int)i;
	if (!ward_tree_spots_name(trees, p, i, &ret->spot, &name))
		return 0;
	if (ret->type == S_IFDIR)
		ret->served = (int)i;
	int r = ward_buf_error(&name);
	return r < 0 ? r : ask(p, ward_buf_str(&name), ret);
}

/* All of its names; fills what the policy says. */
static int ask_all(const struct ward_policy *p, const struct ward_tree_spots *trees,
	const char *path, const char *at, struct ward_shown_file *s)
{
	int r = ask(p, path, s);
	if (r == 0 && at)
		r = ask(p, at, s);
	if (r == 0 && s->real)
		r = ask(p, s->real, s);
	for (size_t i = 0; i < trees->n && r == 0 && s->real; i++)
		r = ask_tree(p, trees, i, s);
	return r;
}

static int open_shown(
	const struct ward_tree_spots *trees, const char *path, struct ward_shown_file *s)
{
	struct stat st;
	int r = ward_patient_reach(path, NULL);
	if (r < 0)
		return r;
	s->fd = open(path, O_PATH | O_CLOEXEC);
	if (s->fd >= 0 && fstat(s->fd, &st) == 0) {
		s->type = st.st_mode & S_IFMT;
		s->linked = S_ISREG(st.st_mode) && st.st_nlink > 1;
		s->dev = st.st_dev;
		s->ino = st.st_ino;
		r = ward_fd_path(s->fd, &s->real);
		if (r == 0)
			r = ward_spot_find(&trees->mounts, s->fd, &s->spot);
	}
	return r;
}

int ward_shown_look(const struct ward_policy *p, const struct ward_tree_spots *trees,
	const char *path, const char *at, struct ward_shown_file *ret)
{
	struct ward_shown_file s = WARD_SHOWN_FILE_INIT;
	int r = open_shown(trees, path, &s);
	if (r == 0)
		r = ask_all(p, trees, path, at, &s);
	if (r < 0)
		ward_shown_file_clear(&s);
	else
		*ret = s;
	return r;
}

static bool is_open(const struct ward_shown_file *s)
{
	return !s->closed && s->served < 0 && s->links < 0;
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
 * owner's rights it is opened later. What does not exist stays as it was written.
 */
static int straighten(struct ward_buf *b)
{
	char self[64], path[PATH_MAX];
	if (ward_buf_error(b) < 0 || !is_winding(ward_buf_str(b)))
		return ward_buf_error(b);
	int r = ward_patient_reach(ward_buf_str(b), NULL);
	if (r < 0)
		return r;
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
	r = straighten(&b);
	char *path = r < 0 ? NULL : ward_buf_steal(&b);
	if (!path)
		return ward_err_sys(err, r < 0 ? r : -ENOMEM, "%s", text);
	*ret = path;
	return 0;
}

int ward_shown_reach(const struct ward_strings *shown, const char *home, const char *project,
	struct ward_err *err)
{
	char **paths = calloc(shown->n + 1, sizeof(*paths));
	size_t n = 0;
	int r = paths ? 0 : ward_err_sys(err, -ENOMEM, "[system] read");
	for (size_t i = 0; i < shown->n && r == 0; i++) {
		ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
		if (shown->v[i][0] == '~' && !home)
			continue;
		r = ward_tree_source_resolve(shown->v[i], home, project, &b, err);
		if (r == 0 && !(paths[n++] = ward_buf_steal(&b)))
			r = ward_err_sys(err, -ENOMEM, "%s", shown->v[i]);
	}
	if (r == 0)
		r = ward_patient_reach_all(paths, n, err);
	for (size_t i = 0; i < n; i++)
		free(paths[i]);
	free(paths);
	return r < 0 ? ward_err_wrap(err, "[system] read") : 0;
}

/* Is path, which is beneath what s shows, there, and no link that leads out of it? */
static bool lies_in(const char *path, const struct ward_shown_file *s)
{
	ward_cleanup_free char *real = NULL;
	ward_cleanup_fd int fd = open(path, O_PATH | O_CLOEXEC);
	return fd >= 0 && ward_fd_path(fd, &real) == 0 && ward_path_beneath(real, s->real);
}

int ward_shown_find(const struct ward_policy *p, const struct ward_tree_spots *trees,
	const char *home, const char *project, const char *path, struct ward_shown_by *ret,
	struct ward_err *err)
{
	const struct ward_strings *all = &ward_policy_settings(p)->system_read;
	struct ward_shown_by by = {0};
	size_t longest = 0;
	int reached = ward_shown_reach(all, home, project, err);
	if (reached < 0)
		return reached;
	for (size_t i = 0; i < all->n; i++) {
		ward_cleanup_free char *at = NULL;
		ward_cleanup(ward_shown_file_clear) struct ward_shown_file s = WARD_SHOWN_FILE_INIT;
		if (all->v[i][0] == '~' && !home)
			continue;
		int r = ward_shown_path(all->v[i], home, project, &at, err);
		if (r < 0)
			return r;
		/* of those beneath each other the inner one is seen */
		if (!ward_path_beneath(path, at) || strlen(at) < longest)
			continue;
		r = ward_shown_look(p, trees, at, NULL, &s);
		if (r < 0)
			return ward_err_sys(err, r, "%s", at);
		const bool shown = s.real && is_open(&s) && (S_ISREG(s.type) || S_ISDIR(s.type));
		if (s.real)
			longest = strlen(at);
		if (s.real)
			by = (struct ward_shown_by){.shown = shown,
				.there = shown && lies_in(path, &s),
				.rights = NEEDED | WARD_RIGHT_LIST | (s.rights & WARD_RIGHT_EXEC),
				.entry = i};
	}
	*ret = by;
	return 0;
}

static int refuse(const struct ward_policy *p, const struct ward_shown_file *s, const char *path,
	struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf why = WARD_BUF_INIT;
	const struct ward_tree *trees = ward_policy_settings(p)->trees;
	const bool other = s->real && strcmp(s->real, path) != 0;
	if (s->closed) {
		ward_rule_place(s->closed, &why);
		ward_buf_puts(&why, " ");
		ward_rule_text(s->closed, &why);
		ward_buf_puts(&why, " closes it, and --read and [system] read lift nothing");
	} else if (s->served >= 0) {
		ward_buf_printf(&why,
			"the tree %s serves it, and its rules would not hold there; take it out of "
			"[system] read, or let the tree be seen at its own path (at = same)",
			trees[s->served].path);
	} else {
		ward_buf_printf(&why,
			"it has more than one name (hard links), and the tree %s on the same file "
			"system closes such files (hardlinks = deny)",
			trees[s->links].path);
	}
	return ward_err_set(err, -EINVAL, "%s%s%s cannot be shown: %s", path,
		other ? ", which is " : "", other ? s->real : "", ward_buf_str(&why));
}

int ward_shown_check(struct ward_run_plan *p, struct ward_err *err)
{
	struct ward_as_owner as;
	int r = ward_as_owner_begin(&p->id, &as, err);
	for (size_t i = 0; i < p->n_reads && r == 0; i++) {
		const bool named = p->shown[i].named;
		r = ward_shown_look(
			p->policy, &p->spots, p->reads[i], p->reads_at[i], &p->shown[i]);
		p->shown[i].named = named;
		if (r < 0)
			ward_err_sys(err, r, "[system] read = %s", p->reads[i]);
		else if (!is_open(&p->shown[i]))
			r = refuse(p->policy, &p->shown[i], p->reads[i], err);
	}
	ward_as_owner_end(&as);
	return r;
}

int ward_shown_recheck(
	const struct ward_run_plan *p, const struct ward_policy *policy, struct ward_err *err)
{
	for (size_t i = 0; i < p->n_reads; i++) {
		struct ward_shown_file now = p->shown[i]; /* borrows */
		now.rights = WARD_RIGHTS_ALL;
		now.closed = NULL;
		now.served = now.links = -1;
		int r = ask_all(policy, &p->spots, p->reads[i], p->reads_at[i], &now);
		if (r < 0)
			return ward_err_sys(err, r, "[system] read = %s", p->reads[i]);
		if (!is_open(&now))
			return refuse(policy, &now, p->reads[i], err);
		if (p->shown[i].rights & ~now.rights & WARD_RIGHT_EXEC)
			return ward_err_set(err, -EINVAL,
				"%s would be shown with the right to execute it", p->reads[i]);
	}
	return 0;
}
