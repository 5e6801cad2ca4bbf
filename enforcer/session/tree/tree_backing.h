/* SPDX-License-Identifier: Apache-2.0 */
/* The backing of a tree: a host directory, or an ephemeral tmpfs that no path of the host leads to.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "enforcer/base/err.h"

/* An O_PATH fd of the directory. home: refused, as "/" is (NULL: no check of the home). */
int ward_tree_backing_open(
	const char *path, const char *home, int *ret_fd, struct ward_err *err) ward_must_check;

/*
 * An O_PATH fd of the root of a new tmpfs of `size` bytes, owned by uid:gid, mode 0755. It is
 * mounted nowhere and is gone with the last descriptor. root: the caller may mount; else a child
 * makes it in a user namespace of the owner's.
 */
int ward_backing_tmpfs(uint64_t size, uid_t uid, gid_t gid, bool root, int *ret_fd,
	struct ward_err *err) ward_must_check;

/* The same, attached nowhere, in the caller's user namespace: the fd, or a negative errno. */
int ward_backing_new(uint64_t size, uid_t uid, gid_t gid) ward_must_check;

/*
 * What make() returns, a descriptor or a negative errno, in a child with a mount namespace of its
 * own; without root it is also in a user namespace, where uid and gid are what they are outside.
 */
int ward_backing_by_child(
	uid_t uid, gid_t gid, bool root, int (*make)(void *user), void *user) ward_must_check;

/*
 * Makes the directory path (relative, several names) in an ephemeral tree: the place of a tree
 * beneath it. What is there already is left as it is. path "": nothing is made.
 */
int ward_backing_point(
	int backing, const char *path, uid_t uid, gid_t gid, struct ward_err *err) ward_must_check;
