/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How wardfs-init comes into the session's control groups: born in the one of v2, by itself into
 * those of v1, and only where neither can be obtained moved by us, which takes the kernel a grace
 * period of RCU. Private to this folder.
 */
#pragma once

#include <pthread.h>
#include <sys/types.h>

#include "enforcer/sandbox/sandbox.h"

struct ward_groups {
	struct ward_cgroup_way ways[WARD_SANDBOX_JOIN_MAX]; /* descriptors borrowed */
	size_t n;
	bool inside[WARD_SANDBOX_JOIN_MAX]; /* needs no move by us */
	pid_t pid;
	pthread_t mover; /* while moving; it alone writes error */
	bool moving;
	int error;
};

/* Takes what spec (checked) says. Cannot fail. */
void ward_groups_init(struct ward_groups *g, const struct ward_sandbox_spec *spec);

/* The descriptors that stage 0 writes to (WARD_INIT_FD_TASKS), at most WARD_SANDBOX_JOIN_MAX. */
size_t ward_groups_tasks(struct ward_groups *g, int ret_fds[WARD_SANDBOX_JOIN_MAX]);

/*
 * As vfork(2), but the child has a copy of our memory, and is in the session's group of v2. -1: no
 * such group, or the kernel will not: the caller forks by itself.
 */
pid_t ward_groups_fork(struct ward_groups *g);

/* Begins to move pid into what is left. Negative errno. */
int ward_groups_begin(struct ward_groups *g, pid_t pid) ward_must_check;

/* pid is in all of them; waits for that. Negative errno. Does nothing if nothing was begun. */
int ward_groups_finish(struct ward_groups *g) ward_must_check;
