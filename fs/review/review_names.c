/* SPDX-License-Identifier: Apache-2.0 */
/* Names made, removed, renamed and linked: nothing of it reaches the host. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "enforcer/base/fd.h"
#include "fs/review/review_internal.h"

/* What is being made is called so in its directory's object, for a moment. */
#define MAKING "making"

/* A directory in which a name is about to change, and what stands there. The lock is held. */
struct change {
	int dirfd;
	const char *name;
	struct ward_review_at at;
	int object; /* O_PATH, of the directory's object */
	struct ward_review_file *was;
	bool made;  /* the entry was not there before */
	char *undo; /* the name, for a step back; NULL: there is no step */
};

static void change_end(struct change *c)
{
	free(c->undo);
	if (c->object >= 0)
		close(c->object);
}

static int may_change(int fd)
{
	if (syscall(SYS_faccessat2, fd, "", W_OK | X_OK, AT_EACCESS | AT_EMPTY_PATH) < 0)
		return -errno;
	return 0;
}

static int change_begin(struct ward_review *rv, int dirfd, const char *name, struct change *c)
{
	int r;

	*c = (struct change){.dirfd = dirfd, .name = name, .object = -1};
	r = ward_review_look(rv, dirfd, name, &c->at);
	/* For a file without a name the directory alone is meant. */
	if (r == 0 && !*name) {
		c->at.there = false;
		c->at.file = NULL;
	}
	if (r == 0 && !c->at.dir)
		r = ward_review_inside(rv, dirfd);
	if (r == 0 && !c->at.dir)
		r = ward_review_declare(rv, dirfd, NULL, &c->at.dir_stx, &c->at.dir);
	if (r == 0)
		r = ward_review_stage_dir(rv, c->at.dir, dirfd);
	if (r == 0)
		r = ward_review_open_object(rv, c->at.dir, O_PATH | O_DIRECTORY, &c->object);
	if (r == 0)
		r = may_change(c->object);
	/* Its object is ours, and grants what its owner on the host might not. */
	if (r == 0 && c->at.dir->foreign)
		r = may_change(dirfd);
	if (r == 0 && c->at.there && !c->at.file)
		r = ward_review_declare(rv, dirfd, name, &c->at.lower, &c->at.file);
	if (r == 0)
		c->was = c->at.entry ? c->at.entry->was : c->at.file;
	return r;
}

/* Of a directory with the sticky bit, only owners remove names. */
static int check_sticky(struct ward_review *rv, const struct change *c)
{
	struct ward_file dir, file;
	struct statx stx;
	ward_cleanup_fd int fd = -1;
	int r = ward_review_statx(c->object, "", &stx);

	if (r < 0 || !(stx.stx_mode & S_ISVTX))
		return r;
	ward_file_from_statx(&stx, &dir);
	ward_review_adjust(rv, c->at.dir, true, &dir);
	r = ward_review_open_at(rv, c->dirfd, c->name, &c->at, O_PATH, &fd);
	if (r == 0)
		r = ward_review_statx(fd, "", &stx);
	if (r < 0)
		return r;
	ward_file_from_statx(&stx, &file);
	ward_review_adjust(rv, c->at.file, c->at.file->staged, &file);
	return rv->uid_served == 0 || rv->uid_served == dir.st.st_uid ||
			       rv->uid_served == file.st.st_uid
		       ? 0
		       : -EPERM;
}

/* The directory's times change. */
static void touch(const struct change *c)
{
	const struct timespec now[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_nsec = UTIME_NOW}};

	(void)syscall(SYS_utimensat, c->object, "", now, AT_EMPTY_PATH);
}

/*
 * Its st_ctime changes with its names, as far as it is ours: by setting what it has. Links have no
 * permissions, and files would lose setuid by another owner.
 */
static void touch_file(struct ward_review *rv, const struct ward_review_file *f)
{
	ward_cleanup_fd int fd = -1;
	char path[40];
	struct stat st;

	if (f->gone || !f->staged || ward_review_open_object(rv, f, O_PATH, &fd) < 0)
		return;
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (S_ISLNK(f->type))
		(void)!fchownat(fd, "", (uid_t)-1, (gid_t)-1, AT_EMPTY_PATH);
	else if (fstat(fd, &st) == 0)
		(void)!fchmodat(AT_FDCWD, path, st.st_mode & 07777, 0);
}

/* Room for the entry, before the journal has it. */
static int prepare(struct ward_review *rv, struct change *c, const struct ward_review_file *file,
	struct ward_buf *line)
{
	int r = rv->steps.last ? ward_steps_room(rv) : 0;

	if (r == 0 && rv->steps.last && !c->undo && !(c->undo = strdup(c->name)))
		r = -ENOMEM;
	if (r < 0)
		return r;
	if (!c->at.entry && file != c->was) {
		c->at.entry = ward_review_name_new(rv, c->at.dir, c->name);
		if (!c->at.entry)
			return -ENOMEM;
		c->at.entry->file = c->at.entry->was = c->was;
		c->made = true;
	}
	ward_review_put_name(line, c->at.dir, c->name, file, c->was);
	return 0;
}

static void commit(struct ward_review *rv, struct change *c, struct ward_review_file *file)
{
	rv->steps.changes++;
	atomic_fetch_add(&rv->steps.all, 1);
	if (!c->at.entry)
		return;
	if (c->undo)
		ward_steps_note(rv, c->at.dir, c->undo, c->at.entry->file, c->was);
	c->undo = NULL;
	c->at.entry->file = file;
	ward_review_place_leaves(rv, c->at.dir, c->at.entry->text, c->was, file != c->was);
	if (file == c->was)
		ward_review_name_free(rv, c->at.entry);
	c->at.entry = NULL;
}

static void take_back(struct ward_review *rv, struct change *c)
{
	if (c->made && c->at.entry)
		ward_review_name_free(rv, c->at.entry);
	c->at.entry = NULL;
}

static int set_name(struct ward_review *rv, struct change *c, struct ward_review_file *file)
{
	ward_cleanup(ward_buf_clear) struct ward_buf line = WARD_BUF_INIT;
	int r = prepare(rv, c, file, &line);

	if (r == 0)
		r = ward_review_write(rv, &line);
	if (r == 0)
		commit(rv, c, file);
	else
		take_back(rv, c);
	return r;
}

static void remove_object(struct ward_review *rv, struct ward_review_file *f)
{
	char name[WARD_REVIEW_NAME];

	/* A step back would need it. */
	if (ward_steps_holds(rv, f))
		return;
	/* A file that comes back has to be the one that those have who have it open. */
	if (ward_steps_lingers(rv, f)) {
		f->lingers = rv->steps.lingering = true;
		return;
	}
	ward_size_gone(rv, f);
	ward_review_object_name(f, name);
	(void)unlinkat(rv->objects_fd, name, S_ISDIR(f->type) ? AT_REMOVEDIR : 0);
	f->shared = false;
	f->no_object = true;
}

/* A name of f in dir is gone. */
static void lost_name(
	struct ward_review *rv, struct ward_review_file *dir, struct ward_review_file *f)
{
	if (S_ISDIR(f->type)) {
		dir->nlink--;
		f->gone = true;
	} else {
		f->nlink--;
		f->gone = f->nlink + (f->has_lower ? (int64_t)f->lower_nlink : 0) <= 0;
	}
	if (f->gone && f->staged)
		remove_object(rv, f);
}

/* --- made --- */

/* To where objects are: a directory without the right to write takes that, to get another "..". */
static int move_made(struct ward_review *rv, const struct change *c, struct ward_review_file *f)
{
	char name[WARD_REVIEW_NAME];
	struct stat st;
	int r;

	ward_review_object_name(f, name);
	if (S_ISDIR(f->type) && (fstatat(c->object, MAKING, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
					fchmodat(c->object, MAKING, st.st_mode | 0700, 0) < 0))
		return -errno;
	r = syscall(SYS_renameat2, c->object, MAKING, rv->objects_fd, name, 0) < 0 ? -errno : 0;
	if (r == 0 && S_ISDIR(f->type) && fchmodat(rv->objects_fd, name, st.st_mode & 07777, 0) < 0)
		r = -errno;
	return r;
}

static int make_there(
	const struct change *c, mode_t mode, const char *target, int flags, int *ret_fd)
{
	const struct open_how how = {
		.flags = (uint64_t)(unsigned)(flags | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW |
					      O_NOCTTY | O_NONBLOCK),
		.mode = mode & 07777,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV};
	int fd;

	if (S_ISDIR(mode))
		return mkdirat(c->object, MAKING, mode & 07777) < 0 ? -errno : 0;
	if (S_ISLNK(mode))
		return symlinkat(target, c->object, MAKING) < 0 ? -errno : 0;
	if (!S_ISREG(mode))
		return mknodat(c->object, MAKING, mode & (S_IFMT | 07777), 0) < 0 ? -errno : 0;
	fd = ward_fd_openat2(c->object, MAKING, &how);
	if (fd < 0)
		return fd == -EMFILE ? -ENFILE : fd;
	*ret_fd = fd;
	return 0;
}

/* A file that no name leads to yet, with its object. */
static int make_object(struct ward_review *rv, const struct change *c, mode_t mode,
	const char *target, int flags, int *ret_fd, struct ward_review_file **ret)
{
	struct ward_review_file *f = ward_review_file_new(rv, mode);
	int r;

	if (!f)
		return -ENOMEM;
	r = make_there(c, mode, target, flags, ret_fd);
	if (r < 0)
		return r;
	r = move_made(rv, c, f);
	if (r < 0)
		(void)unlinkat(c->object, MAKING, S_ISDIR(mode) ? AT_REMOVEDIR : 0);
	if (r == 0)
		r = ward_review_log_file(rv, f, NULL);
	if (r == 0)
		r = ward_review_placed(rv, f, NULL);
	f->nlink = S_ISDIR(mode) ? 2 : 1;
	if (r == 0 && S_ISREG(mode) && *ret_fd >= 0)
		ward_steps_opened(rv, f);
	*ret = f;
	return r;
}

static void drop_object(struct ward_review *rv, struct ward_review_file *f)
{
	if (f)
		remove_object(rv, f);
	if (f)
		f->gone = true;
}

static int make_new(struct ward_review *rv, struct change *c, mode_t mode, const char *target,
	int flags, int *ret_fd)
{
	struct ward_review_file *f = NULL;
	int r;

	if (c->at.there)
		return -EEXIST;
	r = make_object(rv, c, mode, target, flags, ret_fd, &f);
	if (r == 0)
		r = set_name(rv, c, f);
	if (r == 0 && target)
		ward_size_object(rv, f, strlen(target));
	if (r < 0)
		drop_object(rv, f);
	else if (S_ISDIR(mode))
		c->at.dir->nlink++;
	return r;
}

/* Of the directory's object, so with what it inherits; known by its descriptor alone. */
static int make_unnamed(
	struct ward_review *rv, const struct change *c, int flags, mode_t mode, int *ret_fd)
{
	const struct open_how how = {
		.flags = (uint64_t)(unsigned)(flags | O_CLOEXEC), .mode = mode & 07777};
	ward_cleanup_fd int fd = -1;
	struct ward_review_file *f;
	struct statx stx;
	int r;

	fd = ward_fd_openat2(c->object, ".", &how);
	if (fd < 0)
		return fd;
	r = ward_review_statx(fd, "", &stx);
	if (r < 0)
		return r;
	f = ward_review_file_new(rv, S_IFREG);
	if (!f)
		return -ENOMEM;
	f->object = ward_review_key_of(&stx);
	f->id.btime_ns = f->object.btime_ns;
	ward_review_hash_object(rv, f);
	f->hashed = true;
	*ret_fd = ward_steal_fd(&fd);
	return 0;
}

int ward_review_create(
	struct ward_review *rv, int dirfd, const char *name, int flags, mode_t mode, int *ret_fd)
{
	ward_cleanup_fd int fd = -1;
	struct change c;
	int r;

	pthread_rwlock_wrlock(&rv->lock);
	r = change_begin(rv, dirfd, name, &c);
	if (r == 0 && (flags & O_TMPFILE) == O_TMPFILE)
		r = make_unnamed(rv, &c, flags, mode, &fd);
	else if (r == 0)
		r = make_new(rv, &c, S_IFREG | (mode & 07777), NULL, flags, &fd);
	change_end(&c);
	pthread_rwlock_unlock(&rv->lock);
	if (r == 0)
		*ret_fd = ward_steal_fd(&fd);
	return r;
}

int ward_review_make(
	struct ward_review *rv, int dirfd, const char *name, mode_t mode, const char *target)
{
	struct change c;
	const bool counted =
		rv->size.counts && target && ward_review_inside(rv, dirfd) != WARD_REVIEW_LOWER;
	const uint64_t bytes = counted ? strlen(target) : 0;
	int fd = -1;
	int r = ward_size_take(rv, bytes);

	if (r < 0)
		return ward_size_refuse_fd(rv, dirfd, r);
	pthread_rwlock_wrlock(&rv->lock);
	r = change_begin(rv, dirfd, name, &c);
	if (r == 0)
		r = make_new(rv, &c, mode, target, O_RDONLY, &fd);
	change_end(&c);
	pthread_rwlock_unlock(&rv->lock);
	if (r != 0)
		ward_size_give(rv, bytes);
	if (fd >= 0)
		close(fd);
	return r;
}

/* --- removed --- */

/* Has a directory entries, for the session? */
static int check_empty(struct ward_review *rv, const struct change *c)
{
	struct ward_review_entries e = {.v = NULL};
	const struct ward_review_name *entry;
	ward_cleanup_fd int fd = -1;
	const char *name;
	uint8_t type;
	size_t n = 0;
	int r;

	/* What the session made need not be read, which its mode may forbid. */
	LIST_FOREACH(entry, &c->at.file->names, in_dir)
		n += entry->file != NULL;
	if (n || !c->at.file->has_lower)
		return n ? -ENOTEMPTY : 0;
	r = ward_review_open_at(rv, c->dirfd, c->name, &c->at, O_RDONLY | O_DIRECTORY, &fd);
	if (r == 0)
		r = ward_review_list_locked(rv, fd, &e);
	if (r < 0)
		return r;
	while (ward_review_next(&e, &name, &type) > 0)
		n++;
	free(e.v);
	/* "." and ".." are always there. */
	return n > 2 ? -ENOTEMPTY : 0;
}

static int unlink_locked(struct ward_review *rv, struct change *c, bool dir)
{
	struct ward_review_file *f = c->at.file;
	int r;

	if (!c->at.there)
		return -ENOENT;
	if (dir != S_ISDIR(f->type))
		return dir ? -ENOTDIR : -EISDIR;
	r = check_sticky(rv, c);
	if (r == 0 && dir)
		r = check_empty(rv, c);
	if (r == 0)
		r = set_name(rv, c, NULL);
	if (r < 0)
		return r;
	lost_name(rv, c->at.dir, f);
	touch(c);
	touch_file(rv, f);
	return 0;
}

int ward_review_unlink(struct ward_review *rv, int dirfd, const char *name, bool dir)
{
	struct change c;
	int r;

	pthread_rwlock_wrlock(&rv->lock);
	r = change_begin(rv, dirfd, name, &c);
	if (r == 0)
		r = unlink_locked(rv, &c, dir);
	change_end(&c);
	pthread_rwlock_unlock(&rv->lock);
	ward_size_hold(rv);
	return r;
}

/* --- renamed --- */

/* May what is at `from` come to be at `to`, as rename(2) has it? */
static int check_move(
	struct ward_review *rv, const struct change *from, const struct change *to, unsigned flags)
{
	const struct ward_review_file *f = from->at.file, *f2 = to->at.file;
	ward_cleanup_fd int fd = -1;
	int r = check_sticky(rv, from);

	if (r == 0 && to->at.there)
		r = check_sticky(rv, to);
	if (r == 0 && to->at.there && !(flags & RENAME_EXCHANGE)) {
		if (S_ISDIR(f->type) != S_ISDIR(f2->type))
			return S_ISDIR(f->type) ? -ENOTDIR : -EISDIR;
		if (S_ISDIR(f2->type))
			r = check_empty(rv, to);
	}
	/* Its ".." changes. */
	if (r == 0 && S_ISDIR(f->type) && from->at.dir != to->at.dir) {
		r = f->staged ? ward_review_open_object(rv, f, O_PATH, &fd)
			      : ward_review_open_at(
					rv, from->dirfd, from->name, &from->at, O_PATH, &fd);
		if (r == 0 && syscall(SYS_faccessat2, fd, "", W_OK, AT_EACCESS | AT_EMPTY_PATH) < 0)
			r = -errno;
	}
	return r;
}

static void count_move(struct ward_review *rv, struct change *from, struct change *to,
	struct ward_review_file *f, struct ward_review_file *f2, unsigned flags)
{
	if (S_ISDIR(f->type)) {
		from->at.dir->nlink--;
		to->at.dir->nlink++;
	}
	if (f2 && flags & RENAME_EXCHANGE && S_ISDIR(f2->type)) {
		to->at.dir->nlink--;
		from->at.dir->nlink++;
	} else if (f2 && !(flags & RENAME_EXCHANGE)) {
		lost_name(rv, to->at.dir, f2);
	}
	touch(from);
	touch(to);
	touch_file(rv, f);
	if (f2)
		touch_file(rv, f2);
}

static int rename_locked(
	struct ward_review *rv, struct change *from, struct change *to, unsigned flags)
{
	ward_cleanup(ward_buf_clear) struct ward_buf line = WARD_BUF_INIT;
	struct ward_review_file *f = from->at.file, *f2 = to->at.there ? to->at.file : NULL;
	struct ward_review_file *stays = flags & RENAME_EXCHANGE ? f2 : NULL;
	int fd = -1;
	int r;

	if (!from->at.there || (flags & RENAME_EXCHANGE && !f2))
		return -ENOENT;
	if (f2 && flags & RENAME_NOREPLACE)
		return -EEXIST;
	if (f == f2)
		return 0;
	r = check_move(rv, from, to, flags);
	/* A device 0:0 stays at the old name. */
	if (r == 0 && flags & RENAME_WHITEOUT)
		r = make_object(rv, from, S_IFCHR, NULL, 0, &fd, &stays);
	if (r == 0)
		r = prepare(rv, from, stays, &line);
	if (r == 0)
		r = prepare(rv, to, f, &line);
	if (r == 0)
		r = ward_review_write(rv, &line);
	if (r < 0) {
		if (flags & RENAME_WHITEOUT)
			drop_object(rv, stays);
		take_back(rv, from);
		take_back(rv, to);
		return r;
	}
	commit(rv, from, stays);
	commit(rv, to, f);
	count_move(rv, from, to, f, f2, flags);
	return 0;
}

/* Is there a file of the host's that no journal entry hides, small enough? *ret: what it is. */
static bool is_replaced(
	struct ward_review *rv, int dirfd, const char *name, struct ward_review_key *ret)
{
	struct ward_review_at at;
	bool is = false;

	pthread_rwlock_rdlock(&rv->lock);
	if (ward_review_look(rv, dirfd, name, &at) == 0 && at.there && !at.entry &&
		S_ISREG(at.lower.stx_mode) && at.lower.stx_size <= WARD_REVIEW_BASE_MAX &&
		!(at.file && at.file->staged)) {
		*ret = ward_review_key_of(&at.lower);
		is = true;
	}
	pthread_rwlock_unlock(&rv->lock);
	return is;
}

static bool keep_replaced(struct ward_review *rv, int dirfd, const char *name,
	struct ward_review_key *ret_key, char ret[WARD_REVIEW_NAME], uint64_t *ret_taken)
{
	const struct open_how how = {
		.flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV};
	ward_cleanup_fd int fd = -1;
	struct ward_review_key key;
	struct statx st, after;

	if (!is_replaced(rv, dirfd, name, ret_key))
		return false;
	fd = ward_fd_openat2(dirfd, name, &how);
	if (fd < 0 || ward_review_statx(fd, "", &st) < 0)
		return false;
	key = ward_review_key_of(&st);
	/* Without room there is no such copy, and the rename goes on. */
	if (key.dev != ret_key->dev || key.ino != ret_key->ino ||
		key.btime_ns != ret_key->btime_ns || ward_size_take(rv, st.stx_size) < 0)
		return false;
	*ret_taken = st.stx_size;
	if (!ward_review_base_begin(rv, fd, (off_t)st.stx_size, ret))
		return false;
	/* Somebody writes to it at this moment: there is no one content. */
	if (ward_review_statx(fd, "", &after) == 0 && ward_review_same_times(&st, &after))
		return true;
	ward_review_base_drop(rv, ret);
	return false;
}

/* Is it this file of the host's, and was not staged? */
static bool is_lower(const struct ward_review_file *f, const struct ward_review_key *key)
{
	return f && f->has_lower && !f->staged && f->lower.dev == key->dev &&
	       f->lower.ino == key->ino && f->lower.btime_ns == key->btime_ns;
}

int ward_review_rename(struct ward_review *rv, int dirfd, const char *name, int dirfd2,
	const char *name2, unsigned flags)
{
	struct change from, to = {.object = -1};
	struct ward_review_key key = {.dev = 0};
	char base[WARD_REVIEW_NAME];
	uint64_t taken = 0;
	bool kept;
	int r;

	if (flags & RENAME_WHITEOUT && flags & RENAME_EXCHANGE)
		return -EINVAL;
	kept = !(flags & (RENAME_EXCHANGE | RENAME_NOREPLACE)) &&
	       keep_replaced(rv, dirfd2, name2, &key, base, &taken);
	pthread_rwlock_wrlock(&rv->lock);
	r = change_begin(rv, dirfd, name, &from);
	if (r == 0)
		r = change_begin(rv, dirfd2, name2, &to);
	/* One tree is staged and the other is not. */
	if (r == WARD_REVIEW_LOWER && from.object >= 0)
		r = -EXDEV;
	if (r == 0)
		r = rename_locked(rv, &from, &to, flags);
	if (kept && r == 0 && is_lower(to.at.file, &key)) {
		if (ward_review_base_keep(rv, to.at.file, base)) {
			to.at.file->base_bytes = taken;
			taken = 0;
		}
		kept = false;
	}
	change_end(&from);
	change_end(&to);
	pthread_rwlock_unlock(&rv->lock);
	if (kept)
		ward_review_base_drop(rv, base);
	ward_size_give(rv, taken);
	ward_size_hold(rv);
	return r;
}

/* --- linked --- */

/* A file without a name gets its object. */
static int place_unnamed(struct ward_review *rv, int fd, struct ward_review_file *f)
{
	char name[WARD_REVIEW_NAME], path[40];
	int r;

	ward_review_object_name(f, name);
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (linkat(AT_FDCWD, path, rv->objects_fd, name, AT_SYMLINK_FOLLOW) < 0)
		return -errno;
	f->born = rv->steps.last;
	ward_steps_opened(rv, f);
	r = ward_review_log_file(rv, f, NULL);
	return r < 0 ? r : ward_review_placed(rv, f, NULL);
}

static int link_locked(struct ward_review *rv, int fd, struct change *c)
{
	struct ward_review_key key;
	struct ward_review_file *f;
	struct statx stx;
	int r = ward_review_statx(fd, "", &stx);

	if (r < 0)
		return r;
	if (S_ISDIR(stx.stx_mode))
		return -EPERM;
	if (c->at.there)
		return -EEXIST;
	key = ward_review_key_of(&stx);
	f = ward_review_by_key(rv, &key);
	if (!f)
		r = ward_review_declare(rv, fd, NULL, &stx, &f);
	if (r < 0)
		return r == -ESTALE ? -ENOENT : r;
	if (f->gone)
		return -ENOENT;
	if (!f->has_lower && !f->staged)
		r = place_unnamed(rv, fd, f);
	if (r == 0)
		r = set_name(rv, c, f);
	if (r < 0)
		return r;
	f->nlink++;
	touch(c);
	touch_file(rv, f);
	return 0;
}

int ward_review_link(struct ward_review *rv, int fd, int dirfd, const char *name)
{
	struct change c;
	int r;

	pthread_rwlock_wrlock(&rv->lock);
	r = change_begin(rv, dirfd, name, &c);
	if (r == 0)
		r = link_locked(rv, fd, &c);
	change_end(&c);
	pthread_rwlock_unlock(&rv->lock);
	return r;
}
