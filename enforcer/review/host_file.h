/* SPDX-License-Identifier: Apache-2.0 */
/* Files of the project, which an agent may be changing elsewhere: no link leads anywhere. */
#pragma once

#include <sys/stat.h>

#include "enforcer/review/review.h"

/*
 * Opens path ("" is the root itself) beneath root_fd, through no symbolic link and no other mount;
 * O_NOFOLLOW and O_CLOEXEC are added. The descriptor, the caller's, or a negative errno.
 */
int ward_host_open(int root_fd, const char *path, int flags) ward_must_check;
/*
 * The directory that path lies in, O_PATH, the caller's; *ret_name points to its last component.
 * -EINVAL: path is the root.
 */
int ward_host_parent(int root_fd, const char *path, const char **ret_name) ward_must_check;
/* The file at name in dir (a link itself; "": dir), as the session would have noted it. */
int ward_host_stat_at(
	int dir, const char *name, struct ward_review_base *ret, mode_t *ret_type) ward_must_check;
int ward_host_stat(int fd, struct ward_review_base *ret, mode_t *ret_type) ward_must_check;
/* Is it the file that the session saw, unchanged? What moves a file changes no more than ctime. */
bool ward_host_same(const struct ward_review_base *a, const struct ward_review_base *b, bool moved);
/*
 * 1: both descriptors have the same content; 0: not, or CLOCK_MONOTONIC is past until_ns (0: no
 * such time); or a negative errno. Holes that both have cost nothing.
 */
int ward_host_same_content(int a, int b, uint64_t until_ns) ward_must_check;
