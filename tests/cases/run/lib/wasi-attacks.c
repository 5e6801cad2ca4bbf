/* SPDX-License-Identifier: Apache-2.0 */
/* Gives each path to every function of WASI that takes one, without a library in between, and
 * prints what each said: 0, or the error's number. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <wasi/api.h>

#define FOLLOW __WASI_LOOKUPFLAGS_SYMLINK_FOLLOW

static __wasi_fd_t dot;
static char link_to[] = "kept.txt";

/* The function itself, whose path may be no memory at all. */
int32_t __imported_wasi_snapshot_preview1_path_open(
	int32_t, int32_t, int32_t, int32_t, int32_t, int64_t, int64_t, int32_t, int32_t)
	__attribute__((import_module("wasi_snapshot_preview1"), import_name("path_open")));

static int try_open(const char *p, __wasi_oflags_t o, __wasi_rights_t rights)
{
	__wasi_fd_t fd;
	int e = __wasi_path_open(dot, FOLLOW, p, o, rights, 0, 0, &fd);
	if (e == 0)
		e = __wasi_fd_close(fd);
	return e;
}

static int do_read(const char *p)
{
	return try_open(p, 0, __WASI_RIGHTS_FD_READ);
}

static int do_create(const char *p)
{
	return try_open(p, __WASI_OFLAGS_CREAT, __WASI_RIGHTS_FD_WRITE);
}

static int do_truncate(const char *p)
{
	return try_open(p, __WASI_OFLAGS_CREAT | __WASI_OFLAGS_TRUNC, __WASI_RIGHTS_FD_WRITE);
}

static int do_stat(const char *p)
{
	__wasi_filestat_t st;
	return __wasi_path_filestat_get(dot, FOLLOW, p, &st);
}

static int do_times(const char *p)
{
	return __wasi_path_filestat_set_times(dot, FOLLOW, p, 0, 0, __WASI_FSTFLAGS_MTIM_NOW);
}

static int do_readlink(const char *p)
{
	uint8_t room[64];
	__wasi_size_t n;
	return __wasi_path_readlink(dot, p, room, sizeof(room), &n);
}

static int do_rename_to(const char *p)
{
	return __wasi_path_rename(dot, "moving", dot, p);
}

static int do_rename_from(const char *p)
{
	return __wasi_path_rename(dot, p, dot, "moving");
}

static int do_link_to(const char *p)
{
	return __wasi_path_link(dot, 0, link_to, dot, p);
}

static int do_link_from(const char *p)
{
	return __wasi_path_link(dot, 0, p, dot, "linked");
}

static int do_link_followed(const char *p)
{
	return __wasi_path_link(dot, FOLLOW, p, dot, "followed");
}

static int do_unlink(const char *p)
{
	return __wasi_path_unlink_file(dot, p);
}

static int do_symlink(const char *p)
{
	return __wasi_path_symlink(link_to, dot, p);
}

static int do_mkdir(const char *p)
{
	return __wasi_path_create_directory(dot, p);
}

static int do_rmdir(const char *p)
{
	return __wasi_path_remove_directory(dot, p);
}

/* From a directory beneath: what is above it is outside of it. */
static int do_beneath(const char *p)
{
	__wasi_fd_t below, fd;
	int e = __wasi_path_open(dot, 0, "dir", __WASI_OFLAGS_DIRECTORY,
		__WASI_RIGHTS_PATH_OPEN | __WASI_RIGHTS_FD_READ, __WASI_RIGHTS_FD_READ, 0, &below);
	if (e == 0)
		e = __wasi_path_open(below, FOLLOW, p, 0, __WASI_RIGHTS_FD_READ, 0, 0, &fd);
	return e;
}

/* A path whose end wraps around, and a result that does not fit into memory. */
static int do_wrapped(const char *p)
{
	__wasi_fd_t fd;
	int32_t at = (int32_t)(intptr_t)p, len = (int32_t)strlen(p);
	int a = __imported_wasi_snapshot_preview1_path_open(
		dot, 1, at, -1, 0, 2, 0, 0, (int32_t)(intptr_t)&fd);
	int b = __imported_wasi_snapshot_preview1_path_open(
		dot, 1, -16, 32, 0, 2, 0, 0, (int32_t)(intptr_t)&fd);
	int c = __imported_wasi_snapshot_preview1_path_open(dot, 1, at, len, 0, 2, 0, 0, -2);
	return a && b && c ? a : 0;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *word;
		int (*act)(const char *path);
	} acts[] = {{"read", do_read}, {"create", do_create}, {"truncate", do_truncate},
		{"stat", do_stat}, {"times", do_times}, {"readlink", do_readlink},
		{"rename to", do_rename_to}, {"rename from", do_rename_from},
		{"link to", do_link_to}, {"link from", do_link_from},
		{"link followed", do_link_followed}, {"unlink", do_unlink}, {"symlink", do_symlink},
		{"unlink again", do_unlink}, {"mkdir", do_mkdir}, {"rmdir", do_rmdir},
		{"beneath", do_beneath}, {"wrapped", do_wrapped}};
	__wasi_prestat_t pre;
	uint8_t name[2];
	for (dot = 3; __wasi_fd_prestat_get(dot, &pre) == 0; dot++)
		if (pre.u.dir.pr_name_len == 1 && __wasi_fd_prestat_dir_name(dot, name, 1) == 0 &&
			name[0] == '.')
			break;
	for (size_t k = 0; k < sizeof(acts) / sizeof(acts[0]); k++) {
		printf("%s:", acts[k].word);
		for (int i = 1; i < argc; i++)
			printf(" %d", acts[k].act(argv[i]));
		printf("\n");
	}
	return 0;
}
