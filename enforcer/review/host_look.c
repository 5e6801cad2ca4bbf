/* SPDX-License-Identifier: Apache-2.0 */
/* The project's files, for whoever judges a change: nothing is changed, no link is followed. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/buf.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/review/host_file.h"

/* A tree that wardfs serves is no deeper (SECURITY.md); each level holds a descriptor here. */
#define LEVELS_MAX 200U

struct walk {
	size_t *left;
	unsigned levels; /* 0: all */
	bool (*fn)(void *arg, const char *path, mode_t type, const char *to);
	void *arg;
	struct ward_buf path;
	char to[PATH_MAX];
};

static int walk_dir(struct walk *w, int fd, unsigned level);

/* 0: go on. */
static int walk_name(struct walk *w, int dir, const struct dirent *e, unsigned level)
{
	const struct open_how how = {.flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV};
	const size_t len = w->path.len;
	const char *name = e->d_name;
	mode_t type = DTTOIF(e->d_type);
	struct stat st;
	ssize_t n = 0;
	int r = 0;
	if (*w->left == 0)
		return -E2BIG;
	--*w->left;
	/* Not every file system says the type with the name. */
	if (e->d_type == DT_UNKNOWN) {
		if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			return -errno;
		type = st.st_mode & S_IFMT;
	}
	if (S_ISLNK(type) && (n = readlinkat(dir, name, w->to, sizeof(w->to) - 1)) < 0)
		return -errno;
	w->to[n] = '\0';
	ward_buf_printf(&w->path, "%s%s", len ? "/" : "", name);
	r = ward_buf_error(&w->path);
	if (r < 0)
		return r;
	if (!w->fn(w->arg, ward_buf_str(&w->path), type, w->to))
		r = 1;
	if (r == 0 && S_ISDIR(type) && !(w->levels && level + 1 >= w->levels)) {
		int fd = level < LEVELS_MAX ? ward_fd_openat2(dir, name, &how) : -E2BIG;
		/* Another mount does not move. Who wants all must hear of what is closed. */
		const bool passed = fd == -EXDEV || (w->levels && (fd == -EACCES || fd == -ENOENT));
		r = passed ? 0 : fd < 0 ? fd : walk_dir(w, fd, level + 1);
	}
	w->path.len = len;
	w->path.data[len] = '\0';
	return r;
}

/* Takes fd. */
static int walk_dir(struct walk *w, int fd, unsigned level)
{
	ward_cleanup_dir DIR *d = fdopendir(fd);
	int r = 0;
	if (!d) {
		close(fd);
		return -ENOMEM;
	}
	while (r == 0) {
		errno = 0;
		const struct dirent *e = readdir(d);
		if (!e)
			return -errno;
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			r = walk_name(w, dirfd(d), e, level);
	}
	return r;
}

int ward_review_host_beneath(int root_fd, const char *path, unsigned levels, size_t *left,
	bool (*fn)(void *arg, const char *path, mode_t type, const char *to), void *arg)
{
	ward_cleanup_free struct walk *w = calloc(1, sizeof(*w));
	int fd = ward_host_open(root_fd, path, O_RDONLY | O_DIRECTORY);
	if (fd < 0 || !w) {
		if (fd >= 0)
			close(fd);
		return fd < 0 ? fd : -ENOMEM;
	}
	*w = (struct walk){
		.left = left, .levels = levels, .fn = fn, .arg = arg, .path = WARD_BUF_INIT};
	ward_buf_puts(&w->path, "");
	int r = walk_dir(w, fd, 0);
	ward_buf_clear(&w->path);
	return r;
}
