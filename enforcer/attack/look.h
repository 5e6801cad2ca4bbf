/* SPDX-License-Identifier: Apache-2.0 */
/* What /proc of this host says of a process in a sandbox. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct ward_look {
	uint64_t namespaces[8]; /* inode numbers */
	uint64_t ids;		/* users and groups, as one number */
	uint64_t capabilities;	/* effective */
	uint64_t root;		/* identity of its root directory */
	unsigned descriptors, mounts;
	bool filtered;	 /* a seccomp filter is in force */
	bool other_user; /* its user namespace is not the observer's */
};

/* The process that is called so and has not ended. -1 with errno (ESRCH: none is seen from here).
 */
pid_t ward_look_find(const char *name);

/* 0, or -1 with errno. */
int ward_look_at(pid_t pid, struct ward_look *ret);

/*
 * What the process has now that it had not before: "a descriptor", "a namespace", … NULL: nothing.
 */
const char *ward_look_gain(const struct ward_look *before, const struct ward_look *after);

/* Does the process lack what `needs` of an attempt (attack.h) names? */
bool ward_look_lacks(const struct ward_look *l, int needs);
