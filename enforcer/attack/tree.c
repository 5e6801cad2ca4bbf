/* SPDX-License-Identifier: Apache-2.0 */
#include "enforcer/attack/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "enforcer/base/fd.h"

/* Descriptors that a walk holds at most. What lies deeper is moved up before it is removed. */
#define DEPTH_MAX 48
/* Times that the top is listed again for what was moved up. */
#define PASSES_MAX 4096
/* Entries of one directory that are compared. */
#define NAMES_MAX 1024

int ward_tree_open(int at, const char *path, int flags, mode_t mode)
{
	const bool makes = (flags & O_CREAT) != 0;
	const struct open_how how = {
		.flags = (uint64_t)(flags | O_CLOEXEC | O_NOFOLLOW |
				    (flags & O_PATH ? 0 : O_NONBLOCK | O_NOCTTY)),
		.mode = makes ? mode : 0,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS |
			   RESOLVE_NO_XDEV};
	const int fd = ward_fd_openat2(at, path, &how);
	if (fd < 0) {
		errno = -fd;
		return -1;
	}
	return fd;
}

int ward_tree_put(int at, const char *path, const char *text, mode_t mode)
{
	const int fd = ward_tree_open(at, path, O_WRONLY | O_CREAT | O_EXCL, mode);
	if (fd < 0)
		return -1;
	const int written = ward_fd_write_all(fd, text, strlen(text));
	const int r = fchmod(fd, mode);
	close(fd);
	if (written < 0)
		errno = -written;
	return written < 0 ? -1 : r;
}

/* The directory of the path's last name, open; the name in *ret. -1 with errno. */
static int above(int at, const char *path, const char **ret)
{
	const char *last = strrchr(path, '/');
	char dir[4096];

	*ret = last ? last + 1 : path;
	if (!last)
		return ward_tree_open(at, ".", O_PATH | O_DIRECTORY, 0);
	if ((size_t)(last - path) >= sizeof(dir)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	snprintf(dir, sizeof(dir), "%.*s", (int)(last - path), path);
	return ward_tree_open(at, dir, O_PATH | O_DIRECTORY, 0);
}

int ward_tree_dir(int at, const char *path, mode_t mode)
{
	const char *name;
	const int dir = above(at, path, &name);
	if (dir < 0)
		return -1;
	int r = mkdirat(dir, name, mode);
	const int e = errno;
	close(dir);
	const int made = r < 0 ? -1 : ward_tree_open(at, path, O_RDONLY | O_DIRECTORY, 0);
	if (made >= 0) {
		/* Whatever the umask is. */
		r = fchmod(made, mode);
		close(made);
		return r;
	}
	if (r < 0)
		errno = e;
	return -1;
}

int ward_tree_link(int at, const char *path, const char *to)
{
	const char *name;
	const int dir = above(at, path, &name);
	if (dir < 0)
		return -1;
	const int r = symlinkat(to, dir, name), e = errno;
	close(dir);
	errno = e;
	return r;
}

int ward_tree_copy(const char *from, int at, const char *path)
{
	char buffer[1 << 16];
	ssize_t n = -1;
	const int in = open(from, O_RDONLY | O_CLOEXEC);
	const int out = in < 0 ? -1 : ward_tree_open(at, path, O_WRONLY | O_CREAT | O_EXCL, 0755);

	while (out >= 0 && (n = read(in, buffer, sizeof(buffer))) > 0)
		if (ward_fd_write_all(out, buffer, (size_t)n) < 0)
			break;
	int r = n == 0 ? fchmod(out, 0755) : -1;
	const int e = errno;
	if (in >= 0)
		close(in);
	/* Nobody executes what is open for writing. */
	if (out >= 0 && close(out) < 0)
		r = -1;
	errno = e;
	return r;
}

int ward_tree_new(int at, char ret[WARD_TREE_NAME])
{
	unsigned n;

	for (int i = 0; i < 64; i++) {
		if (getrandom(&n, sizeof(n), 0) != sizeof(n))
			return -1;
		snprintf(ret, WARD_TREE_NAME, "wardfs-attack.%06x", n & 0xffffff);
		if (mkdirat(at, ret, 0755) == 0)
			return ward_tree_open(at, ret, O_RDONLY | O_DIRECTORY, 0);
		if (errno != EEXIST)
			return -1;
	}
	return -1;
}

/* --- removing --- */
struct removal {
	int top;
	unsigned moved;
};

static bool dots(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* Takes the directory's descriptor. */
static void remove_all(struct removal *r, int fd, int depth)
{
	DIR *d = fdopendir(fd);
	const struct dirent *e;
	char up[32];

	if (!d) {
		close(fd);
		return;
	}
	while ((e = readdir(d))) {
		if (dots(e->d_name) || unlinkat(fd, e->d_name, 0) == 0)
			continue;
		if (depth >= DEPTH_MAX) {
			snprintf(up, sizeof(up), ".deep-%u", r->moved++);
			(void)renameat(fd, e->d_name, r->top, up);
			continue;
		}
		const int sub = ward_tree_open(fd, e->d_name, O_RDONLY | O_DIRECTORY, 0);
		if (sub >= 0)
			remove_all(r, sub, depth + 1);
		(void)unlinkat(fd, e->d_name, AT_REMOVEDIR);
	}
	closedir(d);
}

void ward_tree_remove(int at, const char *path)
{
	const char *name;
	const int dir = above(at, path, &name);

	if (dir < 0)
		return;
	if (unlinkat(dir, name, 0) < 0 && (errno == EISDIR || errno == EPERM)) {
		struct removal r = {.top = ward_tree_open(dir, name, O_RDONLY | O_DIRECTORY, 0)};
		for (int i = 0; r.top >= 0 && i < PASSES_MAX; i++) {
			const unsigned before = r.moved;
			/* Not dup(2): each pass has a place of its own in the directory. */
			const int fd = ward_tree_open(r.top, ".", O_RDONLY | O_DIRECTORY, 0);
			if (fd < 0)
				break;
			remove_all(&r, fd, 0);
			if (r.moved == before)
				break;
		}
		if (r.top >= 0)
			close(r.top);
		(void)unlinkat(dir, name, AT_REMOVEDIR);
	}
	close(dir);
}

/* --- comparing --- */
uint64_t ward_mix(uint64_t h, const void *data, size_t len)
{
	for (size_t i = 0; i < len; i++)
		h = (h ^ ((const unsigned char *)data)[i]) * 0x100000001b3;
	return h;
}

static uint64_t mix_content(uint64_t h, int at, const char *name)
{
	char text[4096];
	const int fd = ward_tree_open(at, name, O_RDONLY, 0);
	const ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text));

	if (n > 0)
		h = ward_mix(h, text, (size_t)n);
	if (fd >= 0 && fgetxattr(fd, "user.attack", text, sizeof(text)) > 0)
		h = ward_mix(h, "user.attack", 11);
	if (fd >= 0)
		close(fd);
	return h;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static uint64_t mix_at(uint64_t h, int at, const char *name, int depth);

/* Takes the directory's descriptor. */
static uint64_t mix_entries(uint64_t h, int fd, int depth)
{
	DIR *d = fdopendir(fd);
	const struct dirent *e;
	char *names[NAMES_MAX];
	size_t n = 0;

	if (!d) {
		close(fd);
		return h;
	}
	while (n < NAMES_MAX && (e = readdir(d)))
		if (!dots(e->d_name) && (names[n] = strdup(e->d_name)))
			n++;
	qsort(names, n, sizeof(*names), by_name);
	for (size_t i = 0; i < n; i++) {
		h = mix_at(h, fd, names[i], depth + 1);
		free(names[i]);
	}
	closedir(d);
	return h;
}

static uint64_t mix_at(uint64_t h, int at, const char *name, int depth)
{
	struct stat st;

	if (fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return h;
	const bool file = S_ISREG(st.st_mode);
	const uint64_t fields[] = {st.st_mode, file ? (uint64_t)st.st_size : 0, st.st_ino,
		file ? (uint64_t)st.st_mtim.tv_sec : 0, file ? st.st_nlink : 0};
	h = ward_mix(ward_mix(h, name, strlen(name)), fields, sizeof(fields));
	if (file)
		return mix_content(h, at, name);
	const int fd = S_ISDIR(st.st_mode) && depth < DEPTH_MAX
			       ? ward_tree_open(at, name, O_RDONLY | O_DIRECTORY, 0)
			       : -1;
	return fd < 0 ? h : mix_entries(h, fd, depth);
}

uint64_t ward_tree_mix(uint64_t h, int at, const char *path)
{
	const char *name;
	const int dir = above(at, path, &name);
	if (dir < 0)
		return h;
	h = mix_at(h, dir, name, 0);
	close(dir);
	return h;
}
