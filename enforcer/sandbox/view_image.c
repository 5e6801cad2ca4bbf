/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The view of an image: a directory replaces the host's programs and libraries. An entry that the
 * session makes itself wins over an entry of the image. Where the session needs an entry beneath a
 * directory of the image, the session makes that directory too, and shows the image's entries in it
 * one by one.
 *
 * wardfs follows no symbolic link of the image here. Inside, the links lead to what the view shows.
 */
#include "enforcer/sandbox/view.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"

/* Ours, whatever an image has there. */
static const char *const own[] = {"dev", "lost+found", "proc", "root", "run", "sys", "tmp"};
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* A tree may lie as deep as a path is long. */
#define DEPTH_MAX 64

struct filling {
	struct ward_view_list *w;
	const struct ward_sandbox_image *image;
	size_t n_own; /* entries of w that are not the image's */
};

static bool is_own(const char *name)
{
	for (size_t i = 0; i < COUNT(own); i++)
		if (strcmp(name, own[i]) == 0)
			return true;
	return name[0] == '.';
}

/* Does the image lack what this entry is mounted on? */
static bool lacks(int dir, const char *rest, const struct ward_blueprint_entry *e)
{
	struct open_how how = {.flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV};
	struct stat st;
	switch (e->kind) {
	case WARD_BLUEPRINT_DIR:
	case WARD_BLUEPRINT_SHARED:
	case WARD_BLUEPRINT_TMPFS:
	case WARD_BLUEPRINT_COVER:
	case WARD_BLUEPRINT_PTS:
	case WARD_BLUEPRINT_TREE:
	case WARD_BLUEPRINT_TREE_AT:
		break;
	case WARD_BLUEPRINT_FILES:
		return false; /* in a directory of ours */
	case WARD_BLUEPRINT_FILE:
		how.flags = O_PATH | O_CLOEXEC;
		break;
	case WARD_BLUEPRINT_NONE:
	case WARD_BLUEPRINT_LINK: /* nothing can be made there */
	case WARD_BLUEPRINT_BIND: /* a file or a directory: nobody has looked yet */
	case WARD_BLUEPRINT_HOST:
	case WARD_BLUEPRINT_DEVICE:
	case WARD_BLUEPRINT_TREE_FILE:
	case WARD_BLUEPRINT_KINDS_:
		return true;
	}
	if (e->flags & WARD_BLUEPRINT_NESTED)
		return false;
	ward_cleanup_fd int fd = ward_fd_openat2(dir, rest, &how);
	return fd < 0 ||
	       (e->kind == WARD_BLUEPRINT_FILE && (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)));
}

/* What is to become of a directory of the image. */
enum part { PART_WHOLE = 0, PART_SPLIT };

/* dir: the directory, O_PATH or more. *ret_beneath: something of ours lies there. */
static enum part part_of(const struct filling *f, int dir, const char *path, bool *ret_beneath)
{
	enum part part = PART_WHOLE;
	*ret_beneath = false;
	for (size_t i = 0; i < f->n_own; i++) {
		const struct ward_blueprint_entry *e = &f->w->v[i];
		const size_t n = strlen(path);
		if (!ward_blueprint_path_below(e->path, path) || e->path[n] != '/')
			continue;
		*ret_beneath = true;
		if (dir < 0 || lacks(dir, e->path + n + 1, e))
			part = PART_SPLIT;
	}
	return part;
}

static bool is_taken(const struct filling *f, const char *path)
{
	for (size_t i = 0; i < f->n_own; i++)
		if (strcmp(f->w->v[i].path, path) == 0)
			return true;
	return false;
}

static int add_link(const struct filling *f, int dir, const char *name, const char *path)
{
	char target[4096];
	bool beneath = false;
	ssize_t n = readlinkat(dir, name, target, sizeof(target) - 1);
	(void)part_of(f, -1, path, &beneath);
	if (n <= 0 || beneath)
		return 0; /* gone, or ours is made there */
	target[n] = '\0';
	ward_view_add(f->w, WARD_BLUEPRINT_LINK, path, target, 0, 0);
	return f->w->error;
}

/* At its own name on the host, and refused there if it is another file by then. */
static int add_bind(const struct filling *f, const char *path, const struct stat *st)
{
	const struct ward_sandbox_image *image = f->image;
	ward_cleanup_free char *text = NULL;
	if (asprintf(&text, "%s%s", image->root, path) < 0)
		return -ENOMEM;
	ward_view_add(f->w, WARD_BLUEPRINT_BIND, path, text, 0,
		WARD_BLUEPRINT_PLAIN |
			(image->ours ? 0 : WARD_BLUEPRINT_AS_OWNER | WARD_BLUEPRINT_SHUT));
	if (f->w->error)
		return f->w->error;
	f->w->v[f->w->n - 1].dev = st->st_dev;
	f->w->v[f->w->n - 1].ino = st->st_ino;
	return 0;
}

static int fill(const struct filling *f, int dir, const char *path, int depth);

static int add_directory(const struct filling *f, int dir, const char *name, const char *path,
	const struct stat *st, int depth)
{
	struct open_how how = {.flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV};
	struct open_how look = how;
	bool beneath = false;
	look.flags = O_PATH | O_DIRECTORY | O_CLOEXEC;
	ward_cleanup_fd int at = ward_fd_openat2(dir, name, &look);
	if (at < 0)
		return at == -ENOENT ? 0 : at;
	if (part_of(f, at, path, &beneath) == PART_WHOLE) {
		for (size_t i = 0; beneath && i < f->n_own; i++)
			if (f->w->v[i].kind == WARD_BLUEPRINT_FILE &&
				ward_blueprint_path_below(f->w->v[i].path, path))
				f->w->v[i].flags |= WARD_BLUEPRINT_OVER;
		return add_bind(f, path, st);
	}
	ward_view_add(f->w, WARD_BLUEPRINT_DIR, path, NULL, 0755, 0);
	ward_cleanup_fd int list = ward_fd_openat2(dir, name, &how);
	if (list < 0)
		return list == -EACCES ? 0 : list; /* nobody inside could list it either */
	return f->w->error ? f->w->error : fill(f, list, path, depth + 1);
}

static int add_name(const struct filling *f, int dir, const char *name, const char *path, int depth)
{
	struct stat st;
	if (!ward_blueprint_path_ok(path) || is_taken(f, path))
		return 0;
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : -errno;
	if (S_ISLNK(st.st_mode))
		return add_link(f, dir, name, path);
	if (S_ISDIR(st.st_mode))
		return add_directory(f, dir, name, path, &st, depth);
	bool beneath = false;
	(void)part_of(f, -1, path, &beneath);
	return S_ISREG(st.st_mode) && !beneath ? add_bind(f, path, &st) : 0;
}

/* path: "" for the root of the image. */
static int fill(const struct filling *f, int dir, const char *path, int depth)
{
	const struct dirent *e = NULL;
	int own_fd = depth <= DEPTH_MAX ? openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	int r = own_fd < 0 ? (depth <= DEPTH_MAX ? -errno : -ELOOP) : 0;
	DIR *d = own_fd < 0 ? NULL : fdopendir(own_fd);
	if (own_fd >= 0 && !d) {
		r = -errno;
		close(own_fd);
	}
	while (r == 0 && (e = readdir(d))) {
		ward_cleanup_free char *inside = NULL;
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 ||
			(!*path && is_own(e->d_name)))
			continue;
		r = asprintf(&inside, "%s/%s", path, e->d_name) < 0
			    ? -ENOMEM
			    : add_name(f, dirfd(d), e->d_name, inside, depth);
	}
	if (d)
		closedir(d);
	return r;
}

int ward_view_image(
	const struct ward_sandbox_image *image, struct ward_view_list *w, struct ward_err *err)
{
	const struct filling f = {.w = w, .image = image, .n_own = w->n};
	int r = fill(&f, image->fd, "", 0);
	if (r == -E2BIG)
		return ward_err_set(err, r,
			"cannot show the image %s: it has more than %d entries in / and /etc",
			image->root, WARD_BLUEPRINT_ENTRIES_MAX - (int)f.n_own);
	return r < 0 ? ward_err_sys(err, r, "show the image %s", image->root) : 0;
}
