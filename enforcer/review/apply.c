/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Changes of the project, one file at a time, each by one system call that is whole or not at all:
 *
 *   1. removals of files               what goes makes room
 *   2. directories removed, made and renamed, files renamed, until nothing more moves
 *   3. content                         beside, then RENAME_EXCHANGE or RENAME_NOREPLACE
 *   4. directories removed, permissions of directories
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <linux/xattr.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/review/host_file.h"

#define PIECE (256U << 10)
/* What is written beside; a file of that name is of an apply that was ended. */
#define BESIDE ".wardfs-apply-%llu-%u"

struct one {
	struct ward_apply *a;
	size_t i;
	const struct ward_change *c;
	int dir;	  /* O_PATH, that it lies in */
	const char *name; /* in it */
	char beside[64];
};

static void end(struct one *o, enum ward_apply_end how, const char *fmt, ...) ward_printf(3, 4);

static void end(struct one *o, enum ward_apply_end how, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	vsnprintf(o->a->why[o->i], sizeof(o->a->why[o->i]), fmt, args);
	va_end(args);
	o->a->ends[o->i] = how;
}

static void end_errno(struct one *o, int r, const char *what)
{
	end(o,
		r == -ENOENT || r == -ENOTDIR || r == -ELOOP ? WARD_APPLY_CONFLICT
							     : WARD_APPLY_FAILED,
		"%s: %s", what, strerror(-r));
}

static int begin(struct ward_apply *a, size_t i, struct one *o)
{
	const struct ward_change *c = &a->changes->v[i];
	struct ward_review_base here = {.ino = 0};
	mode_t type;
	*o = (struct one){.a = a, .i = i, .c = c, .dir = -1};
	if (a->roots[c->root] < 0) {
		end(o, WARD_APPLY_REFUSED, "it is of another directory than this project's");
		return -EXDEV;
	}
	o->dir = ward_host_parent(a->roots[c->root], c->path, &o->name);
	int r = o->dir < 0 ? o->dir : ward_host_stat(a->dir_fd, &here, &type);
	/* It is to be made, or to come there, if the rest is done. */
	if (r == -ENOENT && a->dry)
		end(o, WARD_APPLY_DONE, "would be done");
	else if (r < 0)
		end_errno(o, r, "the directory that it lies in");
	if (r < 0) {
		return r;
	}
	snprintf(o->beside, sizeof(o->beside), BESIDE, (unsigned long long)here.ino, c->object);
	return 0;
}

static void finish(struct one *o)
{
	if (o->dir >= 0)
		close(o->dir);
}

/* What stands at the name now. -ENOENT. */
static int look(int dir, const char *name, struct ward_review_base *ret, mode_t *ret_type)
{
	ward_cleanup_fd int fd = openat(dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? -errno : ward_host_stat(fd, ret, ret_type);
}

static int rename_at(int dir, const char *from, int dir2, const char *to, unsigned flags)
{
	return syscall(SYS_renameat2, dir, from, dir2, to, flags) < 0 ? -errno : 0;
}

/* --- content --- */

static int open_object(const struct one *o, int flags)
{
	char name[32];
	snprintf(name, sizeof(name), "objects/%u", o->c->object);
	int fd = openat(o->a->dir_fd, name, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int copy_content(int from, int to)
{
	if (ioctl(to, FICLONE, from) == 0)
		return 0;
	ward_cleanup_free char *buf = malloc(PIECE);
	struct stat st;
	if (!buf)
		return -ENOMEM;
	if (fstat(from, &st) < 0 || ftruncate(to, st.st_size) < 0)
		return -errno;
	for (off_t at = 0; at < st.st_size;) {
		off_t data = lseek(from, at, SEEK_DATA);
		if (data < 0)
			return errno == ENXIO ? 0 : -errno;
		ssize_t n = pread(from, buf, PIECE, data);
		if (n > 0)
			n = pwrite(to, buf, (size_t)n, data);
		if (n < 0 && errno != EINTR)
			return -errno;
		if (n == 0)
			return 0;
		at = data + (n > 0 ? n : 0);
	}
	return 0;
}

static int copy_xattrs(int from, int to)
{
	ward_cleanup_free char *names = malloc(XATTR_LIST_MAX), *value = malloc(XATTR_SIZE_MAX);
	if (!names || !value)
		return -ENOMEM;
	ssize_t len = flistxattr(from, names, XATTR_LIST_MAX);
	if (len < 0)
		return errno == EOPNOTSUPP ? 0 : -errno;
	for (const char *n = names; n < names + len; n += strlen(n) + 1) {
		if (strncmp(n, XATTR_USER_PREFIX, XATTR_USER_PREFIX_LEN) != 0 &&
			strcmp(n, XATTR_NAME_POSIX_ACL_ACCESS) != 0)
			continue;
		ssize_t size = fgetxattr(from, n, value, XATTR_SIZE_MAX);
		if (size < 0 || fsetxattr(to, n, value, (size_t)size, 0) < 0)
			return -errno;
	}
	return 0;
}

static int write_regular(const struct one *o)
{
	ward_cleanup_fd int from = open_object(o, O_RDONLY);
	struct stat st;
	if (from < 0)
		return from;
	ward_cleanup_fd int to =
		openat(o->dir, o->beside, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (to < 0)
		return -errno;
	int r = copy_content(from, to);
	if (r == 0)
		r = copy_xattrs(from, to);
	if (r == 0 && (fstat(from, &st) < 0 || fchmod(to, st.st_mode & 07777) < 0 ||
			      futimens(to, (struct timespec[2]){st.st_atim, st.st_mtim}) < 0))
		r = -errno;
	return r == 0 && fdatasync(to) < 0 ? -errno : r;
}

static int write_beside(const struct one *o)
{
	char name[32], target[PATH_MAX];
	if (S_ISREG(o->c->type))
		return write_regular(o);
	if (!S_ISLNK(o->c->type))
		return -EOPNOTSUPP;
	snprintf(name, sizeof(name), "objects/%u", o->c->object);
	ssize_t n = readlinkat(o->a->dir_fd, name, target, sizeof(target) - 1);
	if (n < 0)
		return -errno;
	target[n] = '\0';
	return symlinkat(target, o->dir, o->beside) < 0 ? -errno : 0;
}

/* Does the name have the object's content and permissions? */
static bool has_object(const struct one *o, const char *at)
{
	char name[32], a[PATH_MAX], b[PATH_MAX];
	struct ward_review_base now;
	mode_t type;
	if (look(o->dir, at, &now, &type) < 0 || type != o->c->type)
		return false;
	if (S_ISLNK(type)) {
		snprintf(name, sizeof(name), "objects/%u", o->c->object);
		ssize_t n = readlinkat(o->dir, at, a, sizeof(a));
		ssize_t m = readlinkat(o->a->dir_fd, name, b, sizeof(b));
		return n >= 0 && n == m && memcmp(a, b, (size_t)n) == 0;
	}
	if (now.mode != o->c->mode || now.size != o->c->size)
		return false;
	ward_cleanup_fd int fd = openat(o->dir, at, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	ward_cleanup_fd int own = open_object(o, O_RDONLY);
	return fd >= 0 && own >= 0 && ward_host_same_content(fd, own) == 1;
}

/* What an apply that was ended left beside: nothing else is taken away. False: it is not ours. */
static bool clear_beside(const struct one *o)
{
	struct ward_review_base now;
	mode_t type;
	if (look(o->dir, o->beside, &now, &type) == -ENOENT)
		return true;
	/* Half a copy is at no other place, and has its name from us; a file of the host's that
	 * was displaced and has changed is somebody's. */
	bool displaced = o->c->has_base && now.ino == o->c->base.ino;
	if (displaced && !ward_host_same(&now, &o->c->base, true))
		return false;
	return unlinkat(o->dir, o->beside, 0) == 0;
}

static void do_add(struct one *o)
{
	if (!S_ISREG(o->c->type) && !S_ISLNK(o->c->type)) {
		end(o, WARD_APPLY_REFUSED, "it is a pipe, a socket or a device");
		return;
	}
	if (has_object(o, o->name)) {
		end(o, WARD_APPLY_ALREADY, "the project has it");
		return;
	}
	if (faccessat(o->dir, o->name, F_OK, AT_SYMLINK_NOFOLLOW) == 0) {
		end(o, WARD_APPLY_CONFLICT, "the project has another file of this name");
		return;
	}
	if (o->a->dry) {
		end(o, WARD_APPLY_DONE, "would be added");
		return;
	}
	int r = clear_beside(o) ? write_beside(o) : -EEXIST;
	if (r == 0)
		r = rename_at(o->dir, o->beside, o->dir, o->name, RENAME_NOREPLACE);
	if (r == 0)
		end(o, WARD_APPLY_DONE, "added");
	else if (r == -EEXIST)
		end(o, WARD_APPLY_CONFLICT, "the project has another file of this name");
	else
		end_errno(o, r, "could not be added");
	if (r < 0)
		(void)clear_beside(o);
}

/* After the exchange: was it the file that the session saw? Else it goes back. */
static void check_displaced(struct one *o)
{
	struct ward_review_base was;
	mode_t type;
	int r = look(o->dir, o->beside, &was, &type);
	if (r == 0 && ward_host_same(&was, &o->c->base, true)) {
		(void)unlinkat(o->dir, o->beside, 0);
		end(o, WARD_APPLY_DONE, "changed");
		return;
	}
	r = rename_at(o->dir, o->beside, o->dir, o->name, RENAME_EXCHANGE);
	if (r == 0)
		(void)unlinkat(o->dir, o->beside, 0);
	end(o, WARD_APPLY_CONFLICT,
		r == 0 ? "somebody changed it at this moment: it was put back"
		       : "somebody changed it at this moment: it is beside, as .wardfs-apply-…");
}

/* moved: a rename of ours was before. */
static void do_modify(struct one *o)
{
	struct ward_review_base now;
	mode_t type;
	if (has_object(o, o->name) && clear_beside(o)) {
		end(o, WARD_APPLY_ALREADY, "the project has it");
		return;
	}
	int r = look(o->dir, o->name, &now, &type);
	if (r < 0) {
		end_errno(o, r, "it is not in the project any more");
		return;
	}
	if (!ward_host_same(&now, &o->c->base, o->c->moved) || type != o->c->type) {
		end(o, WARD_APPLY_CONFLICT, "the project's file has changed since");
		return;
	}
	if (S_ISREG(type) && now.nlink > 1) {
		end(o, WARD_APPLY_REFUSED,
			"it has %u names on this host, and one of them alone would change",
			now.nlink);
		return;
	}
	if (o->a->dry) {
		end(o, WARD_APPLY_DONE, "would be changed");
		return;
	}
	r = clear_beside(o) ? write_beside(o) : -EEXIST;
	if (r == 0)
		r = rename_at(o->dir, o->beside, o->dir, o->name, RENAME_EXCHANGE);
	if (r == 0) {
		check_displaced(o);
		return;
	}
	end_errno(o, r,
		r == -EEXIST ? "a file .wardfs-apply-… beside it is in the way"
			     : "could not be changed");
	if (r != -EEXIST)
		(void)clear_beside(o);
}

/* --- names --- */

static void do_remove(struct one *o)
{
	struct ward_review_base now;
	mode_t type;
	int r = look(o->dir, o->name, &now, &type);
	if (r == -ENOENT) {
		end(o, WARD_APPLY_ALREADY, "it is gone");
		return;
	}
	/* Of a directory neither size nor times tell anything: what is in it is looked at. */
	bool same =
		r == 0 && type == o->c->type &&
		(S_ISDIR(type) ? now.ino == o->c->base.ino && now.dev == o->c->base.dev
			       : ward_host_same(&now, &o->c->base, now.nlink != o->c->base.nlink));
	if (!same) {
		end(o, WARD_APPLY_CONFLICT, "the project's file has changed since");
		return;
	}
	if (o->a->dry) {
		end(o, WARD_APPLY_DONE, "would be removed");
		return;
	}
	/* Under a name of ours first: what is removed is what was looked at. */
	char away[64];
	snprintf(away, sizeof(away), ".wardfs-apply-%llu-r", (unsigned long long)now.ino);
	if (S_ISDIR(type)) {
		r = unlinkat(o->dir, o->name, AT_REMOVEDIR) < 0 ? -errno : 0;
	} else {
		r = rename_at(o->dir, o->name, o->dir, away, RENAME_NOREPLACE);
		if (r == 0 && (look(o->dir, away, &now, &type) < 0 ||
				      !ward_host_same(&now, &o->c->base, true))) {
			(void)rename_at(o->dir, away, o->dir, o->name, RENAME_NOREPLACE);
			end(o, WARD_APPLY_CONFLICT, "somebody changed it at this moment");
			return;
		}
		if (r == 0 && unlinkat(o->dir, away, 0) < 0)
			r = -errno;
	}
	if (r == 0)
		end(o, WARD_APPLY_DONE, "removed");
	else if (r == -ENOTEMPTY || r == -EEXIST)
		end(o, WARD_APPLY_CONFLICT,
			"the project has files in it that the session did not remove");
	else
		end_errno(o, r, "could not be removed");
}

static void do_mkdir(struct one *o)
{
	struct ward_review_base now;
	mode_t type;
	int r = look(o->dir, o->name, &now, &type);
	if (r == 0 && S_ISDIR(type)) {
		end(o, WARD_APPLY_ALREADY, "the project has it");
		return;
	}
	if (r == 0) {
		end(o, WARD_APPLY_CONFLICT, "the project has another file of this name");
		return;
	}
	if (!o->a->dry) {
		r = mkdirat(o->dir, o->name, 0700) < 0 ? -errno : 0;
		if (r == 0 && fchmodat(o->dir, o->name, o->c->mode | 0300, 0) < 0)
			r = -errno;
		if (r < 0) {
			end_errno(o, r, "could not be made");
			return;
		}
	}
	end(o, WARD_APPLY_DONE, o->a->dry ? "would be made" : "made");
}

/* False: something is in the way, and may go yet. */
static bool do_rename(struct one *o)
{
	const struct ward_change *c = o->c;
	struct ward_review_base now;
	const char *name = NULL;
	mode_t type;
	ward_cleanup_fd int dir = ward_host_parent(o->a->roots[c->from_root], c->from, &name);
	int r = dir < 0 ? dir : look(dir, name, &now, &type);
	if (r < 0) {
		struct ward_review_base there;
		if (look(o->dir, o->name, &there, &type) == 0 && there.ino == c->base.ino &&
			there.dev == c->base.dev) {
			end(o, WARD_APPLY_ALREADY, "the project has it");
			return true;
		}
		end_errno(o, r, "what is to be renamed");
		return true;
	}
	bool same = type == c->type &&
		    (S_ISDIR(type) ? now.ino == c->base.ino && now.dev == c->base.dev
				   : ward_host_same(&now, &c->base, now.nlink != c->base.nlink));
	if (!same) {
		end(o, WARD_APPLY_CONFLICT, "the project's file has changed since");
		return true;
	}
	if (faccessat(o->dir, o->name, F_OK, AT_SYMLINK_NOFOLLOW) == 0) {
		end(o, WARD_APPLY_CONFLICT, "the project has another file of this name");
		return false;
	}
	if (o->a->dry) {
		end(o, WARD_APPLY_DONE, "would be renamed");
		return true;
	}
	if (c->kind == WARD_CHANGE_LINKED)
		r = linkat(dir, name, o->dir, o->name, 0) < 0 ? -errno : 0;
	else
		r = rename_at(dir, name, o->dir, o->name, RENAME_NOREPLACE);
	if (r == 0)
		end(o, WARD_APPLY_DONE, c->kind == WARD_CHANGE_LINKED ? "linked" : "renamed");
	else
		end_errno(o, r, "could not be renamed");
	return r == 0;
}

/* --- in order --- */

static void do_one(struct ward_apply *a, size_t i, void (*fn)(struct one *o))
{
	struct one o;
	if (begin(a, i, &o) == 0)
		fn(&o);
	finish(&o);
}

static void try_rename(struct one *o)
{
	(void)do_rename(o);
}

static bool is_dir_gone(const struct ward_change *c)
{
	return c->kind == WARD_CHANGE_REMOVED && S_ISDIR(c->type);
}

static bool moves(const struct ward_change *c)
{
	return c->kind == WARD_CHANGE_RENAMED || c->kind == WARD_CHANGE_LINKED ||
	       (c->kind == WARD_CHANGE_ADDED && S_ISDIR(c->type)) || is_dir_gone(c);
}

static bool settled(enum ward_apply_end e)
{
	return e == WARD_APPLY_DONE || e == WARD_APPLY_ALREADY;
}

/* What moves may wait for another one that moves: until a round has done nothing. Beneath first for
 * what goes, above first for what comes. */
static void do_moves(struct ward_apply *a, const bool *wanted)
{
	const struct ward_review_changes *c = a->changes;
	bool more = true;
	for (size_t round = 0; more && round <= c->n; round++) {
		more = false;
		for (size_t k = 0; k < 2 * c->n; k++) {
			size_t i = k < c->n ? c->n - 1 - k : k - c->n;
			const struct ward_change *v = &c->v[i];
			if (!wanted[i] || !moves(v) || settled(a->ends[i]) ||
				is_dir_gone(v) != (k < c->n))
				continue;
			do_one(a, i,
				is_dir_gone(v)		       ? do_remove
				: v->kind == WARD_CHANGE_ADDED ? do_mkdir
							       : try_rename);
			more = more || settled(a->ends[i]);
		}
		if (a->dry)
			more = false;
	}
}

static void do_mode(struct one *o)
{
	struct ward_review_base now;
	mode_t type;
	ward_cleanup_fd int fd =
		openat(o->dir, o->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int r = fd < 0 ? -errno : ward_host_stat(fd, &now, &type);
	if (r == 0 && now.mode == o->c->mode) {
		end(o, WARD_APPLY_ALREADY, "the project has it");
		return;
	}
	if (r == 0 && (now.ino != o->c->base.ino || now.mode != o->c->base.mode)) {
		end(o, WARD_APPLY_CONFLICT, "the project's directory has changed since");
		return;
	}
	if (r == 0 && !o->a->dry && fchmod(fd, o->c->mode) < 0)
		r = -errno;
	if (r < 0)
		end_errno(o, r, "permissions");
	else
		end(o, WARD_APPLY_DONE, "permissions changed");
}

int ward_apply(struct ward_apply *a, const bool *wanted, struct ward_err *err)
{
	const struct ward_review_changes *c = a->changes;
	/* Two at once would each find what the other one wrote beside. */
	if (ward_fd_lock(a->dir_fd, LOCK_EX, 1) < 0)
		return ward_err_set(err, -EBUSY, "another apply of this session is under way");
	for (size_t i = 0; i < c->n; i++)
		if (wanted[i] && c->v[i].kind == WARD_CHANGE_REMOVED && !S_ISDIR(c->v[i].type))
			do_one(a, i, do_remove);
	do_moves(a, wanted);
	for (size_t i = 0; i < c->n; i++) {
		const struct ward_change *v = &c->v[i];
		if (!wanted[i] || S_ISDIR(v->type))
			continue;
		if (v->kind == WARD_CHANGE_ADDED)
			do_one(a, i, do_add);
		else if (v->kind == WARD_CHANGE_MODIFIED)
			do_one(a, i, do_modify);
	}
	for (size_t i = c->n; i-- > 0;)
		if (wanted[i] && c->v[i].kind == WARD_CHANGE_MODE)
			do_one(a, i, do_mode);
	(void)flock(a->dir_fd, LOCK_UN);
	return 0;
}
