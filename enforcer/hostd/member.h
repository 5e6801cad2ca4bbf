/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whose a process is, and in which control groups. The kernel takes numbers of processes (v1
 * compares the user as well, v2 compares nothing), and a number can be another process's soon. So a
 * process is known by its pidfd: what was read under its number is true if it still runs
 * afterwards.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "enforcer/base/err.h"

/* The lines of /proc/PID/cgroup that count: of fewer than 16 hierarchies. */
#define WARD_MEMBER_GROUPS_MAX 8192

struct ward_member {
	pid_t pid;
	bool users; /* all four of its user ids are the user's, and it is a whole process */
	char groups[WARD_MEMBER_GROUPS_MAX]; /* /proc/PID/cgroup (cgroups(7)) */
};

/*
 * Reads that of the process behind fd. -EBADF: fd is no pidfd; -ESRCH: it has ended; -EPERM: it is
 * of another pid namespace; -E2BIG: its groups do not fit.
 */
int ward_member_read(int fd, uid_t uid, struct ward_member *ret) ward_must_check;
/* Does the process behind fd, a pidfd, run? One that has ended but was not waited for does not. */
bool ward_member_runs(int fd);
/* Is one of its groups path, or beneath it? path: as the kernel names it, without the hierarchy. */
bool ward_member_within(const struct ward_member *m, const char *path);
