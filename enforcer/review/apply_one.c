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
#include "enforcer/review/in_place.h"
#include "enforcer/review/part.h"
#include "enforcer/review/units.h"

void ward_one_ended(struct ward_one *o, enum ward_apply_end how, const char *fmt, ...)
{
	struct ward_apply *a = o->w->a;
	va_list args;
	va_start(args, fmt);
	vsnprintf(a->why[o->i], sizeof(a->why[o->i]), fmt, args);
	va_end(args);
	a->ends[o->i] = how;
	o->w->ready[o->i] = false;
}

void ward_one_failed(struct ward_one *o, int r, const char *what)
{
	ward_one_ended(o,
		r == -ENOENT || r == -ENOTDIR || r == -ELOOP ? WARD_APPLY_CONFLICT
							     : WARD_APPLY_FAILED,
		"%s: %s", what, strerror(-r));
}

/* Does the directory that change `by` renames have its new name? */
static bool has_come(const struct ward_applying *w, size_t by)
{
	const struct ward_change *c = &w->a->changes->v[by];
	struct ward_review_base now;
	mode_t type;
	ward_cleanup_fd int fd = ward_host_open(w->a->roots[c->root], c->path, O_PATH);
	return fd >= 0 && ward_host_stat(fd, &now, &type) == 0 && S_ISDIR(type) &&
	       now.ino == c->base.ino && now.dev == c->base.dev && now.btime_ns == c->base.btime_ns;
}

/*
 * What is to go was in a directory that this apply or another one has renamed. taken: another
 * directory can have its old name by now.
 */
static bool has_gone_on(struct ward_one *o, bool taken)
{
	const struct ward_applying *w = o->w;
	size_t len = strlen(o->c->path), by, root;
	while (ward_moved_next(&w->moved, o->c->root, o->c->path, &len, &by, &root, o->at)) {
		const char *name = NULL;
		ward_cleanup_fd int dir =
			w->a->roots[root] < 0 ? -1
					      : ward_host_parent(w->a->roots[root], o->at, &name);
		if (dir < 0 || (taken && !has_come(w, by)))
			continue;
		o->own = *o->c;
		/* The log has both paths. */
		o->own.from = o->own.path;
		o->own.from_root = o->own.root;
		o->own.root = root;
		o->own.path = o->at;
		o->c = &o->own;
		return true;
	}
	return false;
}

int ward_one_begin(struct ward_applying *w, size_t i, struct ward_one *o)
{
	const struct ward_change *c = &w->a->changes->v[i];
	*o = (struct ward_one){.w = w, .i = i, .c = c, .s = {.dir = -1}};
	const struct ward_part *part = w->a->parts ? &w->a->parts[i] : NULL;
	if (part && part->kind != WARD_PART_NONE) {
		o->own = *c;
		o->own.mode = part->mode;
		o->own.size = part->size;
		memcpy(o->own.content, part->content, sizeof(part->content));
		if (part->kind == WARD_PART_MERGED)
			o->own.base = part->base;
		o->c = &o->own;
		o->part = part->kind;
	}
	if (w->a->roots[c->root] < 0) {
		ward_one_ended(
			o, WARD_APPLY_REFUSED, "it is of another directory than this project's");
		return -EXDEV;
	}
	const uint32_t number = w->number[i] ? w->number[i] : w->next;
	const char *path = c->path;
	size_t root = c->root;
	int r = 0;
	/* In a dry run the directories above it have not moved. */
	if (w->a->dry && w->names.v && c->kind != WARD_CHANGE_REMOVED) {
		r = ward_shifts_now(&w->names, c->root, c->path, o->at, &root);
		path = o->at;
	}
	const bool removed = c->kind == WARD_CHANGE_REMOVED;
	if (removed && has_gone_on(o, true)) {
		path = o->c->path;
		root = o->c->root;
	}
	if (r == 0)
		r = ward_swap_begin(&w->place, w->a->roots[root], path, number, &o->s);
	if (removed && o->c == c && (r == -ENOENT || r == -ENOTDIR) && has_gone_on(o, false))
		r = ward_swap_begin(&w->place, w->a->roots[o->c->root], o->c->path, number, &o->s);
	if (removed && (r == -ENOENT || r == -ENOTDIR)) {
		ward_one_ended(o, WARD_APPLY_ALREADY, "it is gone");
		return r;
	}
	/* The directory is to be made, or to come there, if the rest is done. */
	if (r == -ENOENT && w->a->dry)
		ward_one_ended(o, WARD_APPLY_DONE, "would be done");
	else if (r < 0)
		ward_one_failed(o, r, "the directory that it lies in");
	return r;
}

void ward_one_log(struct ward_one *o, const char *before)
{
	o->w->number[o->i] = o->w->next++;
	ward_undo_log_about(&o->w->log, o->w->number[o->i], o->c, before);
	if (o->part != WARD_PART_NONE)
		ward_undo_log_part(&o->w->log, o->w->number[o->i], o->part);
}

bool ward_one_is_there(const struct ward_one *o)
{
	return faccessat(o->s.dir, o->s.name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* In a dry run: what stands there would have gone before, or is to go elsewhere. */
bool ward_one_goes_first(const struct ward_one *o)
{
	return o->w->a->dry && ward_shifts_leaves(&o->w->names, o->c->root, o->c->path);
}

/* Another name of it that came or went changed its st_ctime; so did one that was renamed. */
bool ward_one_has_moved(const struct ward_change *c, const struct ward_review_base *now)
{
	return c->moved || *c->displaced || now->nlink != c->base.nlink;
}

/* Is it what the session saw? Of a directory neither size nor times tell anything: what is in it is
 * looked at. `moved`: ctime may be another one. */
bool ward_one_is_base(
	const struct ward_change *c, const struct ward_review_base *now, mode_t type, bool moved)
{
	if (type != c->type)
		return false;
	return S_ISDIR(type) ? now->ino == c->base.ino && now->dev == c->base.dev
			     : ward_host_same(now, &c->base, moved);
}

/* --- what goes --- */

/* What is to go went in an apply before, and what comes to its name has come. */
bool ward_one_is_replaced(const struct ward_one *o, const struct ward_review_base *now, mode_t type)
{
	const struct ward_review_changes *all = o->w->a->changes;
	const size_t root = o->c->root;
	const char *path = o->c->path;
	const struct ward_change *c = ward_changes_find(all, root, path, WARD_CHANGE_RENAMED);
	struct ward_one of = *o;
	const bool renamed = c != NULL;
	if (!c)
		c = ward_changes_find(all, root, path, WARD_CHANGE_LINKED);
	if (c && c->has_base && now->ino == c->base.ino && now->dev == c->base.dev)
		return true;
	/* Of a further name, the content is a change of the first one. */
	if (c)
		return ward_one_came_with_content(
			o, renamed ? root : c->from_root, renamed ? path : c->from, now, type);
	of.c = ward_changes_find(all, root, path, WARD_CHANGE_ADDED);
	char object[WARD_PART_NAME];
	if (!of.c || of.c->type != type)
		return false;
	snprintf(object, sizeof(object), "objects/%u", of.c->object);
	return S_ISDIR(type) || ward_one_has_object(&of, now, type, object);
}

/* An apply had displaced the file, and it is not as it was then. */
static bool was_changed(const struct ward_one *o, const char *digest)
{
	return o->c->displaced[0] && o->c->displaced[0] != '-' &&
	       strcmp(o->c->displaced, digest) != 0;
}

void ward_one_look_gone(struct ward_one *o)
{
	struct ward_review_base now;
	char before[WARD_REVIEW_DIGEST_SIZE];
	mode_t type;
	int r = ward_host_stat_at(o->s.dir, o->s.name, &now, &type);
	if (r == -ENOENT) {
		ward_one_ended(o, WARD_APPLY_ALREADY, "it is gone");
		return;
	}
	const bool is_base =
		r == 0 && ward_one_is_base(o->c, &now, type, ward_one_has_moved(o->c, &now));
	if (r == 0 && !is_base && ward_one_came_in_place(o, &now, type)) {
		o->w->a->changes->v[o->i].base = now;
	} else if (!is_base) {
		const bool gone = r == 0 && ward_one_is_replaced(o, &now, type);
		ward_one_ended(o, gone ? WARD_APPLY_ALREADY : WARD_APPLY_CONFLICT, "%s",
			gone ? "it is gone" : WARD_APPLY_SAYS_CHANGED);
		return;
	}
	if (o->w->a->dry) {
		ward_one_ended(o, WARD_APPLY_DONE, "would be removed");
		return;
	}
	r = ward_content_digest(o->s.dir, o->s.name, type, before);
	if (r == 0 && was_changed(o, before)) {
		ward_one_ended(o, WARD_APPLY_CONFLICT, WARD_APPLY_SAYS_CHANGED);
		return;
	}
	if (r == 0) {
		ward_one_log(o, before);
		/* What is kept as a copy is written at once: the log has it before. */
		if (o->s.elsewhere)
			ward_undo_log_hold(&o->w->log, false);
		r = ward_swap_copy(&o->s, type, &o->c->base);
	}
	if (r < 0) {
		ward_one_failed(o, r, "no copy of it could be kept");
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
		ward_one_ended(o, WARD_APPLY_DONE, "removed");
		return;
	}
	if (r == -ESTALE)
		ward_one_ended(o, WARD_APPLY_CONFLICT, "somebody changed it at this moment");
	else if (r == -EBUSY)
		ward_one_ended(o, WARD_APPLY_FAILED,
			"somebody changed it at this moment, and made another one: it is %s",
			o->s.elsewhere ? o->s.beside : "kept");
	else
		ward_one_failed(o, r, "could not be removed");
	if (r != -EBUSY)
		ward_undo_log_off(&o->w->log, o->w->number[o->i]);
}

/* --- content --- */

/* Does the name have the object's content and permissions? */
bool ward_one_has_object(const struct ward_one *o, const struct ward_review_base *now, mode_t type,
	const char *object)
{
	if (type != o->c->type ||
		(!S_ISLNK(type) && (now->mode != o->c->mode || now->size != o->c->size)))
		return false;
	return ward_content_same(o->s.dir, o->s.name, o->w->a->dir_fd, object, type) == 1;
}

/*
 * Can it have that already? Not the very file that the session saw: what is staged differs from
 * that. And what a dry run would write in the place of an object is not there to be compared.
 */
static bool may_have(const struct ward_one *o, const struct ward_review_base *now, mode_t type)
{
	if (o->part != WARD_PART_NONE)
		return !o->w->a->dry;
	return o->c->kind != WARD_CHANGE_MODIFIED || type != o->c->type ||
	       !ward_host_same(now, &o->c->seen, false);
}

/* What stands at the name, or in a dry run will come to it. */
static int look_ahead(const struct ward_one *o, struct ward_review_base *ret, mode_t *ret_type)
{
	const struct ward_change *c = o->c;
	const char *name = NULL;
	int r = ward_host_stat_at(o->s.dir, o->s.name, ret, ret_type);
	if (r == 0 && ward_one_goes_first(o) && c->kind == WARD_CHANGE_ADDED)
		return -ENOENT;
	/* In a dry run another file may have its name yet. */
	const bool here = r == 0 && ward_one_is_base(c, ret, *ret_type, true);
	if ((r < 0 && r != -ENOENT) || here || !o->w->a->dry || !c->host ||
		o->w->a->roots[c->host_root] < 0)
		return r;
	ward_cleanup_fd int dir = ward_host_parent(o->w->a->roots[c->host_root], c->host, &name);
	return dir < 0 ? dir : ward_host_stat_at(dir, name, ret, ret_type);
}

static bool is_in_use(const struct ward_one *o)
{
	struct ward_applying *w = o->w;
	/* The directory was found anew: a while has passed, or it is another one. */
	if (w->journals.of != w->place.found)
		w->journals = (struct ward_unit_dir){.of = w->place.found};
	return ward_unit_in_use(w->a->changes, o->c, o->s.dir, o->s.name, &w->journals);
}

/* What stands at the name decides: true where the content is to be written. */
static bool may_write(struct ward_one *o, const char *object)
{
	struct ward_review_base now;
	mode_t type = 0;
	int r = look_ahead(o, &now, &type);
	if (!S_ISREG(o->c->type) && !S_ISLNK(o->c->type)) {
		ward_one_ended(o, WARD_APPLY_REFUSED, "it is a pipe, a socket or a device");
	} else if (r == 0 && may_have(o, &now, type) &&
		   ward_one_has_object(o, &now, type, object)) {
		ward_one_ended(o, WARD_APPLY_ALREADY, "the project has it");
	} else if (r == 0 && o->c->merged &&
		   ward_one_is_base(o->c, &now, type, o->c->moved || *o->c->displaced)) {
		ward_one_ended(o, WARD_APPLY_ALREADY, "the project has it, merged");
	} else if (o->c->kind == WARD_CHANGE_ADDED) {
		if (r == -ENOENT)
			return true;
		ward_one_ended(o, WARD_APPLY_CONFLICT, WARD_APPLY_SAYS_OTHER);
	} else if (r < 0) {
		ward_one_failed(o, r, "it is not in the project any more");
	} else if (!ward_one_is_base(o->c, &now, type, o->c->moved || *o->c->displaced)) {
		ward_one_ended(o, WARD_APPLY_CONFLICT, WARD_APPLY_SAYS_CHANGED);
	} else if (is_in_use(o)) {
		ward_one_ended(o, WARD_APPLY_CONFLICT,
			"the project has a journal of it (-wal, -journal): a program may be using it");
	} else {
		o->w->in_place[o->i] = S_ISREG(type) && ward_one_has_links(o, &now);
		return true;
	}
	return false;
}

/*
 * Has the host's file another content than the one that was kept when the session changed it? A
 * store through a mapping need not have set a time.
 */
static bool is_other(const struct ward_one *o, const char *digest)
{
	char name[32], kept[WARD_REVIEW_DIGEST_SIZE];
	struct stat st;
	if (!o->c->kept || !o->c->has_base || o->part != WARD_PART_NONE || !S_ISREG(o->c->type))
		return false;
	snprintf(name, sizeof(name), "bases/%u", o->c->kept);
	/* Half of it reached the disk in a power cut, or it was too large. */
	if (fstatat(o->w->a->dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
		(uint64_t)st.st_size != o->c->base.size)
		return false;
	return ward_content_digest(o->w->a->dir_fd, name, S_IFREG, kept) == 0 &&
	       strcmp(kept, digest) != 0;
}

/* Under which name of the session's place does what is to come lie? */
static void find_object(const struct ward_one *o, char ret[WARD_PART_NAME])
{
	if (o->part == WARD_PART_NONE)
		snprintf(ret, WARD_PART_NAME, "objects/%u", o->c->object);
	else
		ward_part_name(o->c->object, ret);
}

void ward_one_look_content(struct ward_one *o, struct ward_one_look *ret)
{
	const struct ward_review_base *was = o->c->has_base ? &o->c->base : NULL;
	char object[WARD_PART_NAME], digest[WARD_REVIEW_DIGEST_SIZE] = "-";
	find_object(o, object);
	if (!may_write(o, object))
		return;
	if (o->w->a->dry) {
		ward_one_ended(o, WARD_APPLY_DONE,
			o->part == WARD_PART_MERGED ? "would be merged"
			: was			    ? "would be changed"
						    : "would be added");
		return;
	}
	int r = was ? ward_content_digest(o->s.dir, o->s.name, o->c->type, digest) : 0;
	if (r < 0) {
		ward_one_failed(o, r, "could not be read");
		return;
	}
	if (is_other(o, digest) || (was && was_changed(o, digest))) {
		ward_one_ended(o, WARD_APPLY_CONFLICT, WARD_APPLY_SAYS_CHANGED);
		return;
	}
	memcpy(ret->before, digest, sizeof(digest));
	ret->writes = true;
}

void ward_one_announce(struct ward_one *o, const struct ward_one_look *look)
{
	ward_one_log(o, look->before);
	if (o->w->in_place[o->i])
		ward_undo_log_in_place(&o->w->log, o->w->number[o->i]);
}

/* Both copies are made; P says which file it is that gets the content. */
static int prepare_in_place(struct ward_one *o, const char *object, struct ward_review_base *ret,
	struct ward_content_digests *has)
{
	*ret = o->c->base;
	return ward_in_place_prepare(&o->s, o->w->a->dir_fd, object, &o->c->base, has);
}

void ward_one_write(struct ward_one *o)
{
	const struct ward_review_base *was = o->c->has_base ? &o->c->base : NULL;
	struct ward_review_base after;
	struct ward_content_digests has = {.content = "-"};
	char object[WARD_PART_NAME];
	find_object(o, object);
	int r = o->w->in_place[o->i] ? prepare_in_place(o, object, &after, &has)
				     : ward_swap_write(&o->s, o->w->a->dir_fd, object, o->c->type,
					       was, &after, &has);
	if (r == 0 && (strcmp(has.content, o->c->content) != 0 ||
			      strcmp(has.attributes, o->c->attributes) != 0))
		r = -EBADMSG;
	if (r == 0) {
		ward_undo_log_ready(&o->w->log, o->w->number[o->i], &after, has.content);
		o->w->ready[o->i] = true;
		return;
	}
	if (r == -EBADMSG)
		ward_one_ended(
			o, WARD_APPLY_FAILED, "what is staged has changed since it was looked at");
	else if (r == -EPERM)
		ward_one_ended(o, WARD_APPLY_REFUSED, "its owner or group could not be kept");
	else
		ward_one_failed(o, r,
			r == -EEXIST ? "a file .wardfs-apply-… beside it is in the way"
				     : "could not be written");
	if (r != -EEXIST)
		ward_one_drop(o);
	ward_undo_log_off(&o->w->log, o->w->number[o->i]);
}

void ward_one_drop(struct ward_one *o)
{
	if (o->w->in_place[o->i])
		ward_in_place_end(&o->s);
	ward_swap_drop(&o->s);
}

/* The log has it before it begins. */
static int put_in_place(struct ward_one *o)
{
	const uint32_t number = o->w->number[o->i];
	int r = ward_in_place_instead(&o->s, &o->c->base);
	if (r < 0)
		return r;
	o->w->in_place[o->i] = true;
	ward_undo_log_in_place(&o->w->log, number);
	ward_undo_log_ready(&o->w->log, number, &o->c->base, o->c->content);
	r = ward_undo_log_sync(&o->w->log);
	return r < 0 ? r : ward_in_place_write(&o->s, &o->c->base, false);
}

/*
 * It could not be written, and has what it had, with another ctime. Where that fails, too, both
 * copies stay until another run has put it back. raced: what stands there may be somebody else's.
 */
static void not_in_place(struct ward_one *o, bool is_back, bool raced)
{
	struct ward_review_base again;
	mode_t type;
	if (!is_back && ward_in_place_write(&o->s, &o->c->base, true) < 0)
		return;
	const struct ward_review_base *was = &o->c->base;
	const bool there = ward_host_stat_at(o->s.dir, o->s.name, &again, &type) == 0;
	/* Somebody else's file is no base for another apply. */
	if (raced && (!there || again.ino != was->ino || again.dev != was->dev ||
			     again.btime_ns != was->btime_ns))
		ward_undo_log_off(&o->w->log, o->w->number[o->i]);
	else
		ward_undo_log_undone(&o->w->log, o->w->number[o->i], there ? &again : NULL);
	if (ward_undo_log_error(&o->w->log) == 0)
		ward_one_drop(o);
}

static int put(struct ward_one *o)
{
	if (!o->c->has_base)
		return ward_swap_add(&o->s);
	if (o->w->in_place[o->i])
		return ward_in_place_write(&o->s, &o->c->base, false);
	int r = ward_swap_exchange(&o->s, &o->c->base);
	return r == -EINVAL && !o->w->shared ? put_in_place(o) : r;
}

void ward_one_put(struct ward_one *o)
{
	bool adds = !o->c->has_base;
	int r = put(o);
	if (r == -EINVAL && o->w->shared)
		return;
	const bool in_place = o->w->in_place[o->i];
	if (r == 0) {
		struct ward_review_base came;
		mode_t type;
		const bool there = (o->w->unit[o->i] || o->part != WARD_PART_NONE || in_place) &&
				   ward_host_stat_at(o->s.dir, o->s.name, &came, &type) == 0;
		if (there && o->w->unit[o->i])
			o->w->came[o->i] = came.ino;
		/* It is the base of what is left: with the ctime that it has from now on. */
		if (there && (o->part != WARD_PART_NONE || in_place))
			ward_undo_log_ready(&o->w->log, o->w->number[o->i], &came, o->c->content);
		if (in_place)
			ward_in_place_end(&o->s);
		ward_one_ended(o, WARD_APPLY_DONE,
			o->part == WARD_PART_HUNKS    ? "changed in part"
			: o->part == WARD_PART_MERGED ? "merged"
			: adds			      ? "added"
						      : "changed");
		return;
	}
	if (r == -EBUSY && !adds) {
		ward_one_ended(o, WARD_APPLY_FAILED,
			"somebody changed it at this moment, and what was there is %s",
			o->s.elsewhere ? o->s.beside : "kept");
		return;
	}
	if (r == -EEXIST)
		ward_one_ended(o, WARD_APPLY_CONFLICT, WARD_APPLY_SAYS_OTHER);
	else if (r == -ESTALE)
		ward_one_ended(o, WARD_APPLY_CONFLICT,
			"somebody changed it at this moment: it was put back");
	else
		ward_one_failed(o, r, adds ? "could not be added" : "could not be changed");
	if (in_place) {
		not_in_place(o, r == -ESTALE, r == -ESTALE);
		return;
	}
	ward_one_drop(o);
	ward_undo_log_off(&o->w->log, o->w->number[o->i]);
}

void ward_one_back(struct ward_one *o)
{
	const struct ward_review_base *was = o->c->has_base ? &o->c->base : NULL;
	struct ward_review_base came;
	mode_t type;
	int r = 0;
	if (o->w->in_place[o->i]) {
		/* A link was made anew. */
		if (S_ISLNK(o->c->type)) {
			r = ward_host_stat_at(o->s.dir, o->s.name, &came, &type);
			if (r == 0 && came.ino != o->w->came[o->i])
				r = -ESTALE;
			was = &came;
		}
		r = r < 0 ? r : ward_in_place_write(&o->s, was, true);
	} else if (o->c->kind == WARD_CHANGE_REMOVED) {
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
		ward_one_ended(o, WARD_APPLY_FAILED,
			"what it goes together with was changed at this moment: "
			"wardfs review undo takes it back");
		return;
	}
	if (o->w->in_place[o->i]) {
		not_in_place(o, true, false);
	} else {
		ward_one_drop(o);
		ward_undo_log_off(&o->w->log, o->w->number[o->i]);
	}
	ward_one_ended(o, WARD_APPLY_CONFLICT,
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
		ward_one_ended(o, WARD_APPLY_ALREADY, "the project has it");
		return;
	}
	if (r == 0 && (now.ino != o->c->base.ino || now.mode != o->c->base.mode)) {
		ward_one_ended(o, WARD_APPLY_CONFLICT, "the project's directory has changed since");
		return;
	}
	if (r == 0 && !o->w->a->dry) {
		ward_one_log(o, "-");
		r = ward_undo_log_error(&o->w->log);
		if (r == 0 && fchmod(fd, o->c->mode) < 0)
			r = -errno;
		if (r < 0) {
			ward_undo_log_off(&o->w->log, o->w->number[o->i]);
		}
	}
	if (r < 0)
		ward_one_failed(o, r, "permissions");
	else
		ward_one_ended(o, WARD_APPLY_DONE,
			o->w->a->dry ? "permissions would be changed" : "permissions changed");
}
