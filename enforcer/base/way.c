/* SPDX-License-Identifier: Apache-2.0 */
/* Goes along a path, name by name. */
#include "enforcer/base/way.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/buf.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"

/* MAXSYMLINKS of the kernel (include/linux/namei.h). */
#define LINKS_MAX 40
#define DIR_FLAGS (O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

struct way {
	int dir;
	struct ward_buf rest; /* still to look up in dir */
	unsigned links;
	ward_way_fn fn;
	void *user;
};

static int tell(const struct way *w, const char *name, bool is_link)
{
	ward_cleanup_free char *dir = NULL;
	int r = ward_fd_path(w->dir, &dir);
	return r < 0 ? r : w->fn(w->user, dir, name, is_link);
}

static int go_into(struct way *w, int fd)
{
	if (fd < 0)
		return -errno;
	if (w->dir >= 0)
		close(w->dir);
	w->dir = fd;
	return 0;
}

/* Puts what the link says in front of the rest. */
static int follow(struct way *w, const char *name, const char *behind)
{
	char target[PATH_MAX];
	ssize_t n = readlinkat(w->dir, name, target, sizeof(target));
	if (n < 0)
		return -errno;
	if ((size_t)n == sizeof(target))
		return -ENAMETOOLONG;
	if (++w->links > LINKS_MAX)
		return -ELOOP;
	ward_cleanup(ward_buf_clear) struct ward_buf rest = WARD_BUF_INIT;
	ward_buf_add(&rest, target, (size_t)n);
	ward_buf_printf(&rest, "/%s", behind);
	if (ward_buf_error(&rest) < 0)
		return ward_buf_error(&rest);
	ward_buf_clear(&w->rest);
	w->rest = rest;
	rest = WARD_BUF_INIT;
	return target[0] == '/' ? go_into(w, open("/", DIR_FLAGS)) : 0;
}

/* The first name of the rest. */
static int step(struct way *w, bool *ret_end)
{
	const char *s = ward_buf_str(&w->rest);
	s += strspn(s, "/");
	size_t n = strcspn(s, "/");
	const char *behind = s + n + strspn(s + n, "/");
	ward_cleanup_free char *name = strndup(s, n), *then = strdup(behind);
	struct stat st;
	if (!name || !then)
		return -ENOMEM;
	*ret_end = !*then;
	ward_buf_clear(&w->rest);
	if (n == 0 || strcmp(name, ".") == 0 || strcmp(name, "..") == 0) {
		ward_buf_puts(&w->rest, then);
		return n == 0 ? 0 : go_into(w, openat(w->dir, name, DIR_FLAGS));
	}
	bool there = fstatat(w->dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
	if (!there && (errno != ENOENT || *then))
		return -errno;
	bool is_link = there && S_ISLNK(st.st_mode);
	if (is_link || *ret_end) {
		int r = tell(w, name, is_link);
		if (r != 0)
			return r;
	}
	if (is_link) {
		*ret_end = false;
		return follow(w, name, then);
	}
	ward_buf_puts(&w->rest, then);
	return *ret_end ? 0 : go_into(w, openat(w->dir, name, DIR_FLAGS));
}

int ward_way_each(const char *path, ward_way_fn fn, void *user)
{
	struct way w = {.dir = -1, .fn = fn, .user = user};
	bool end = !*path;
	int r = go_into(&w, open(path[0] == '/' ? "/" : ".", DIR_FLAGS));
	ward_buf_puts(&w.rest, path);
	while (r == 0 && !end) {
		r = ward_buf_error(&w.rest);
		if (r == 0)
			r = step(&w, &end);
	}
	ward_buf_clear(&w.rest);
	if (w.dir >= 0)
		close(w.dir);
	return r;
}
