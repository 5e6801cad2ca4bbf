/* SPDX-License-Identifier: Apache-2.0 */
/* The list of files that the host executes later (conf/host-executed.list), by what it names. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "enforcer/session/tree/executed.h"

#define WARD_EXECUTED_LINES_MAX 256U

/* A line: the name it ends in, and what stands before that, if it has several. Borrowed. */
struct ward_executed_line {
	const char *dir, *name;
	size_t n_dir, n_name;
};

struct ward_executed_list {
	struct ward_executed_line names[WARD_EXECUTED_LINES_MAX]; /* classes top, there and new */
	struct ward_executed_line git[WARD_EXECUTED_LINES_MAX];	  /* in a git directory */
	size_t n_names, n_git;
};

void ward_executed_list_read(struct ward_executed_list *ret);

/* Does path (from the tree's root; it ends in name) end in what one of n lines says? */
bool ward_executed_listed(
	const struct ward_executed_line *w, size_t n, const char *path, const char *name);

/* As ward_executed_named(). */
bool ward_executed_list_named(const struct ward_executed_list *s, const char *path);

/* As ward_executed_beneath(); has NULL: could the list name something in it? */
bool ward_executed_list_beneath(
	const struct ward_executed_list *s, const char *path, ward_executed_may_fn *has, void *arg);
