/* SPDX-License-Identifier: Apache-2.0 */
/* WASI: what is done with a path, beneath a directory that the module has open. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/wasm/host/wasi_own.h"

/* lookupflags: follow a link at the end. */
#define FOLLOW 1
/* oflags */
#define O_WASI_CREAT 1
#define O_WASI_DIRECTORY 2
#define O_WASI_EXCL 4
#define O_WASI_TRUNC 8

/* A path that the module names: below which directory, and the text. */
struct below {
	int dir;
	char *text;
};

static void below_clear(struct below *b)
{
	free(b->text);
}

static uint32_t find(
	struct ward_wasi *w, uint32_t fd, uint32_t path, uint32_t len, struct below *ret)
{
	const struct ward_wasi_file *f = ward_wasi_fd(w, fd);
	if (!f)
		return WASI_BADF;
	if (f->type != TYPE_DIRECTORY)
		return WASI_NOTDIR;
	ret->dir = f->fd;
	return ward_wasi_text(w, path, len, &ret->text);
}

static uint32_t find_name(struct ward_wasi *w, uint32_t fd, uint32_t path, uint32_t len,
	struct ward_preopens_name *ret)
{
	ward_cleanup(below_clear) struct below b = {-1, NULL};
	uint32_t why = find(w, fd, path, len, &b);
	if (why)
		return why;
	int r = ward_preopens_parent(b.dir, b.text, ret);
	return r < 0 ? ward_wasi_errno(-r) : 0;
}

/* --- opening --- */

static int open_flags(uint32_t lookup, uint32_t oflags, uint64_t base, uint32_t flags)
{
	bool reads = base & (RIGHT_READ | RIGHT_READDIR);
	bool writes = base & (RIGHT_WRITE | RIGHT_ALLOCATE | RIGHT_SET_SIZE);
	int f = writes ? (reads ? O_RDWR : O_WRONLY) : O_RDONLY;
	/* A directory is opened for reading, whatever is asked for. */
	if (oflags & O_WASI_DIRECTORY)
		f = O_RDONLY | O_DIRECTORY;
	return f | (oflags & O_WASI_CREAT ? O_CREAT : 0) | (oflags & O_WASI_EXCL ? O_EXCL : 0) |
	       (oflags & O_WASI_TRUNC ? O_TRUNC : 0) | (lookup & FOLLOW ? 0 : O_NOFOLLOW) |
	       (flags & 1 ? O_APPEND : 0) | (flags & 2 ? O_DSYNC : 0) |
	       (flags & 4 ? O_NONBLOCK : 0) | (flags & 24 ? O_SYNC : 0);
}

uint32_t Z_wasi_snapshot_preview1Z_path_open(struct ward_wasi *w, uint32_t dir, uint32_t lookup,
	uint32_t path, uint32_t len, uint32_t oflags, uint64_t base, uint64_t inheriting,
	uint32_t flags, uint32_t ret)
{
	ward_cleanup(below_clear) struct below b = {-1, NULL};
	uint32_t at = 0, why = find(w, dir, path, len, &b);
	if (!why)
		why = ward_wasi_new_fd(w, &at);
	if (why)
		return why;
	/* No more than the directory passes on. */
	if ((base | inheriting) & ~w->fds[dir].inheriting)
		return WASI_NOTCAPABLE;
	if (!ward_wasi_at(w, ret, 4))
		return WASI_FAULT;
	int how = open_flags(lookup, oflags, base, flags);
	int fd = ward_preopens_open(b.dir, b.text, how, 0666);
	/* wasi-libc asks for rights to write with each directory. */
	if (fd == -EISDIR && !(oflags & (O_WASI_CREAT | O_WASI_TRUNC)))
		fd = ward_preopens_open(
			b.dir, b.text, O_RDONLY | O_DIRECTORY | (how & O_NOFOLLOW), 0);
	if (fd < 0)
		return ward_wasi_errno(-fd);
	struct stat st;
	if (fstat(fd, &st) < 0) {
		close(fd);
		return ward_wasi_errno(errno);
	}
	uint8_t type = ward_wasi_type(st.st_mode);
	w->fds[at] = (struct ward_wasi_file){.fd = fd,
		.used = true,
		.type = type,
		.flags = (uint16_t)flags,
		.base = base,
		.inheriting = type == TYPE_DIRECTORY ? inheriting : 0};
	return ward_wasi_put32(w, ret, at);
}

/* --- looking --- */

static uint32_t open_path(
	struct ward_wasi *w, uint32_t fd, uint32_t lookup, uint32_t path, uint32_t len, int *ret)
{
	ward_cleanup(below_clear) struct below b = {-1, NULL};
	uint32_t why = find(w, fd, path, len, &b);
	if (why)
		return why;
	int r = ward_preopens_open(b.dir, b.text, O_PATH | (lookup & FOLLOW ? 0 : O_NOFOLLOW), 0);
	if (r < 0)
		return ward_wasi_errno(-r);
	*ret = r;
	return 0;
}

uint32_t Z_wasi_snapshot_preview1Z_path_filestat_get(struct ward_wasi *w, uint32_t fd,
	uint32_t lookup, uint32_t path, uint32_t len, uint32_t ret)
{
	struct stat st;
	ward_cleanup_fd int at = -1;
	uint32_t why = open_path(w, fd, lookup, path, len, &at);
	if (why)
		return why;
	return fstat(at, &st) < 0 ? ward_wasi_errno(errno) : ward_wasi_put_stat(w, ret, &st);
}

uint32_t Z_wasi_snapshot_preview1Z_path_filestat_set_times(struct ward_wasi *w, uint32_t fd,
	uint32_t lookup, uint32_t path, uint32_t len, uint64_t atim, uint64_t mtim, uint32_t flags)
{
	struct timespec t[2];
	ward_cleanup_fd int at = -1;
	uint32_t why = ward_wasi_times(atim, mtim, flags, t);
	if (!why)
		why = open_path(w, fd, lookup, path, len, &at);
	if (why)
		return why;
	/* AT_EMPTY_PATH: since Linux 5.8. */
	return utimensat(at, "", t, AT_EMPTY_PATH) < 0 ? ward_wasi_errno(errno) : 0;
}

uint32_t Z_wasi_snapshot_preview1Z_path_readlink(struct ward_wasi *w, uint32_t fd, uint32_t path,
	uint32_t len, uint32_t buf, uint32_t size, uint32_t ret)
{
	struct ward_preopens_name n = {.dir = -1};
	char target[4096];
	char *to = ward_wasi_at(w, buf, size);
	uint32_t why = to ? find_name(w, fd, path, len, &n) : WASI_FAULT;
	if (why)
		return why;
	ssize_t r = readlinkat(n.dir, n.name, target, sizeof(target));
	int e = errno;
	ward_preopens_name_close(&n);
	if (r < 0)
		return ward_wasi_errno(e);
	uint32_t part = (uint32_t)r < size ? (uint32_t)r : size;
	memcpy(to, target, part);
	return ward_wasi_put32(w, ret, part);
}

/* --- changing --- */

static uint32_t at_name(struct ward_wasi *w, uint32_t fd, uint32_t path, uint32_t len,
	int (*call)(const struct ward_preopens_name *n, const char *text), const char *text)
{
	struct ward_preopens_name n = {.dir = -1};
	uint32_t why = find_name(w, fd, path, len, &n);
	if (!why && call(&n, text) < 0)
		why = ward_wasi_errno(errno);
	ward_preopens_name_close(&n);
	return why;
}

static int call_mkdir(const struct ward_preopens_name *n, const char *text)
{
	(void)text;
	return mkdirat(n->dir, n->name, 0777);
}

static int call_rmdir(const struct ward_preopens_name *n, const char *text)
{
	(void)text;
	return unlinkat(n->dir, n->name, AT_REMOVEDIR);
}

static int call_unlink(const struct ward_preopens_name *n, const char *text)
{
	(void)text;
	return unlinkat(n->dir, n->name, 0);
}

static int call_symlink(const struct ward_preopens_name *n, const char *text)
{
	return symlinkat(text, n->dir, n->name);
}

uint32_t Z_wasi_snapshot_preview1Z_path_create_directory(
	struct ward_wasi *w, uint32_t fd, uint32_t path, uint32_t len)
{
	return at_name(w, fd, path, len, call_mkdir, NULL);
}

uint32_t Z_wasi_snapshot_preview1Z_path_remove_directory(
	struct ward_wasi *w, uint32_t fd, uint32_t path, uint32_t len)
{
	return at_name(w, fd, path, len, call_rmdir, NULL);
}

uint32_t Z_wasi_snapshot_preview1Z_path_unlink_file(
	struct ward_wasi *w, uint32_t fd, uint32_t path, uint32_t len)
{
	return at_name(w, fd, path, len, call_unlink, NULL);
}

uint32_t Z_wasi_snapshot_preview1Z_path_symlink(struct ward_wasi *w, uint32_t target,
	uint32_t target_len, uint32_t fd, uint32_t path, uint32_t len)
{
	ward_cleanup_free char *text = NULL;
	uint32_t why = ward_wasi_text(w, target, target_len, &text);
	if (why)
		return why;
	/* It would lead programs outside of this one out of the tree. */
	if (text[0] == '/')
		return WASI_NOTCAPABLE;
	return at_name(w, fd, path, len, call_symlink, text);
}

static uint32_t two_names(struct ward_wasi *w, const uint32_t from[3], const uint32_t to[3],
	int (*call)(int, const char *, int, const char *))
{
	struct ward_preopens_name a = {.dir = -1}, b = {.dir = -1};
	uint32_t why = find_name(w, from[0], from[1], from[2], &a);
	if (!why)
		why = find_name(w, to[0], to[1], to[2], &b);
	if (!why && call(a.dir, a.name, b.dir, b.name) < 0)
		why = ward_wasi_errno(errno);
	ward_preopens_name_close(&a);
	ward_preopens_name_close(&b);
	return why;
}

static int call_link(int from, const char *old, int to, const char *name)
{
	return linkat(from, old, to, name, 0);
}

uint32_t Z_wasi_snapshot_preview1Z_path_rename(struct ward_wasi *w, uint32_t from, uint32_t old,
	uint32_t old_len, uint32_t to, uint32_t path, uint32_t len)
{
	const uint32_t a[] = {from, old, old_len}, b[] = {to, path, len};
	return two_names(w, a, b, renameat);
}

uint32_t Z_wasi_snapshot_preview1Z_path_link(struct ward_wasi *w, uint32_t from, uint32_t lookup,
	uint32_t old, uint32_t old_len, uint32_t to, uint32_t path, uint32_t len)
{
	const uint32_t a[] = {from, old, old_len}, b[] = {to, path, len};
	/* Through a link it would have to be resolved without bounds. */
	return lookup & FOLLOW ? WASI_INVAL : two_names(w, a, b, call_link);
}
