/* SPDX-License-Identifier: Apache-2.0 */
/* Asks the policy about what is shown as it is. */
#include "enforcer/session/plan/shown.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/policy/explain.h"
#include "enforcer/session/owner/as_owner.h"
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
	int r = 0;
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

static bool is_open(const struct ward_shown_file *s)
{
	return !s->closed && s->served < 0 && s->links < 0;
}

int ward_shown_check(struct ward_run_plan *p, struct ward_err *err)
{
	struct ward_as_owner as;
	int r = ward_as_owner_begin(&p->id, &as, err);
	for (size_t i = 0; i < p->n_reads && r == 0; i++) {
		r = ward_shown_look(
			p->policy, &p->spots, p->reads[i], p->reads_at[i], &p->shown[i]);
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
			return ward_err_set(err, -EINVAL, "%s is shown as one that may be executed",
				p->reads[i]);
	}
	return 0;
}
