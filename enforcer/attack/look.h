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
	uint64_t kept;		/* capabilities: permitted, inheritable, ambient */
	uint64_t bounding;
	uint64_t files, processes, core; /* hard limits; UINT64_MAX: none */
	unsigned uid;
	unsigned descriptors, mounts;
	bool no_new_privileges;
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

/* Is it as `needs` of WARD_SEEN_STATE says? own: this process. */
bool ward_look_state(const struct ward_look *own, const struct ward_look *l, int needs);

/* Does the process lack what `needs` of an attempt (attack.h) names? */
bool ward_look_lacks(const struct ward_look *own, const struct ward_look *l, int needs);
