/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The mounts that this process sees, and where a file lies whatever mount shows it: its file system
 * and the path in it. Two bind mounts of one directory are one place.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "enforcer/base/err.h"

/* A line of proc_pid_mountinfo(5). */
struct ward_mount_line {
	uint64_t id;
	uint64_t dev; /* of the file system: major << 32 | minor */
	char *root;   /* the directory or file of the file system that is mounted */
	char *point;  /* where it is mounted */
};

struct ward_mounts {
	struct ward_mount_line *v;
	size_t n;
};

/* -ENOMEM, -E2BIG, or what opening and reading the table fails with. */
int ward_mounts_read(struct ward_mounts *ret, struct ward_err *err) ward_must_check;
/* Where what is mounted at the absolute path, or last above it, is mounted; NULL: nothing is. */
const char *ward_mounts_point(const struct ward_mounts *m, const char *path);
/* For ward_cleanup(). */
void ward_mounts_clear(struct ward_mounts *m);

struct ward_spot {
	uint64_t dev;
	char *path; /* in the file system, from "/"; owned */
};

/*
 * Where fd lies. In a chroot(2) the table lacks the mount that the root is in: then the path is the
 * one from the root. -ENOMEM, -ENOENT (no path: a detached mount), or an errno of fstat(2).
 */
int ward_spot_find(const struct ward_mounts *m, int fd, struct ward_spot *ret) ward_must_check;
/* The same by the absolute name of a file that cannot be looked at. -ENOMEM. */
int ward_spot_of_name(
	const struct ward_mounts *m, const char *name, struct ward_spot *ret) ward_must_check;
/* Where the mount's root lies. -ENOMEM. */
int ward_spot_of_mount(const struct ward_mount_line *m, struct ward_spot *ret) ward_must_check;
void ward_spot_clear(struct ward_spot *s);

/* The path from above down to s, "" if both are the same; NULL: s does not lie there. Borrowed. */
const char *ward_spot_beneath(const struct ward_spot *s, const struct ward_spot *above);
