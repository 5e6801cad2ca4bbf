/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a kept home holds: how much, and taking it away. A command wrote all of it, so nothing is
 * reached by a path: each directory is opened from the one above, no symbolic link is followed, no
 * other file system is entered.
 */
#pragma once

#include <stdint.h>

#include "enforcer/base/err.h"

/* Levels of directories that are counted; a deeper tree counts as a full home. */
#define WARD_HOME_DEPTH_MAX 256

struct ward_home_size {
	uint64_t bytes; /* apparent; of a file with several names each name has its part */
	uint64_t files; /* everything but directories */
};

/*
 * Counts what is beneath dir (any descriptor of a directory, the caller's). -ELOOP: nested deeper
 * than WARD_HOME_DEPTH_MAX.
 */
int ward_home_measure(int dir, struct ward_home_size *ret, struct ward_err *err) ward_must_check;

/* Told now and then while names go: how many went so far. */
typedef void ward_home_progress(void *user, uint64_t gone);

/* Removes everything beneath dir. progress: or NULL. */
int ward_home_empty(
	int dir, ward_home_progress *progress, void *user, struct ward_err *err) ward_must_check;

/*
 * Removes path (relative, without "." and "..") beneath dir, and what is in it; a symbolic link on
 * the way to it goes in its place. A name with "*" in it means all names that fit (fnmatch(3)); a
 * pattern matches names that begin with a dot, too. 0 also if it does not exist.
 */
int ward_home_remove(int dir, const char *path, struct ward_err *err) ward_must_check;
