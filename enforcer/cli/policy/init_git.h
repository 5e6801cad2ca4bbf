/* SPDX-License-Identifier: Apache-2.0 */
/* What `wardfs init` writes about a project's git directory, which a worktree and a submodule have
 * outside of it. */
#pragma once

#include "enforcer/base/buf.h"

/* The lines of a text that serve a git directory from elsewhere, by offsets. */
struct init_git_part {
	size_t from, to; /* equal: there are none */
};

/*
 * Adds to a policy's text what is to say of the git directory of the project open as project_fd
 * (kept): comments, or, where it is a true one outside of the project, a tree that serves it with
 * the guards that its parts need; *ret: these lines. What .git names is not believed: see
 * git_outside.c. What fails is in ward_buf_error(text).
 */
void ward_init_git(int project_fd, struct ward_buf *text, struct init_git_part *ret);

/* Prints the text of a policy, with two lines of comment in the place of that part. */
void ward_init_git_print(const struct ward_buf *text, const struct init_git_part *part);
