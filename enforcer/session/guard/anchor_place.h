/* SPDX-License-Identifier: Apache-2.0 */
/* Opens what the floor names as an anchor, where no owner of a session can have changed it. */
#pragma once

#include <sys/types.h>

#include "enforcer/base/err.h"

/*
 * A regular file at an absolute path, with this process's rights. No name in it may be a symbolic
 * link, and each directory on the way has to be root's and closed to the writing of others. The
 * file must not belong to this owner, unless the owner is root.
 */
int ward_anchor_place_file(
	const char *path, uid_t owner, int *ret_fd, struct ward_err *err) ward_must_check;
/* The same of a program, which also has to be root's and closed to the writing of others. */
int ward_anchor_place_program(const char *path, struct ward_err *err) ward_must_check;
