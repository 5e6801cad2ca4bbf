/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a process that makes control groups can do. Its user has CAP_DAC_OVERRIDE, because groups at
 * the top are root's; CAP_KILL, to end what a session left; and CAP_SETUID until the groups are
 * there. Landlock bounds the first of them to the groups of this user.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "enforcer/base/err.h"

/* For the main process: these three, permitted and not in effect. -EPERM: they were not given. */
int ward_keeper_main(struct ward_err *err) ward_must_check;
/* Into effect. Negative errno. */
int ward_keeper_raise(void) ward_must_check;
/* The effective user id alone: the user can neither signal nor trace this process by it. */
int ward_keeper_act_as(uid_t uid) ward_must_check;

/* A directory that is left, with all beneath: directories in it may be removed. */
struct ward_keeper_dir {
	int fd;
	bool files; /* files in it may be read and written, and it may be listed */
};
/*
 * Leaves the n directories, reading of /proc, CAP_DAC_OVERRIDE and CAP_KILL, and the system calls
 * that a keeper makes. -ENOTSUP: the kernel has no Landlock, without which CAP_DAC_OVERRIDE would
 * be in effect for all files.
 */
int ward_keeper_confine(
	const struct ward_keeper_dir *dirs, size_t n, struct ward_err *err) ward_must_check;
