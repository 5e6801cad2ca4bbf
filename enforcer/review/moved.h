/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a file of the project is while directories above it are renamed, one after another or in
 * several applies: changes name it by where it was before all of them.
 */
#pragma once

#include <limits.h>

#include "enforcer/review/review.h"

struct ward_moved {
	const struct ward_review_changes *changes; /* borrowed */
	size_t *v; /* the renamed directories, by where from; owned */
	size_t n;
};

/* 0 or -ENOMEM. ward_moved_clear() in any case. */
int ward_moved_find(const struct ward_review_changes *c, struct ward_moved *ret) ward_must_check;
void ward_moved_clear(struct ward_moved *m);
/*
 * The next place where path can be: its innermost directory that is renamed has its new name; then
 * the one above, and so on. *len: the length of path before the first call. true: *ret_change is
 * the rename; ret and *ret_root say where.
 */
bool ward_moved_next(const struct ward_moved *m, size_t root, const char *path, size_t *len,
	size_t *ret_change, size_t *ret_root, char ret[PATH_MAX]);
