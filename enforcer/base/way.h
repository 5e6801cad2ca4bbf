/* SPDX-License-Identifier: Apache-2.0 */
/* The names that decide where a path leads: anybody who can change one of them can redirect the
 * path. */
#pragma once

#include <stdbool.h>

#include "enforcer/base/err.h"

/*
 * dir: the absolute path by which the kernel names the directory in which `name` is looked up, both
 * valid during the call; is_link: it is a symbolic link, which is followed. Ends the way if it
 * returns something else than 0.
 */
typedef int (*ward_way_fn)(void *user, const char *dir, const char *name, bool is_link);

/*
 * Calls fn for each symbolic link that is followed along path (absolute, or from the current
 * directory), as path_resolution(7) describes it, and for what it leads to in the end, there or
 * not. With the caller's rights; a directory that is swapped meanwhile may be missed. 0, what fn
 * returned, -ELOOP beyond 40 links, -ENOMEM, or the errno of a directory that cannot be entered.
 */
int ward_way_each(const char *path, ward_way_fn fn, void *user) ward_must_check;
