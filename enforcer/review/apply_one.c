/* SPDX-License-Identifier: Apache-2.0 */
/* One change of the project, by one system call that is whole or not at all. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <linux/fs.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/review/apply.h"
#include "enforcer/review/content.h"
#include "enforcer/review/units.h"

#define OTHER "the project has another file of this name"
#define CHANGED "the project's file has changed since"

static void end(struct ward_one *o, enum ward_apply_end how, const char *fmt, ...)
	ward_printf(3, 4);

static void end(struct ward_one *o, enum ward_apply_end how, const char *fmt, ...)
{
	struct ward_apply *a = o->w->a;
	va_list args;
	va_start(args, fmt);
	vsnprintf(a->why[o->i], sizeof(a->why[o->i]), fmt, args);
	va_end(args);
	a->ends[o->i] = how;
	o->w->ready[o->i] = false;
}

static void end_errno(struct ward_one *o, int r, const char *what)
{
	end(o,
		r == -ENOENT || r == -ENOTDIR || r == -ELOOP ? WARD_APPLY_CONFLICT
							     : WARD_APPLY_FAILED,
		"%s: %s", what, strerror(-r));
}

int ward_one_begin(struct ward_applying *w, size_t i, struct ward_one *o)
{
	const struct ward_change *c = &w->a->changes->v[i];
	*o = (struct ward_one){.w = w, .i = i, .c = c, .s = {.dir = -1}};
	if (w->a->roots[c->root] < 0) {
		end(o, WARD_APPLY_REFUSED, "it is of another directory than this project's");
		return -EXDEV;
	}
	int r = ward_swap_begin(w->a->roots[c->root], c->path, w->undo,
		w->number[i] ? w->number[i] : w->next, &o->s);
	/* The directory is to be made, or to come there, if the rest is done. */
	if (r == -ENOENT && w->a->dry)
		end(o, WARD_APPLY_DONE, "would be done");
	else if (r < 0)
		end_errno(o, r, "the directory that it lies in");
	return r;
}

void ward_one_end(struct ward_one *o)
{
	ward_swap_end(&o->s);
}

static void about(struct ward_one *o, const char *before)
{
	o->w->number[o->i] = o->w->next++;
	ward_undo_log_about(&o->w->log, o->w->number[o->i], o->c, before);
}

void ward_one_about(struct ward_one *o)
{
	about(o, "-");
}

static bool is_there(const struct ward_one *o)
{
	return faccessat(o->s.dir, o->s.name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* In a dry run: what stands there would have gone before. */
static bool goes_first(const struct ward_one *o)
{
	return o->w->a->dry &&
	       ward_changes_find(o->w->a->changes, o->c->root, o->c->path, WARD_CHANGE_REMOVED);
}

/* Another name of it that came or went changed its st_ctime; so did one that was renamed. */
static bool has_moved(const struct ward_change *c, const struct ward_review_base *now)
{
	return c->moved || now->nlink != c->base.nlink;
}

/* Is it what the session saw? Of a directory neither size nor times tell anything: what is in it is
 * looked at. `moved`: ctime may be another one. */
static bool is_base(
	const struct ward_change *c, const struct ward_review_base *now, mode_t type, bool moved)
{
	if (type != c->type)
		return false;
	return S_ISDIR(type) ? now->ino == c->base.ino && now->dev == c->base.dev
			     : ward_host_same(now, &c->base, moved);
}

/* --- what goes --- */

void ward_one_look_gone(struct ward_one *o)
{
	struct ward_review_base now;
	char before[WARD_REVIEW_DIGEST_SIZE];
	mode_t type;
	int r = ward_host_stat_at(o->s.dir, o->s.name, &now, &type);
	if (r == -ENOENT) {
		end(o, WARD_APPLY_ALREADY, "it is gone");
		return;
	}
	if (r < 0 || !is_base(o->c, &now, type, has_moved(o->c, &now))) {
		end(o, WARD_APPLY_CONFLICT, CHANGED);
		return;
	}
	if (o->w->a->dry) {
		end(o, WARD_APPLY_DONE, "would be removed");
		return;
	}
	r = ward_content_digest(o->s.dir, o->s.name, type, before);
	if (r == 0) {
		about(o, before);
		r = ward_swap_copy(&o->s, type, &o->c->base);
	}
	if (r < 0) {
		end_errno(o, r, "no copy of it could be kept");
		if (o->w->number[o->i])
			ward_undo_log_off(&o->w->log, o->w->number[o->i]);
		return;
	}
	o->w->ready[o->i] = true;
}

void ward_one_remove(struct ward_one *o)
{
	int r = ward_swap_take(&o->s, &o->c->base);
	if (r == 0) {
		end(o, WARD_APPLY_DONE, "removed");
		return;
	}
	if (r == -ESTALE)
		end(o, WARD_APPLY_CONFLICT, "somebody changed it at this moment");
	else if (r == -EBUSY)
		end(o, WARD_APPLY_FAILED,
			"somebody changed it at this moment, and made another one: it is %s",
			o->s.elsewhere ? o->s.beside : "kept");
	else
		end_errno(o, r, "could not be removed");
	if (r != -EBUSY)
		ward_undo_log_off(&o->w->log, o->w->number[o->i]);
}

void ward_one_rmdir(struct ward_one *o)
{
	struct ward_review_base now;
	mode_t type;
	int r = ward_host_stat_at(o->s.dir, o->s.name, &now, &type);
	if (r == -ENOENT) {
		end(o, WARD_APPLY_ALREADY, "it is gone");
		return;
	}
	if (r < 0 || !is_base(o->c, &now, type, true)) {
		end(o, WARD_APPLY_CONFLICT, CHANGED);
		return;
	}
	if (o->w->a->dry) {
		end(o, WARD_APPLY_DONE, "would be removed");
		return;
	}
	r = unlinkat(o->s.dir, o->s.name, AT_REMOVEDIR) < 0 ? -errno : 0;
	if (r == 0)
		end(o, WARD_APPLY_DONE, "removed");
	else if (r == -ENOTEMPTY || r == -EEXIST)
		end(o, WARD_APPLY_CONFLICT,
			"the project has files in it that the session did not remove");
	else
		end_errno(o, r, "could not be removed");
}

/* --- what comes --- */

static int rename_at(int dir, const char *from, int dir2, const char *to)
{
	return syscall(SYS_renameat2, dir, from, dir2, to, RENAME_NOREPLACE) < 0 ? -errno : 0;
}

/* By its descriptor: a link that somebody puts there meanwhile leads nowhere. */
static int make_beside(const struct ward_one *o, struct ward_review_base *ret)
{
	mode_t type;
	if (mkdirat(o->s.dir, o->s.beside, 0700) < 0)
		return -errno;
	ward_cleanup_fd int fd =
		openat(o->s.dir, o->s.beside, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fchmod(fd, o->c->mode | 0300) < 0)
		return -errno;
	return ward_host_stat(fd, ret, &type);
}

void ward_one_mkdir(struct ward_one *o)
{
	struct ward_review_base now;
	mode_t type;
	int r = ward_host_stat_at(o->s.dir, o->s.name, &now, &type);
	/* The project's directory of this name is to go elsewhere: another round. */
	const bool moves_yet = r == 0 && o->c->has_base && is_base(o->c, &now, type, true);
	if (r == 0 && S_ISDIR(type) && !moves_yet) {
		end(o, WARD_APPLY_ALREADY, "the project has it");
		return;
	}
	if (r == 0 && !goes_first(o) && !(moves_yet && o->w->a->dry)) {
		end(o, WARD_APPLY_CONFLICT, OTHER);
		return;
	}
	if (o->w->a->dry) {
		end(o, WARD_APPLY_DONE, "would be made");
		return;
	}
	/* Beside, so that there is never one that is half made, or that the log does not know. */
	r = make_beside(o, &now);
	if (r == 0) {
		ward_undo_log_ready(&o->w->log, o->w->number[o->i], &now, "-");
		r = rename_at(o->s.dir, o->s.beside, o->s.dir, o->s.name);
	}
	if (r == 0) {
		end(o, WARD_APPLY_DONE, "made");
		return;
	}
	(void)unlinkat(o->s.dir, o->s.beside, AT_REMOVEDIR);
	end_errno(o, r, "could not be made");
}

void ward_one_rename(struct ward_one *o)
{
	const struct ward_change *c = o->c;
	struct ward_review_base now, there;
	const char *name = NULL;
	mode_t type;
	ward_cleanup_fd int dir = ward_host_parent(o->w->a->roots[c->from_root], c->from, &name);
	bool links = c->kind == WARD_CHANGE_LINKED;
	int r = ward_host_stat_at(o->s.dir, o->s.name, &there, &type);
	if (r == 0 && there.ino == c->base.ino && there.dev == c->base.dev) {
		end(o, WARD_APPLY_ALREADY, "the project has it");
		return;
	}
	r = dir < 0 ? dir : ward_host_stat_at(dir, name, &now, &type);
	if (r < 0) {
		end_errno(o, r, links ? "what is to be linked" : "what is to be renamed");
		return;
	}
	if (!is_base(c, &now, type, has_moved(c, &now))) {
		end(o, WARD_APPLY_CONFLICT, CHANGED);
		return;
	}
	/* It may be of a file that goes yet: another round. */
	if (is_there(o) && !goes_first(o)) {
		end(o, WARD_APPLY_CONFLICT, OTHER);
		return;
	}
	if (o->w->a->dry) {
		end(o, WARD_APPLY_DONE, links ? "would be linked" : "would be renamed");
		return;
	}
	if (links)
		r = linkat(dir, name, o->s.dir, o->s.name, 0) < 0 ? -errno : 0;
	else
		r = rename_at(dir, name, o->s.dir, o->s.name);
	if (r < 0)
		end_errno(o, r, links ? "could not be linked" : "could not be renamed");
	else
		end(o, WARD_APPLY_DONE, links ? "linked" : "renamed");
}

void ward_one_link(struct ward_one *o)
{
	struct ward_review_base now, there;
	const char *name = NULL;
	mode_t type;
	ward_cleanup_fd int dir =
		ward_host_parent(o->w->a->roots[o->c->from_root], o->c->from, &name);
	int r = dir < 0 ? dir : ward_host_stat_at(dir, name, &now, &type);
	if (r == 0 && type != o->c->type)
		r = -ENOENT;
	if (r < 0 && !o->w->a->dry) {
		end_errno(o, r, "what is to be linked");
		return;
	}
	if (r == 0 && ward_host_stat_at(o->s.dir, o->s.name, &there, &type) == 0) {
		bool same = there.ino == now.ino && there.dev == now.dev;
		end(o, same ? WARD_APPLY_ALREADY : WARD_APPLY_CONFLICT,
			same ? "the project has it" : OTHER);
		return;
	}
	if (o->w->a->dry) {
		end(o, WARD_APPLY_DONE, "would be linked");
		return;
	}
	about(o, "-");
	r = linkat(dir, name, o->s.dir, o->s.name, 0) < 0 ? -errno : 0;
	if (r == 0)
		r = ward_host_stat_at(o->s.dir, o->s.name, &there, &type);
	if (r < 0) {
		end_errno(o, r, "could not be linked");
		ward_undo_log_off(&o->w->log, o->w->number[o->i]);
		return;
	}
	ward_undo_log_ready(&o->w->log, o->w->number[o->i], &there, "-");
	end(o, WARD_APPLY_DONE, "linked");
}

/* --- content --- */

/* Does the name have the object's content and permissions? */
static bool has_object(const struct ward_one *o, const struct ward_review_base *now, mode_t type,
	const char *object)
{
	if (type != o->c->type ||
		(!S_ISLNK(type) && (now->mode != o->c->mode || now->size != o->c->size)))
		return false;
	return ward_content_same(o->s.dir, o->s.name, o->w->a->dir_fd, object, type) == 1;
}

/* What stands at the name, or in a dry run will come to it. */
static int look_ahead(const struct ward_one *o, struct ward_review_base *ret, mode_t *ret_type)
{
	const struct ward_change *c = o->c;
	const char *name = NULL;
	int r = ward_host_stat_at(o->s.dir, o->s.name, ret, ret_type);
	if (r == 0 && goes_first(o) && c->kind == WARD_CHANGE_ADDED)
		return -ENOENT;
	if (r != -ENOENT || !o->w->a->dry || !c->host || o->w->a->roots[c->host_root] < 0)
		return r;
	ward_cleanup_fd int dir = ward_host_parent(o->w->a->roots[c->host_root], c->host, &name);
	return dir < 0 ? dir : ward_host_stat_at(dir, name, ret, ret_type);
}

/* What stands at the name decides: true where the content is to be written. */
static bool may_write(struct ward_one *o, const char *object)
{
	struct ward_review_base now;
	mode_t type = 0;
	int r = look_ahead(o, &now, &type);
	if (!S_ISREG(o->c->type) && !S_ISLNK(o->c->type)) {
		end(o, WARD_APPLY_REFUSED, "it is a pipe, a socket or a device");
	} else if (r == 0 && has_object(o, &now, type, object)) {
		end(o, WARD_APPLY_ALREADY, "the project has it");
	} else if (o->c->kind == WARD_CHANGE_ADDED) {
		if (r == -ENOENT)
			return true;
		end(o, WARD_APPLY_CONFLICT, OTHER);
	} else if (r < 0) {
		end_errno(o, r, "it is not in the project any more");
	} else if (!is_base(o->c, &now, type, o->c->moved)) {
		end(o, WARD_APPLY_CONFLICT, CHANGED);
	} else if (ward_unit_in_use(o->w->a->changes, o->c, o->s.dir, o->s.name)) {
		end(o, WARD_APPLY_CONFLICT,
			"the project has a journal of it (-wal, -journal): a program may be using it");
	} else if (S_ISREG(type) && now.nlink > 1) {
		end(o, WARD_APPLY_REFUSED,
			"it has %u names on this host, and one of them alone would change",
			now.nlink);
	} else {
		return true;
	}
	return false;
}

void ward_one_write(struct ward_one *o)
{
	const struct ward_review_base *was = o->c->has_base ? &o->c->base : NULL;
	struct ward_review_base after;
	char object[32], digest[WARD_REVIEW_DIGEST_SIZE] = "-";
	const char *name = NULL;
	snprintf(object, sizeof(object), "objects/%u", o->c->object);
	if (!may_write(o, object))
		return;
	if (o->w->a->dry) {
		end(o, WARD_APPLY_DONE, was ? "would be changed" : "would be added");
		return;
	}
	int r = was ? ward_content_digest(o->s.dir, o->s.name, o->c->type, digest) : 0;
	if (r < 0) {
		end_errno(o, r, "could not be read");
		return;
	}
	about(o, digest);
	r = ward_swap_write(&o->s, o->w->a->dir_fd, object, o->c->type, was, &after);
	int dir = ward_swap_ready(&o->s, &name);
	if (r == 0)
		r = ward_content_digest(dir, name, o->c->type, digest);
	if (r == 0 && strcmp(digest, o->c->content) != 0)
		r = -EBADMSG;
	if (r == 0) {
		ward_undo_log_ready(&o->w->log, o->w->number[o->i], &after, digest);
		o->w->ready[o->i] = true;
		return;
	}
	if (r == -EBADMSG)
		end(o, WARD_APPLY_FAILED, "what is staged has changed since it was looked at");
	else if (r == -EPERM)
		end(o, WARD_APPLY_REFUSED, "its owner or group could not be kept");
	else
		end_errno(o, r,
			r == -EEXIST ? "a file .wardfs-apply-… beside it is in the way"
				     : "could not be written");
	if (r != -EEXIST)
		ward_swap_drop(&o->s);
	ward_undo_log_off(&o->w->log, o->w->number[o->i]);
}

void ward_one_put(struct ward_one *o)
{
	bool adds = !o->c->has_base;
	int r = adds ? ward_swap_add(&o->s) : ward_swap_exchange(&o->s, &o->c->base);
	if (r == 0) {
		struct ward_review_base came;
		mode_t type;
		if (o->w->unit[o->i] && ward_host_stat_at(o->s.dir, o->s.name, &came, &type) == 0)
			o->w->came[o->i] = came.ino;
		end(o, WARD_APPLY_DONE, adds ? "added" : "changed");
		return;
	}
	if (r == -EBUSY && !adds) {
		end(o, WARD_APPLY_FAILED,
			"somebody changed it at this moment, and what was there is %s",
			o->s.elsewhere ? o->s.beside : "kept");
		return;
	}
	if (r == -EEXIST)
		end(o, WARD_APPLY_CONFLICT, OTHER);
	else if (r == -ESTALE)
		end(o, WARD_APPLY_CONFLICT, "somebody changed it at this moment: it was put back");
	else if (r == -EINVAL)
		end(o, WARD_APPLY_FAILED, "the file system cannot exchange two files");
	else
		end_errno(o, r, adds ? "could not be added" : "could not be changed");
	ward_swap_drop(&o->s);
	ward_undo_log_off(&o->w->log, o->w->number[o->i]);
}

void ward_one_back(struct ward_one *o)
{
	const struct ward_review_base *was = o->c->has_base ? &o->c->base : NULL;
	struct ward_review_base came;
	mode_t type;
	int r = 0;
	if (o->c->kind == WARD_CHANGE_REMOVED) {
		if (o->s.elsewhere)
			r = ward_content_copy(
				o->s.keep, o->s.kept, o->c->type, o->s.dir, o->s.beside, was);
		r = r < 0 ? r : ward_swap_add(&o->s);
	} else {
		r = ward_host_stat_at(o->s.dir, o->s.name, &came, &type);
		if (r == 0 && came.ino != o->w->came[o->i])
			r = -ESTALE;
		r = r < 0 ? r : ward_swap_back(&o->s, o->c->type, was, &came);
	}
	if (r < 0) {
		end(o, WARD_APPLY_FAILED,
			"what it goes together with was changed at this moment: "
			"wardfs review undo takes it back");
		return;
	}
	ward_swap_drop(&o->s);
	ward_undo_log_off(&o->w->log, o->w->number[o->i]);
	end(o, WARD_APPLY_CONFLICT,
		"what it goes together with was changed at this moment: it was put back");
}

void ward_one_mode(struct ward_one *o)
{
	struct ward_review_base now;
	mode_t type;
	ward_cleanup_fd int fd =
		openat(o->s.dir, o->s.name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int r = fd < 0 ? -errno : ward_host_stat(fd, &now, &type);
	if (r == 0 && now.mode == o->c->mode) {
		end(o, WARD_APPLY_ALREADY, "the project has it");
		return;
	}
	if (r == 0 && (now.ino != o->c->base.ino || now.mode != o->c->base.mode)) {
		end(o, WARD_APPLY_CONFLICT, "the project's directory has changed since");
		return;
	}
	if (r == 0 && !o->w->a->dry) {
		about(o, "-");
		if (fchmod(fd, o->c->mode) < 0) {
			r = -errno;
			ward_undo_log_off(&o->w->log, o->w->number[o->i]);
		}
	}
	if (r < 0)
		end_errno(o, r, "permissions");
	else
		end(o, WARD_APPLY_DONE,
			o->w->a->dry ? "permissions would be changed" : "permissions changed");
}
