/* SPDX-License-Identifier: Apache-2.0 */
/* Where a symbolic link of a tree leads. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/buf.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"
#include "enforcer/base/fd.h"
#include "enforcer/session/tree/executed.h"

/* The path by which the kernel knows what is open; false: none, or a longer one. */
static bool path_of(int fd, char *ret, size_t size)
{
	char link[64];
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	ssize_t n = readlink(link, ret, size - 1);
	if (n <= 0 || (size_t)n == size - 1)
		return false;
	ret[n] = '\0';
	return true;
}

void ward_links_init(struct ward_links *l, int tree)
{
	*l = (struct ward_links){.tree = tree, .since_ns = UINT64_MAX};
	if (!path_of(tree, l->root, sizeof(l->root)) || strcmp(l->root, "/") == 0)
		l->root[0] = '\0';
}

/* What of an absolute path lies beneath the tree, "" for itself; NULL: it does not. */
static const char *beneath(const struct ward_links *l, const char *path)
{
	size_t n = strlen(l->root);
	if (n == 0 || strncmp(path, l->root, n) != 0 || (path[n] != '/' && path[n] != '\0'))
		return NULL;
	path += n;
	return path + strspn(path, "/");
}

/* Takes the components of a path one by one into b. False: it leaves the tree. */
static bool step(struct ward_buf *b, const char *path)
{
	while (*path) {
		size_t n = strcspn(path, "/");
		if (n == 2 && memcmp(path, "..", 2) == 0) {
			if (b->len == 0)
				return false;
			while (b->len > 0 && b->data[b->len - 1] != '/')
				b->len--;
			b->len -= b->len > 0;
			b->data[b->len] = '\0';
		} else if (n > 0 && !(n == 1 && *path == '.')) {
			ward_buf_printf(b, "%s%.*s", b->len ? "/" : "", (int)n, path);
			if (ward_buf_error(b) < 0)
				return false;
		}
		path += n;
		path += *path == '/';
	}
	return true;
}

/* The text of the link as a path of the tree. False: it leads out. */
static bool lead(const struct ward_links *l, const char *path, const char *to, struct ward_buf *b)
{
	const char *name = strrchr(path, '/');
	ward_buf_puts(b, "");
	if (*to == '/') {
		to = beneath(l, to);
		return to && step(b, to);
	}
	ward_buf_add(b, path, name ? (size_t)(name - path) : 0);
	return ward_buf_error(b) == 0 && step(b, to);
}

bool ward_links_leave(const struct ward_links *l, const char *path, const char *to)
{
	size_t depth = 0;
	if (*to == '/') {
		to = beneath(l, to);
		if (!to)
			return true;
	} else {
		for (; *path; path++)
			depth += *path == '/';
	}
	while (*to) {
		size_t n = strcspn(to, "/");
		if (n == 2 && memcmp(to, "..", 2) == 0 && depth-- == 0)
			return true;
		depth += n > 0 && !(n == 1 && *to == '.') && !(n == 2 && memcmp(to, "..", 2) == 0);
		to += n;
		to += *to == '/';
	}
	return false;
}

enum ward_left_kind ward_links_judge(const struct ward_links *l, const char *path, const char *to)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS};
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	char real[sizeof(l->root)];
	if (!lead(l, path, to, &b))
		return WARD_LEFT_OUT;
	/* Other links may stand on its way: of an absolute one, too, where ".." leads only the
	 * kernel knows. */
	const char *text = ward_buf_str(&b);
	const char *from = *to == '/' ? beneath(l, to) : path;
	ward_cleanup_fd int fd = ward_fd_openat2(l->tree, *from ? from : ".", &how);
	if (fd == -EXDEV)
		return WARD_LEFT_OUT;
	const char *at = fd >= 0 && path_of(fd, real, sizeof(real)) ? beneath(l, real) : text;
	if (!at)
		return WARD_LEFT_OUT;
	return *at && l->may_write && !l->may_write(l->arg, at) ? WARD_LEFT_CLOSED : WARD_LEFT_NONE;
}

/* As path_resolution(7). */
#define LINKS_MAX 40U

/* What is still to be gone, and from where. */
struct way {
	struct ward_buf at, rest;
};

/* What a link says comes before the rest. False: it leads out, or there is no memory. */
static bool go_by_link(const struct ward_links *l, struct way *w, const char *to)
{
	ward_cleanup_free char *rest = strdup(ward_buf_str(&w->rest));
	if (*to == '/') {
		to = beneath(l, to);
		ward_buf_clear(&w->at);
		ward_buf_puts(&w->at, "");
	}
	ward_buf_clear(&w->rest);
	ward_buf_printf(&w->rest, "%s/%s", to ? to : "", rest ? rest : "");
	return to && rest && ward_buf_error(&w->rest) == 0 && ward_buf_error(&w->at) == 0;
}

/* Takes the next name of the way. False: there is none. */
static bool next_step(struct way *w, char name[NAME_MAX + 1])
{
	char *at = w->rest.data + strspn(w->rest.data, "/");
	const size_t n = strcspn(at, "/");
	if (!n || n > NAME_MAX)
		return false;
	memcpy(name, at, n);
	name[n] = '\0';
	w->rest.len = strlen(at + n);
	memmove(w->rest.data, at + n, w->rest.len + 1);
	return true;
}

/* Is the path the directory of the link, or above that? */
static bool is_above(const char *path, const char *link)
{
	const size_t n = strlen(path);
	return strncmp(path, link, n) == 0 && (n == 0 || link[n] == '/');
}

/* The latest st_ctime of the links on the way of one, and of directories that it does not lie in.
 */
static uint64_t way_changed(const struct ward_links *l, const char *path, struct way *w)
{
	uint64_t latest = 0;
	char name[NAME_MAX + 1], to[4096];
	for (unsigned links = 0; links <= LINKS_MAX && next_step(w, name);) {
		struct stat st;
		const size_t was = w->at.len;
		if (strcmp(name, "..") == 0 || strcmp(name, ".") == 0) {
			if (!step(&w->at, name))
				break;
			continue;
		}
		const struct open_how how = {.flags = O_PATH | O_NOFOLLOW | O_CLOEXEC,
			.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS};
		if (!step(&w->at, name))
			break;
		ward_cleanup_fd int fd = ward_fd_openat2(l->tree, ward_buf_str(&w->at), &how);
		if (fd < 0 || fstat(fd, &st) < 0)
			break;
		const uint64_t at = (uint64_t)st.st_ctim.tv_sec * WARD_NS_PER_SEC +
				    (uint64_t)st.st_ctim.tv_nsec;
		const bool link = S_ISLNK(st.st_mode);
		if (at > latest &&
			(link || (S_ISDIR(st.st_mode) && !is_above(ward_buf_str(&w->at), path))))
			latest = at;
		if (!link)
			continue;
		const ssize_t n = readlinkat(fd, "", to, sizeof(to) - 1);
		w->at.len = was;
		w->at.data[was] = '\0';
		to[n > 0 ? n : 0] = '\0';
		if (n <= 0 || !go_by_link(l, w, to))
			break;
		links++;
	}
	return latest;
}

enum ward_left_kind ward_links_judge_again(
	const struct ward_links *l, const char *path, const char *to, uint64_t *ret_ns)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS};
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	char real[sizeof(l->root)];
	const char *from = *to == '/' ? beneath(l, to) : path;
	if (!from || !lead(l, path, to, &b))
		return WARD_LEFT_NONE;
	ward_cleanup_fd int fd = ward_fd_openat2(l->tree, *from ? from : ".", &how);
	const char *at = fd >= 0 && path_of(fd, real, sizeof(real)) ? beneath(l, real) : NULL;
	/* Dangling, or without another link on its way: as it was. */
	if ((fd < 0 && fd != -EXDEV) || (at && strcmp(at, ward_buf_str(&b)) == 0))
		return WARD_LEFT_NONE;
	const enum ward_left_kind kind = ward_links_judge(l, path, to);
	if (kind == WARD_LEFT_NONE)
		return WARD_LEFT_NONE;
	struct way w = {.at = WARD_BUF_INIT, .rest = WARD_BUF_INIT};
	const char *name = strrchr(path, '/');
	ward_buf_puts(&w.at, "");
	ward_buf_puts(&w.rest, "");
	ward_buf_add(&w.at, path, name ? (size_t)(name - path) : 0);
	uint64_t latest = UINT64_MAX;
	if (ward_buf_error(&w.at) == 0 && ward_buf_error(&w.rest) == 0 && go_by_link(l, &w, to))
		latest = way_changed(l, path, &w);
	ward_buf_clear(&w.at);
	ward_buf_clear(&w.rest);
	*ret_ns = latest;
	return latest >= l->since_ns ? kind : WARD_LEFT_NONE;
}

/* An absolute path as one from the tree, which is at root: up as far as they differ. */
static void put_relative(const char *root, const char *path, struct ward_buf *b)
{
	size_t same = 0;
	for (size_t i = 0;; i++) {
		const bool ends = !root[i] || root[i] == '/';
		if (ends && (!path[i] || path[i] == '/'))
			same = i;
		if (!root[i] || root[i] != path[i])
			break;
	}
	for (const char *up = root + same; *up; up++)
		if (*up == '/')
			ward_buf_puts(b, "../");
	path += same;
	path += strspn(path, "/");
	ward_buf_puts(b, *path ? path : ".");
}

int ward_links_open(const struct ward_links *l, const char *path, bool *ret_out)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS};
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	char to[4096];
	int fd = ward_fd_openat2(l->tree, path, &how);
	*ret_out = fd == -EXDEV;
	if (fd != -EXDEV)
		return fd;
	ssize_t n = readlinkat(l->tree, path, to, sizeof(to) - 1);
	if (n < 0)
		return -errno;
	to[n] = '\0';
	how.resolve = RESOLVE_NO_XDEV | RESOLVE_NO_MAGICLINKS;
	if (to[0] != '/')
		return ward_fd_openat2(l->tree, path, &how);
	if (!l->root[0])
		return -EXDEV;
	/* The root may be another mount. */
	put_relative(l->root, to, &b);
	return ward_buf_error(&b) < 0 ? ward_buf_error(&b)
				      : ward_fd_openat2(l->tree, ward_buf_str(&b), &how);
}
