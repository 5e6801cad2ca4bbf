/* SPDX-License-Identifier: Apache-2.0 */
/* Files, for scripts: each path beneath a tree (host/preopens.h), so the guard decides each. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/buf.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/wasm/quickjs/functions.h"
#include <quickjs_module.h>

/* Bytes that one read makes room for. */
#define READ_MAX ((size_t)64 << 20)

/* Where argument i leads: a directory, and the path from there. */
struct place {
	int dir;
	char *rel;
};

static void place_clear(struct place *p)
{
	free(p->rel);
}

static int place_of(struct ward_js_args *a, u32 i, struct place *ret)
{
	size_t len = 0;
	ward_cleanup_free char *path = ward_js_arg_text(a, i, &len);
	if (!path)
		return -EINVAL;
	/* It would end where the kernel reads it, and not where a check does. */
	if (strlen(path) != len)
		return -EINVAL;
	return ward_preopens_find(&a->js->files, path, &ret->dir, &ret->rel);
}

/* Opens argument i. */
static int open_arg(struct ward_js_args *a, u32 i, int flags, mode_t mode)
{
	ward_cleanup(place_clear) struct place p = {-1, NULL};
	int r = place_of(a, i, &p);
	return r < 0 ? r : ward_preopens_open(p.dir, p.rel, flags, mode);
}

/* The directory and the name of argument i. */
static int name_arg(struct ward_js_args *a, u32 i, struct ward_preopens_name *ret)
{
	ward_cleanup(place_clear) struct place p = {-1, NULL};
	int r = place_of(a, i, &p);
	return r < 0 ? r : ward_preopens_parent(p.dir, p.rel, ret);
}

/* Is it one of ours? A tree's descriptor has no bounds of its own. */
static bool is_scripts(const struct ward_js *js, int fd)
{
	for (size_t i = 0; i < js->files.n; i++)
		if (js->files.v[i].fd == fd)
			return false;
	return fd >= 0;
}

static int fd_arg(struct ward_js_args *a, u32 i)
{
	double d = ward_js_arg_number(a, i);
	return d >= 0 && d < 1 << 20 && is_scripts(a->js, (int)d) ? (int)d : -1;
}

/* open(path, "r" | "w" | …, mode): a descriptor. */
static u32 js_open(struct ward_js_args *a)
{
	static const struct {
		const char *word;
		int flags;
	} words[] = {{"r", O_RDONLY}, {"r+", O_RDWR}, {"w", O_WRONLY | O_CREAT | O_TRUNC},
		{"wx", O_WRONLY | O_CREAT | O_EXCL}, {"w+", O_RDWR | O_CREAT | O_TRUNC},
		{"wx+", O_RDWR | O_CREAT | O_EXCL}, {"a", O_WRONLY | O_CREAT | O_APPEND},
		{"ax", O_WRONLY | O_CREAT | O_APPEND | O_EXCL},
		{"a+", O_RDWR | O_CREAT | O_APPEND}};
	ward_cleanup_free char *word = ward_js_arg_text(a, 1, NULL);
	for (size_t i = 0; word && i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(word, words[i].word) == 0)
			return ward_js_return(a,
				open_arg(a, 0, words[i].flags, (mode_t)ward_js_arg_number(a, 2)));
	return ward_js_return(a, -EINVAL);
}

static u32 js_close(struct ward_js_args *a)
{
	int fd = fd_arg(a, 0);
	/* 0, 1 and 2 stay: what is opened next would take their place. */
	if (fd < 3)
		return ward_js_return(a, fd < 0 ? -EBADF : 0);
	return ward_js_return(a, close(fd) < 0 ? -errno : 0);
}

/* read(fd, bytes, position or -1): a buffer, empty at the end. */
static u32 js_read(struct ward_js_args *a)
{
	int fd = fd_arg(a, 0);
	double want = ward_js_arg_number(a, 1), at = ward_js_arg_number(a, 2);
	if (!(want >= 0))
		return ward_js_return(a, -EINVAL);
	size_t n = want < (double)READ_MAX ? (size_t)want : READ_MAX;
	ward_cleanup_free char *b = malloc(n + 1);
	if (!b)
		return ward_js_return(a, -ENOMEM);
	ssize_t r;
	do
		r = at >= 0 ? pread(fd, b, n, (off_t)at) : read(fd, b, n);
	while (r < 0 && errno == EINTR);
	return r < 0 ? ward_js_return(a, -errno) : ward_js_new_bytes(a->js, b, (size_t)r);
}

/* slurp(fd): all that is left, as a buffer. */
static u32 js_slurp(struct ward_js_args *a)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	int fd = fd_arg(a, 0);
	int r = fd < 0 ? -EBADF : ward_fd_read_all(fd, (size_t)1 << 31, &b);
	return r < 0 ? ward_js_return(a, r) : ward_js_new_bytes(a->js, b.data ? b.data : "", b.len);
}

/* write(fd, buffer, offset, length, position or -1): all of it. */
static u32 js_write(struct ward_js_args *a)
{
	int fd = fd_arg(a, 0);
	size_t size = 0;
	const char *b = a->n > 1 ? ward_js_bytes(a->js, a->v[1], &size) : NULL;
	double offset = ward_js_arg_number(a, 2), len = ward_js_arg_number(a, 3);
	double at = ward_js_arg_number(a, 4);
	if (!(offset >= 0 && len >= 0 && offset + len <= (double)size))
		return ward_js_return(a, -EINVAL);
	for (size_t done = 0; done < (size_t)len;) {
		const char *from = b + (size_t)offset + done;
		size_t left = (size_t)len - done;
		ssize_t r = at >= 0 ? pwrite(fd, from, left, (off_t)at + (off_t)done)
				    : write(fd, from, left);
		if (r < 0 && errno != EINTR)
			return ward_js_return(a, -errno);
		done += r > 0 ? (size_t)r : 0;
	}
	return ward_js_return(a, len);
}

static u32 return_list(struct ward_js_args *a, const double *v, u32 n)
{
	u32 list = Z_quickjsZ_qjs_new_array(a->js->vm);
	for (u32 i = 0; list && i < n; i++) {
		u32 d = Z_quickjsZ_qjs_new_number(a->js->vm, v[i]);
		(void)Z_quickjsZ_qjs_set_prop_uint32(a->js->vm, list, i, d);
		Z_quickjsZ_qjs_free_value(a->js->vm, d);
	}
	return list;
}

static double ms(struct timespec t)
{
	return (double)t.tv_sec * 1000 + floor((double)t.tv_nsec / 1e6);
}

/* stat(path | fd, follow): numbers, in the order of prelude.js. */
static u32 js_stat(struct ward_js_args *a)
{
	struct stat st;
	ward_cleanup_fd int own = -1;
	int fd = fd_arg(a, 0);
	if (a->n && Z_quickjsZ_qjs_is_string(a->js->vm, a->v[0]))
		fd = own = open_arg(a, 0, O_PATH | (ward_js_arg_number(a, 1) ? 0 : O_NOFOLLOW), 0);
	if (own < 0 && fd < 0)
		return ward_js_return(a, fd == -1 ? -EBADF : fd);
	if (fstat(fd, &st) < 0)
		return ward_js_return(a, -errno);
	const double v[] = {(double)st.st_dev, st.st_mode, (double)st.st_nlink, st.st_uid,
		st.st_gid, (double)st.st_ino, (double)st.st_size, (double)st.st_blocks,
		ms(st.st_atim), ms(st.st_mtim), ms(st.st_ctim)};
	return return_list(a, v, sizeof(v) / sizeof(v[0]));
}

/* list(path): names, each followed by the type that readdir(3) has. */
static u32 js_list(struct ward_js_args *a)
{
	int fd = open_arg(a, 0, O_RDONLY | O_DIRECTORY, 0);
	if (fd < 0)
		return ward_js_return(a, fd);
	ward_cleanup_dir DIR *d = fdopendir(fd);
	if (!d) {
		close(fd);
		return ward_js_return(a, -ENOMEM);
	}
	u32 list = Z_quickjsZ_qjs_new_array(a->js->vm), at = 0;
	for (const struct dirent *e; list && (e = readdir(d));) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		u32 name = ward_js_new_text(a->js, e->d_name, strlen(e->d_name));
		u32 type = ward_js_return(a, e->d_type);
		if (!name || !type)
			return 0;
		(void)Z_quickjsZ_qjs_set_prop_uint32(a->js->vm, list, at++, name);
		(void)Z_quickjsZ_qjs_set_prop_uint32(a->js->vm, list, at++, type);
		Z_quickjsZ_qjs_free_value(a->js->vm, name);
		Z_quickjsZ_qjs_free_value(a->js->vm, type);
	}
	return list;
}

/* Calls that take a name in a directory: mkdir(path, mode), unlink(path), rmdir(path). */
static u32 at_name(struct ward_js_args *a, int (*call)(int dir, const char *name, mode_t mode))
{
	struct ward_preopens_name n = {.dir = -1};
	int r = name_arg(a, 0, &n);
	if (r == 0 && call(n.dir, n.name, (mode_t)ward_js_arg_number(a, 1) & 07777) < 0)
		r = -errno;
	ward_preopens_name_close(&n);
	return ward_js_return(a, r);
}

static int call_unlink(int dir, const char *name, mode_t mode)
{
	(void)mode;
	return unlinkat(dir, name, 0);
}

static int call_rmdir(int dir, const char *name, mode_t mode)
{
	(void)mode;
	return unlinkat(dir, name, AT_REMOVEDIR);
}

static u32 js_mkdir(struct ward_js_args *a)
{
	return at_name(a, mkdirat);
}

static u32 js_unlink(struct ward_js_args *a)
{
	return at_name(a, call_unlink);
}

static u32 js_rmdir(struct ward_js_args *a)
{
	return at_name(a, call_rmdir);
}

static u32 two_names(struct ward_js_args *a,
	int (*call)(const struct ward_preopens_name *, const struct ward_preopens_name *))
{
	struct ward_preopens_name from = {.dir = -1}, to = {.dir = -1};
	int r = name_arg(a, 0, &from);
	if (r == 0)
		r = name_arg(a, 1, &to);
	if (r == 0 && call(&from, &to) < 0)
		r = -errno;
	ward_preopens_name_close(&from);
	ward_preopens_name_close(&to);
	return ward_js_return(a, r);
}

static int call_rename(const struct ward_preopens_name *from, const struct ward_preopens_name *to)
{
	return renameat(from->dir, from->name, to->dir, to->name);
}

static int call_link(const struct ward_preopens_name *from, const struct ward_preopens_name *to)
{
	return linkat(from->dir, from->name, to->dir, to->name, 0);
}

static u32 js_rename(struct ward_js_args *a)
{
	return two_names(a, call_rename);
}

static u32 js_link(struct ward_js_args *a)
{
	return two_names(a, call_link);
}

/* symlink(target, path) */
static u32 js_symlink(struct ward_js_args *a)
{
	struct ward_preopens_name n = {.dir = -1};
	ward_cleanup_free char *target = ward_js_arg_text(a, 0, NULL);
	int r = target ? name_arg(a, 1, &n) : -EINVAL;
	if (r == 0 && symlinkat(target, n.dir, n.name) < 0)
		r = -errno;
	ward_preopens_name_close(&n);
	return ward_js_return(a, r);
}

static u32 js_readlink(struct ward_js_args *a)
{
	struct ward_preopens_name n = {.dir = -1};
	char target[4096];
	int r = name_arg(a, 0, &n);
	ssize_t len = r == 0 ? readlinkat(n.dir, n.name, target, sizeof(target)) : -1;
	if (r == 0 && len < 0)
		r = -errno;
	ward_preopens_name_close(&n);
	return r < 0 ? ward_js_return(a, r) : ward_js_new_text(a->js, target, (size_t)len);
}

/* truncate(path, size), chmod(path, mode): of what the path leads to. */
static u32 js_truncate(struct ward_js_args *a)
{
	ward_cleanup_fd int fd = open_arg(a, 0, O_WRONLY, 0);
	if (fd < 0)
		return ward_js_return(a, fd);
	return ward_js_return(a, ftruncate(fd, (off_t)ward_js_arg_number(a, 1)) < 0 ? -errno : 0);
}

static u32 js_chmod(struct ward_js_args *a)
{
	/* O_PATH descriptors take no fchmod(2). */
	ward_cleanup_fd int fd = open_arg(a, 0, O_RDONLY | O_NONBLOCK, 0);
	if (fd < 0)
		return ward_js_return(a, fd);
	return ward_js_return(
		a, fchmod(fd, (mode_t)ward_js_arg_number(a, 1) & 07777) < 0 ? -errno : 0);
}

/* real(path): the path without links, as the kernel has it. */
static u32 js_real(struct ward_js_args *a)
{
	ward_cleanup_free char *path = NULL;
	ward_cleanup_fd int fd = open_arg(a, 0, O_PATH, 0);
	int r = fd < 0 ? fd : ward_fd_path(fd, &path);
	return r < 0 ? ward_js_return(a, r) : ward_js_new_text(a->js, path, strlen(path));
}

const struct ward_js_function ward_js_files[] = {{"open", js_open}, {"close", js_close},
	{"read", js_read}, {"slurp", js_slurp}, {"write", js_write}, {"stat", js_stat},
	{"list", js_list}, {"mkdir", js_mkdir}, {"unlink", js_unlink}, {"rmdir", js_rmdir},
	{"rename", js_rename}, {"link", js_link}, {"symlink", js_symlink},
	{"readlink", js_readlink}, {"truncate", js_truncate}, {"chmod", js_chmod},
	{"real", js_real}, {NULL, NULL}};
