/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the files that -o names. */
#include "enforcer/cli/base/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/base/out.h"
#include "enforcer/base/patient.h"
#include "enforcer/base/plain.h"
#include "enforcer/session/owner/identity.h"

/* The last name of path. */
static const char *last_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

/* Root's own files, and those in places that are not the invoking user's, stay root's. */
static int give(const struct ward_output *o, struct ward_err *err)
{
	ward_cleanup(ward_identity_clear) struct ward_identity id = {0};
	struct stat st;
	if (geteuid() != 0 || fstat(o->dir, &st) < 0 || st.st_uid == 0)
		return 0;
	int r = ward_identity_find(NULL, 0, 0, &id, err);
	if (r < 0 || id.owner_uid == 0 || st.st_uid != id.owner_uid)
		return r;
	return fchown(o->fd, id.owner_uid, id.owner_gid) < 0
		       ? ward_err_sys(err, -errno, "%s", o->path)
		       : 0;
}

/* Where everybody can put a file, what is there does not say whom root's text is for. */
static bool is_planted(const struct ward_output *o, const struct stat *old)
{
	struct stat dir;
	if (geteuid() != 0 || old->st_uid == 0)
		return false;
	return fstat(o->dir, &dir) < 0 || (dir.st_mode & S_IWOTH && old->st_uid != dir.st_uid);
}

/* The file that the new one replaces. 1: it gave its mode and owner; 0: there is no such file. */
static int look_at_old(const struct ward_output *o, struct ward_err *err)
{
	struct stat st;
	if (fstatat(o->dir, last_name(o->path), &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : ward_err_sys(err, -errno, "%s", o->path);
	if (S_ISLNK(st.st_mode))
		return ward_err_set(err, -ELOOP,
			"%s is a symbolic link, which wardfs does not follow; give the path of its target, or remove it",
			o->path);
	if (!S_ISREG(st.st_mode))
		return ward_err_set(err, -EINVAL, "%s is not a regular file", o->path);
	if (!o->replace)
		return ward_err_sys(err, -EEXIST, "%s", o->path);
	if (is_planted(o, &st))
		return ward_err_set(err, -EACCES,
			"%s belongs to another user, in a directory where everybody can write; give another name, or remove it",
			o->path);
	/* An ordinary user cannot give files away, and need not: theirs alone can be replaced. */
	if (o->fd >= 0 && geteuid() == 0 && fchown(o->fd, st.st_uid, st.st_gid) < 0)
		return ward_err_sys(err, -errno, "%s", o->path);
	if (o->fd >= 0 && fchmod(o->fd, st.st_mode & o->mode) < 0)
		return ward_err_sys(err, -errno, "%s", o->path);
	return 1;
}

static int make_beside(struct ward_output *o, mode_t mode, struct ward_err *err)
{
	for (unsigned i = 0; i < 100; i++) {
		free(o->beside);
		o->beside = NULL;
		if (asprintf(&o->beside, ".wardfs-%ld-%u", (long)getpid(), i) < 0) {
			o->beside = NULL;
			return ward_err_sys(err, -ENOMEM, "%s", o->path);
		}
		o->fd = openat(o->dir, o->beside,
			O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
		if (o->fd >= 0)
			return 0;
		if (errno != EEXIST)
			break;
	}
	int r = -errno;
	free(o->beside); /* not ours to remove */
	o->beside = NULL;
	return ward_err_sys(err, r, "%s", o->path);
}

int ward_output_begin(
	const char *path, mode_t mode, bool replace, struct ward_output *ret, struct ward_err *err)
{
	ward_cleanup(ward_output_drop) struct ward_output o = WARD_OUTPUT_INIT;
	o.path = path;
	o.replace = replace;
	o.mode = mode;
	if (!*last_name(path))
		return ward_err_sys(err, -EISDIR, "%s", path);
	const char *name = NULL;
	int r = ward_patient_reach(path, err);
	if (r == 0)
		r = ward_plain_above(path, &o.dir, &name, err);
	if (r < 0)
		return r;
	r = look_at_old(&o, err);
	if (r >= 0)
		r = make_beside(&o, mode, err);
	if (r == 0)
		r = look_at_old(&o, err);
	if (r == 0)
		r = give(&o, err);
	if (r < 0)
		return r;
	*ret = o;
	o = WARD_OUTPUT_INIT;
	return 0;
}

/* The file that is there already, -ENOENT: none. */
static int open_kept(struct ward_output *o, struct ward_err *err)
{
	struct stat st;
	o->replace = true;
	int r = look_at_old(o, err);
	if (r <= 0)
		return r < 0 ? r : -ENOENT;
	o->fd = ward_fd_open_regular(o->dir, last_name(o->path), O_RDWR);
	if (o->fd < 0 || fstat(o->fd, &st) < 0)
		return ward_err_sys(err, o->fd < 0 ? o->fd : -errno, "%s", o->path);
	if (st.st_nlink != 1)
		return ward_err_set(err, -EMLINK,
			"%s has a second name (hard link), so wardfs would change another file as well; give another name, or remove it",
			o->path);
	return is_planted(o, &st) ? ward_err_sys(err, -EACCES, "%s", o->path) : 0;
}

int ward_output_keep(const char *path, mode_t mode, int *ret_fd, struct ward_err *err)
{
	ward_cleanup(ward_output_drop) struct ward_output o = WARD_OUTPUT_INIT;
	const char *name = NULL;
	o.path = path;
	if (!*last_name(path))
		return ward_err_sys(err, -EISDIR, "%s", path);
	int r = ward_patient_reach(path, err);
	if (r == 0)
		r = ward_plain_above(path, &o.dir, &name, err);
	if (r < 0)
		return r;
	r = open_kept(&o, err);
	if (r == -ENOENT && o.fd < 0) {
		o.fd = openat(
			o.dir, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
		r = o.fd < 0 ? ward_err_sys(err, -errno, "%s", path) : give(&o, err);
	}
	if (r == 0)
		*ret_fd = ward_steal_fd(&o.fd);
	return r;
}

int ward_output_finish(struct ward_output *o, struct ward_err *err)
{
	if (fsync(o->fd) < 0)
		return ward_err_sys(err, -errno, "%s", o->path);
	if (renameat2(o->dir, o->beside, o->dir, last_name(o->path),
		    o->replace ? 0 : RENAME_NOREPLACE) < 0)
		return ward_err_sys(err, -errno, "%s", o->path);
	free(o->beside);
	o->beside = NULL;
	return 0;
}

void ward_output_drop(struct ward_output *o)
{
	if (o->beside)
		(void)unlinkat(o->dir, o->beside, 0);
	free(o->beside);
	if (o->fd >= 0)
		close(o->fd);
	if (o->dir >= 0)
		close(o->dir);
	*o = WARD_OUTPUT_INIT;
}

int ward_output_write(
	const char *path, bool replace, const struct ward_buf *b, struct ward_err *err)
{
	ward_cleanup(ward_output_drop) struct ward_output o = WARD_OUTPUT_INIT;
	int r = 0;
	if (!path) {
		ward_out_lines(b->data, b->len);
		r = ward_out_flush();
		return r < 0 ? ward_err_sys(err, r, "stdout") : 0;
	}
	r = ward_output_begin(path, 0644, replace, &o, err);
	if (r < 0)
		return r;
	r = ward_fd_write_all(o.fd, b->data, b->len);
	return r < 0 ? ward_err_sys(err, r, "%s", path) : ward_output_finish(&o, err);
}
