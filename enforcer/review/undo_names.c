/* SPDX-License-Identifier: Apache-2.0 */
/* Directories and names, taken back. */
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/review/content.h"
#include "enforcer/review/undo.h"

void ward_back_mode(struct ward_back *b)
{
	struct ward_review_base now;
	mode_t type;
	ward_cleanup_fd int fd =
		openat(b->s.dir, b->s.name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int r = fd < 0 ? -errno : ward_host_stat(fd, &now, &type);
	/* Permissions of one directory are not those of another one that came to its name. */
	if (r == 0 && !ward_back_same(&now, &b->d->c.base))
		ward_back_end(
			b, WARD_APPLY_CONFLICT, "the project has another directory of this name");
	else if (r == 0 && now.mode == b->d->c.base.mode)
		ward_back_already(b, b->s.dir, b->s.name, "it is as it was");
	else if (r == 0 && now.mode != b->d->c.mode)
		ward_back_end(b, WARD_APPLY_CONFLICT, "the project's directory has changed since");
	else if (r == 0 && ward_back_dry(b))
		return;
	else if (r < 0 || fchmod(fd, b->d->c.base.mode) < 0)
		ward_back_errno(b, r < 0 ? r : -errno, "permissions");
	else
		ward_back_undone(b, b->s.dir, b->s.name);
}

void ward_back_mkdir(struct ward_back *b)
{
	struct ward_review_base now;
	mode_t type;
	int r = ward_host_stat_at(b->s.dir, b->s.name, &now, &type);
	if (r == -ENOENT)
		ward_back_already(b, -1, NULL, "it is gone");
	else if (r < 0 || !ward_back_same(&now, &b->d->after))
		ward_back_end(b, WARD_APPLY_CONFLICT, WARD_BACK_CHANGED);
	else if (ward_back_dry(b))
		return;
	else if (unlinkat(b->s.dir, b->s.name, AT_REMOVEDIR) == 0)
		ward_back_undone(b, -1, NULL);
	else if (errno == ENOTEMPTY || errno == EEXIST)
		ward_back_end(
			b, WARD_APPLY_CONFLICT, "there are files in it that were not applied");
	else
		ward_back_errno(b, -errno, "could not be undone");
}

void ward_back_rmdir(struct ward_back *b)
{
	struct ward_review_base now;
	mode_t type;
	if (ward_host_stat_at(b->s.dir, b->s.name, &now, &type) == 0) {
		if (S_ISDIR(type))
			ward_back_already(b, b->s.dir, b->s.name, "it is there");
		else
			ward_back_end(b, WARD_APPLY_CONFLICT,
				"the project has another file of this name");
		return;
	}
	if (ward_back_dry(b))
		return;
	int r = ward_content_copy_dir(b->s.keep, b->s.kept, b->s.dir, b->s.name, &b->d->c.base);
	if (r < 0) {
		ward_back_errno(b, r, "could not be undone");
		return;
	}
	(void)unlinkat(b->s.keep, b->s.kept, AT_REMOVEDIR);
	ward_back_undone(b, b->s.dir, b->s.name);
}

/* In a dry run: what stands there is the new content of record i, which would have gone before. */
bool ward_back_goes_first(
	const struct ward_undoing *w, size_t i, const struct ward_review_base *now)
{
	const struct ward_applied *a = w->u->applied;
	for (size_t k = 0; w->u->dry && k < a->n; k++)
		if (a->v[k].has_after && w->u->ends[k] == WARD_APPLY_DONE &&
			ward_back_same(now, &a->v[k].after) &&
			ward_back_same(&a->v[k].c.base, &a->v[i].c.base))
			return true;
	return false;
}

/* The record of the same apply that moved the other way what stands where this one came from. */
static bool find_swap(const struct ward_back *b, size_t *ret)
{
	const struct ward_applied *a = b->w->u->applied;
	const struct ward_change *c = &b->d->c;
	for (size_t i = 0; i < a->n; i++) {
		const struct ward_done *d = &a->v[i];
		if (d->c.kind != WARD_CHANGE_RENAMED || d->off || d->undone ||
			d->step != b->d->step || d->c.root != c->from_root ||
			d->c.from_root != c->root || strcmp(d->c.path, c->from) != 0 ||
			strcmp(d->c.from, c->path) != 0)
			continue;
		*ret = i;
		return b->w->wanted && b->w->wanted[i];
	}
	return false;
}

/* Both names at once. dir, name: where this one goes. */
static void swap_back(struct ward_back *b, size_t k, int dir, const char *name)
{
	struct ward_back other = {.w = b->w, .i = k, .d = &b->w->u->applied->v[k], .s = b->s};
	struct ward_review_base now;
	mode_t type;
	if (ward_host_stat_at(dir, name, &now, &type) < 0 || !ward_back_stood(&other, &now, type)) {
		ward_back_end(
			b, WARD_APPLY_CONFLICT, "the project has another file of the old name");
		return;
	}
	if (ward_back_dry(b))
		return;
	if (syscall(SYS_renameat2, b->s.dir, b->s.name, dir, name, RENAME_EXCHANGE) < 0) {
		ward_back_fail(b, -errno);
		return;
	}
	if (ward_host_stat_at(dir, name, &now, &type) < 0 || !ward_back_stood(b, &now, type) ||
		ward_host_stat_at(b->s.dir, b->s.name, &now, &type) < 0 ||
		!ward_back_stood(&other, &now, type)) {
		ward_back_fail(b,
			syscall(SYS_renameat2, b->s.dir, b->s.name, dir, name, RENAME_EXCHANGE) < 0
				? -EBUSY
				: -ESTALE);
		return;
	}
	ward_back_undone(b, dir, name);
	ward_back_undone(&other, b->s.dir, b->s.name);
}

/* Is the directory of this record where the apply renamed it to? */
static bool is_away(const struct ward_undoing *w, const struct ward_change *c)
{
	struct ward_review_base now;
	const char *name = NULL;
	mode_t type;
	if (w->u->roots[c->root] < 0)
		return false;
	ward_cleanup_fd int dir = ward_host_parent(w->u->roots[c->root], c->path, &name);
	return dir >= 0 && ward_host_stat_at(dir, name, &now, &type) == 0 && S_ISDIR(type) &&
	       ward_back_same(&now, &c->base);
}

/*
 * The directory that a renamed file comes back to: it has its own new name as long as it has not
 * gone back. at (PATH_MAX): the path then, into which *ret_name points.
 */
static int find_old_place(const struct ward_back *b, char at[PATH_MAX], const char **ret_name)
{
	const struct ward_undoing *w = b->w;
	const struct ward_change *c = &b->d->c;
	size_t len = strlen(c->from), by, root;
	while (ward_moved_next(&w->gone, c->from_root, c->from, &len, &by, &root, at)) {
		const struct ward_change *of = &w->went.v[by];
		const size_t record = of->object - 1;
		if (record == b->i || w->u->ends[record] == WARD_APPLY_DONE ||
			w->u->ends[record] == WARD_APPLY_ALREADY || !is_away(w, of))
			continue;
		return ward_host_parent(w->u->roots[root], at, ret_name);
	}
	return ward_host_parent(w->u->roots[c->from_root], c->from, ret_name);
}

void ward_back_renamed(struct ward_back *b)
{
	struct ward_review_base now;
	const char *name = NULL;
	char at[PATH_MAX];
	mode_t type;
	ward_cleanup_fd int dir = find_old_place(b, at, &name);
	int r = ward_host_stat_at(b->s.dir, b->s.name, &now, &type);
	if (dir >= 0 && r == -ENOENT) {
		if (ward_host_stat_at(dir, name, &now, &type) == 0 &&
			ward_back_stood(b, &now, type))
			ward_back_already(b, dir, name, "it is where it was");
		else
			ward_back_end(b, WARD_APPLY_CONFLICT, WARD_BACK_CHANGED);
		return;
	}
	if (dir < 0 || r < 0) {
		ward_back_errno(b, dir < 0 ? dir : r, "what is to be renamed back");
		return;
	}
	if (!ward_back_stood(b, &now, type) && !ward_back_goes_first(b->w, b->i, &now)) {
		/* An undo that was ended had exchanged two names, and not said so of both. */
		if (ward_host_stat_at(dir, name, &now, &type) == 0 &&
			ward_back_stood(b, &now, type))
			ward_back_already(b, dir, name, "it is where it was");
		else
			ward_back_end(b, WARD_APPLY_CONFLICT, WARD_BACK_CHANGED);
		return;
	}
	size_t other;
	if (faccessat(dir, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0 && find_swap(b, &other)) {
		swap_back(b, other, dir, name);
		return;
	}
	if (ward_back_dry(b))
		return;
	if (syscall(SYS_renameat2, b->s.dir, b->s.name, dir, name, RENAME_NOREPLACE) < 0) {
		ward_back_fail(b, -errno);
		return;
	}
	/* Somebody may have put another file there since it was looked at. */
	if (ward_host_stat_at(dir, name, &now, &type) == 0 && ward_back_stood(b, &now, type))
		ward_back_undone(b, dir, name);
	else if (syscall(SYS_renameat2, dir, name, b->s.dir, b->s.name, RENAME_NOREPLACE) < 0)
		ward_back_end(b, WARD_APPLY_FAILED,
			"somebody changed it at this moment: it has the old name");
	else
		ward_back_end(b, WARD_APPLY_CONFLICT,
			"somebody changed it at this moment: it was put back");
}
