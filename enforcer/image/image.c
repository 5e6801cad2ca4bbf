/* SPDX-License-Identifier: Apache-2.0 */
/* What every image is, and whether a directory can be one. */
#include "enforcer/image/image.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/way.h"

static void free_strings(char **v)
{
	for (char **s = v; s && *s; s++)
		free(*s);
	free(v);
}

void ward_image_clear(struct ward_image *x)
{
	if (x->fd >= 0)
		close(x->fd);
	free(x->root);
	free(x->name);
	free(x->digest);
	free(x->cwd);
	free(x->user);
	free_strings(x->env);
	free_strings(x->argv);
	if (x->lock >= 0)
		close(x->lock);
	*x = WARD_IMAGE_INIT;
}

int ward_image_check_root(int fd, const char *path, struct ward_err *err)
{
	struct stat st;
	/* A link, too: where it leads is looked at inside. */
	if (fstatat(fd, "usr", &st, AT_SYMLINK_NOFOLLOW) < 0 &&
		fstatat(fd, "bin", &st, AT_SYMLINK_NOFOLLOW) < 0)
		return ward_err_set(err, -EINVAL,
			"%s is not an image: it has neither usr nor bin; name the directory that will be / inside",
			path);
	return 0;
}

struct owners {
	uid_t owner;
	struct ward_err *err;
	bool told;
};

/* mode, uid, gid: of a directory. sticky: with that bit, others change their own names alone. */
static bool is_open(const struct stat *st, uid_t owner, bool sticky)
{
	if (st->st_uid != 0 && st->st_uid != owner)
		return true;
	if (sticky && st->st_mode & S_ISVTX)
		return false;
	return st->st_mode & S_IWOTH || (st->st_mode & S_IWGRP && st->st_gid != 0);
}

static int refuse(struct owners *o, const char *dir, const char *name)
{
	o->told = true;
	return ward_err_set(o->err, -EPERM,
		"another user can change %s%s%s, and so choose what the command runs; fix: give it to root or to the owner of the session, and chmod go-w",
		dir, *name && strcmp(dir, "/") != 0 ? "/" : "", name);
}

/* ward_way_fn */
static int check_name(void *user, const char *dir, const char *name, bool is_link)
{
	struct owners *o = user;
	struct stat st;
	(void)is_link;
	if (stat(dir, &st) < 0)
		return -errno;
	if (is_open(&st, o->owner, true))
		return refuse(o, dir, "");
	/* In a directory such as /tmp the name is its owner's. */
	ward_cleanup_fd int at = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (at < 0 || fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	return st.st_uid != 0 && st.st_uid != o->owner ? refuse(o, dir, name) : 0;
}

static int check_top(int fd, const char *path, struct owners *o)
{
	const struct dirent *e = NULL;
	struct stat st;
	int r = 0;
	int list = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = list < 0 ? NULL : fdopendir(list);
	if (!d) {
		r = -errno;
		if (list >= 0)
			close(list);
		return r;
	}
	if (fstat(fd, &st) < 0)
		r = -errno;
	else if (is_open(&st, o->owner, false))
		r = refuse(o, path, "");
	while (r == 0 && (e = readdir(d))) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		if (fstatat(fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			r = errno == ENOENT ? 0 : -errno;
		else if (!S_ISLNK(st.st_mode) && is_open(&st, o->owner, true))
			r = refuse(o, path, e->d_name);
	}
	closedir(d);
	return r;
}

int ward_image_check_owners(int fd, const char *path, uid_t owner, struct ward_err *err)
{
	struct owners o = {.owner = owner, .err = err};
	int r = ward_way_each(path, check_name, &o);
	if (r == 0)
		r = check_top(fd, path, &o);
	return r < 0 && !o.told ? ward_err_sys(err, r, "the image %s", path) : r;
}
