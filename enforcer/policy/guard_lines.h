/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of conf/host-executed.list as guards: text of a policy. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "enforcer/base/buf.h"

/* Appends path, which is beneath root, as a pattern to text. */
void ward_guard_put_path(struct ward_buf *text, const char *root, const char *path);

/*
 * Is a line with this pattern (n bytes, relative) written for the tree (a directory descriptor, not
 * kept)?
 */
typedef bool ward_guard_wants_fn(int tree, const char *pattern, size_t n);

/* True unless a directory stands at the pattern. No link on the way is followed. */
bool ward_guard_no_dir(int tree, const char *pattern, size_t n);

/* True if something stands there. No link on the way is followed. */
bool ward_guard_there(int tree, const char *pattern, size_t n);

/*
 * Appends the list's lines of class where (those that are wanted, where that is asked) to text:
 * their patterns below root/path and, below that, the pattern below.
 */
void ward_guard_lines_wanted(struct ward_buf *text, const char *where, const char *root,
	const char *path, const char *below, ward_guard_wants_fn *wants, int tree);

/* The same, all lines of the class. */
void ward_guard_lines(struct ward_buf *text, const char *where, const char *root, const char *path,
	const char *below);

/* Calls fn for each pattern of the class that takes something, until one is an error. */
int ward_guard_each(
	const char *where, int (*fn)(void *arg, const char *pattern), void *arg) ward_must_check;
