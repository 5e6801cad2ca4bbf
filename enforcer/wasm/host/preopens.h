/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The directories that a program in WebAssembly reaches. A path is looked up beneath one of them,
 * by openat2(2) with RESOLVE_BENEATH: neither `..`, nor an absolute path, nor a link, nor a race
 * leads out. What may be done beneath is for the guard to decide, whose mounts these are.
 */
#pragma once

#include <stddef.h>
#include <sys/types.h>

#include "enforcer/base/err.h"

/* Trees of a session, each at two paths; /tmp, the home. */
#define WARD_PREOPENS_MAX 24

struct ward_preopens {
	struct {
		char *path; /* absolute, owned */
		size_t len;
		int fd; /* O_PATH, owned */
	} v[WARD_PREOPENS_MAX];
	size_t n;
	char *cwd; /* absolute, owned; NULL: relative paths lead nowhere */
};
#define WARD_PREOPENS_INIT ((struct ward_preopens){.n = 0})

/* One more. -EINVAL: not absolute; -ENFILE: too many; or what open(2) fails with. */
int ward_preopens_add(struct ward_preopens *b, const char *path) ward_must_check;
/*
 * The directory that the program starts in, as ".", if it lies beneath one of the others; else
 * nothing is added. Errors as ward_preopens_add().
 */
int ward_preopens_add_cwd(struct ward_preopens *b, const char *cwd) ward_must_check;
/*
 * Makes the attempt that every lookup here relies on: `..` of each directory must not open. 0, or
 * -EPERM if one did; then nothing may be run.
 */
int ward_preopens_probe(const struct ward_preopens *b) ward_must_check;
void ward_preopens_clear(struct ward_preopens *b);

/*
 * Which directory a path stands beneath, and the path from there: "." for the directory itself.
 * Relative paths start at b->cwd. Compares as spelled: a `..` in *ret_rel is for openat2(2). The
 * caller frees *ret_rel. -EACCES: beneath none; -ENAMETOOLONG, -ENOMEM.
 */
int ward_preopens_find(const struct ward_preopens *b, const char *path, int *ret_dir,
	char **ret_rel) ward_must_check;

/*
 * openat2(2) beneath dir, close-on-exec, without a controlling terminal. A descriptor or a negative
 * errno; -EACCES: the path leads out.
 */
int ward_preopens_open(int dir, const char *rel, int flags, mode_t mode) ward_must_check;

/*
 * For calls that have no form with bounds: the directory of the last name, opened O_PATH, and the
 * name, which has no slash in it and is not "." or "..". -EINVAL: it is one of those.
 */
struct ward_preopens_name {
	int dir;
	char name[256];
};
int ward_preopens_parent(int dir, const char *rel, struct ward_preopens_name *ret) ward_must_check;
void ward_preopens_name_close(struct ward_preopens_name *n);
