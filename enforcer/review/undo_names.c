/* SPDX-License-Identifier: Apache-2.0 */
/* Directories and names, taken back. */
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
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

/* --- names (shifts.h) --- */

bool ward_back_is_name(const struct ward_change *c)
{
	return c->kind == WARD_CHANGE_RENAMED ||
	       (S_ISDIR(c->type) &&
		       (c->kind == WARD_CHANGE_ADDED || c->kind == WARD_CHANGE_REMOVED));
}

/* In a dry run: what stands there is the new content of record i, which would have gone before. */
static bool goes_first(const struct ward_undoing *w, size_t i, const struct ward_review_base *now)
{
	const struct ward_applied *a = w->u->applied;
	for (size_t k = 0; w->u->dry && k < a->n; k++)
		if (a->v[k].has_after && w->u->ends[k] == WARD_APPLY_DONE &&
			ward_back_same(now, &a->v[k].after) &&
			ward_back_same(&a->v[k].c.base, &a->v[i].c.base))
			return true;
	return false;
}

static bool is_one(
	void *arg, const struct ward_shift *n, bool there, bool moved, int dir, const char *name)
{
	struct ward_undoing *w = arg;
	struct ward_back b = {.w = w, .i = n->tag, .d = &w->u->applied->v[n->tag]};
	struct ward_review_base now;
	mode_t type;
	(void)there;
	(void)moved;
	if (ward_host_stat_at(dir, name, &now, &type) < 0)
		return false;
	switch (n->kind) {
	case WARD_SHIFT_COMES:
		return S_ISDIR(type);
	case WARD_SHIFT_GOES:
		return S_ISDIR(type) && b.d->has_after && ward_back_same(&now, &b.d->after);
	case WARD_SHIFT_STAYS:
	case WARD_SHIFT_MOVES:
		break;
	}
	b.s.elsewhere = ward_swap_is_elsewhere(&w->place, dir) > 0;
	return ward_back_stood(&b, &now, type) || goes_first(w, n->tag, &now);
}

static int make(void *arg, const struct ward_shift *n, int dir, const char *name)
{
	const struct ward_undoing *w = arg;
	char kept[16];
	snprintf(kept, sizeof(kept), "%u", (uint32_t)n->tag + 1);
	int r = ward_content_copy_dir(w->undo, kept, dir, name, &w->u->applied->v[n->tag].c.base);
	if (r == 0)
		(void)unlinkat(w->undo, kept, AT_REMOVEDIR);
	return r;
}

static int take(void *arg, const struct ward_shift *n, int dir, const char *name)
{
	(void)arg;
	(void)n;
	return unlinkat(dir, name, AT_REMOVEDIR) < 0 ? -errno : 0;
}

/* In a dry run: what the apply put there would have gone by now. */
static bool goes(void *arg, size_t root, const char *path)
{
	const struct ward_undoing *w = arg;
	/* Also what a later apply put there. */
	for (size_t i = w->low; w->u->dry && i < w->u->applied->n; i++) {
		const struct ward_change *c = &w->u->applied->v[i].c;
		if (c->root == root && strcmp(c->path, path) == 0 && !S_ISDIR(c->type) &&
			(c->kind == WARD_CHANGE_ADDED || c->kind == WARD_CHANGE_LINKED) &&
			!w->u->applied->v[i].undone && w->u->ends[i] == WARD_APPLY_DONE)
			return true;
	}
	return false;
}

static void done(void *arg, const struct ward_shift *n, int dir, const char *name)
{
	struct ward_undoing *w = arg;
	struct ward_back b = {.w = w, .i = n->tag, .d = &w->u->applied->v[n->tag]};
	ward_back_undone(&b, dir, name);
}

static const struct ward_shift_ops ops = {
	.is = is_one, .make = make, .remove = take, .goes = goes, .done = done};

static struct ward_shift name_of(const struct ward_done *d, size_t i, bool wanted)
{
	const struct ward_change *c = &d->c;
	struct ward_shift n = {.wanted = wanted, .type = c->type, .tag = i, .ino = c->base.ino};
	if (c->kind == WARD_CHANGE_REMOVED) {
		n.kind = WARD_SHIFT_COMES;
		n.ino = 0;
		n.to = c->path;
		n.to_root = c->root;
		return n;
	}
	n.from = c->path;
	n.from_root = c->root;
	if (c->kind == WARD_CHANGE_ADDED) {
		n.kind = WARD_SHIFT_GOES;
		n.ino = d->after.ino;
		return n;
	}
	n.kind = WARD_SHIFT_MOVES;
	n.to = c->from;
	n.to_root = c->from_root;
	return n;
}

static void say_there(struct ward_shifts *ns, struct ward_back *b, const struct ward_shift *n)
{
	char path[PATH_MAX];
	const char *name = NULL;
	size_t root = 0;
	ward_cleanup_fd int dir = -1;
	if (n->to && ward_shifts_now(ns, n->to_root, n->to, path, &root) == 0)
		dir = ward_host_parent(b->w->u->roots[root], path, &name);
	ward_back_already(b, dir, dir < 0 ? NULL : name,
		n->kind == WARD_SHIFT_GOES    ? "it is gone"
		: n->kind == WARD_SHIFT_COMES ? "it is there"
					      : "it is where it was");
}

/* In a dry run: what is missing or in the way was, before later applies. */
static bool is_settled_later(const struct ward_shift *n, const struct ward_back *b)
{
	const struct ward_review_base *file =
		n->kind == WARD_SHIFT_GOES ? &b->d->after : &b->d->c.base;
	if (n->end == WARD_SHIFT_LOST)
		return ward_back_later_base(b->w, b->i, file) != NULL;
	return n->end == WARD_SHIFT_TAKEN && ward_back_later_came(b->w, b->i, n->to_root, n->to);
}

static void say(struct ward_shifts *ns, const struct ward_shift *n)
{
	struct ward_undoing *w = ns->arg;
	struct ward_back b = {.w = w, .i = n->tag, .d = &w->u->applied->v[n->tag]};
	if (is_settled_later(n, &b)) {
		(void)ward_back_dry(&b);
		return;
	}
	switch (n->end) {
	case WARD_SHIFT_NONE:
	case WARD_SHIFT_DONE:
		break;
	case WARD_SHIFT_READY:
		(void)ward_back_dry(&b);
		break;
	case WARD_SHIFT_THERE:
		say_there(ns, &b, n);
		break;
	case WARD_SHIFT_LOST:
		if (n->error == -ESTALE)
			ward_back_end(&b, WARD_APPLY_CONFLICT, WARD_BACK_CHANGED);
		else
			ward_back_errno(&b, n->error, "what is to be renamed back");
		break;
	case WARD_SHIFT_TAKEN:
		ward_back_fail(&b, -EEXIST);
		break;
	case WARD_SHIFT_APART:
		ward_back_errno(&b, n->error, "the directory that it lies in");
		break;
	case WARD_SHIFT_FULL:
		ward_back_end(
			&b, WARD_APPLY_CONFLICT, "there are files in it that were not applied");
		break;
	case WARD_SHIFT_RACED:
		ward_back_fail(&b, -ESTALE);
		break;
	case WARD_SHIFT_ASTRAY:
		ward_back_end(&b, WARD_APPLY_FAILED,
			"somebody changed it at this moment: it has another name");
		break;
	case WARD_SHIFT_FAILED:
		ward_back_fail(&b, n->error);
		break;
	}
}

int ward_back_names(
	struct ward_undoing *w, const bool *wanted, size_t low, size_t high, bool only_aside)
{
	const struct ward_applied *a = w->u->applied;
	struct ward_shifts *ns = &w->names;
	struct ward_shift *v = calloc(high - low + 1, sizeof(*v));
	struct stat st;
	*ns = (struct ward_shifts){.ops = &ops,
		.arg = w,
		.roots = w->u->roots,
		.key = fstat(w->undo, &st) == 0 ? st.st_ino : 0,
		.back = true,
		.v = v};
	w->low = low;
	w->high = high;
	if (!v)
		return -ENOMEM;
	for (size_t i = low; i < high; i++) {
		const struct ward_done *d = &a->v[i];
		const bool over = d->undone || w->u->ends[i] == WARD_APPLY_DONE ||
				  w->u->ends[i] == WARD_APPLY_ALREADY;
		if (!d->off && ward_back_is_name(&d->c))
			v[ns->n++] = name_of(d, i, wanted[i] && !over);
	}
	int r = ward_shifts_find(ns);
	if (r < 0 || (only_aside && !ward_shifts_is_aside(ns)))
		return r;
	ward_shifts_plan(ns);
	if (!w->u->dry)
		ward_shifts_go(ns);
	for (size_t k = 0; k < ns->n; k++)
		if (v[k].wanted)
			say(ns, &v[k]);
	return 0;
}

void ward_back_names_end(struct ward_undoing *w)
{
	ward_shifts_clear(&w->names);
	free(w->names.v);
	w->names.v = NULL;
	w->names.n = 0;
}
