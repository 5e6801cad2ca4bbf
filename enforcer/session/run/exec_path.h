/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the path of an execve(2) leads, found out without a trace: no tree is entered, since a look
 * there is an access that the guard decides and records, and it is the command's to make; and files
 * of the host are looked at with the command's rights, since root may go where the command may not.
 */
#pragma once

#include <limits.h>
#include <stdbool.h>

#include "enforcer/session/plan/plan.h"

/* Is this path, of inside and without links, in a tree? */
bool ward_exec_path_in_tree(const struct ward_run_plan *plan, const char *path);

/*
 * This thread acts on files as the command does: its ids and groups, without root's capabilities
 * for files. Nothing to do for an ordinary user. 0 or a negative errno, and the rights are as
 * before.
 */
int ward_exec_rights_take(const struct ward_identity *id) ward_must_check;
/* Back to the ids of the process; where that fails, the process ends. */
void ward_exec_rights_drop(const struct ward_identity *id);

/*
 * Follows an absolute path, as the thread `tid` with the root directory `root` names it, through
 * links, those of /proc too, to its end, or to the first name of a tree. `to` has PATH_MAX bytes:
 * that place by its path without links, with what is left of the path behind it in a tree; where
 * the command may not go further, the path as it was asked for. *ret_fd: an O_PATH descriptor of
 * the end, the caller's; untouched in a tree. False: the path leads nowhere, or to what has no path
 * (a pipe).
 */
bool ward_exec_path_follow(const struct ward_run_plan *plan, pid_t tid, int root, const char *path,
	char to[PATH_MAX], int *ret_fd) ward_must_check;
