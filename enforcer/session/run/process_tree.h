/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process with all that descends from it and what is in its process group, as /proc tells now
 * (proc_pid_stat(5)). Signals go by pidfd, to a process that is still the one that was found.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Processes of one tree; what is beyond is found when the first ones are gone. */
#define WARD_PROCESS_TREE_MAX 512

struct ward_tree_process {
	pid_t pid;
	uint64_t started; /* in clock ticks since the host's start */
};

/*
 * Zero is empty. A process that was in it once stays in it, even when its parent is gone. Nobody
 * outside of the pid namespace `ns` is ever part of it: numbers of processes and groups are given
 * again, and the command inside can see to it that they are. 0: not known, so nobody is.
 */
struct ward_process_tree {
	uint64_t ns; /* ward_process_ns() */
	struct ward_tree_process v[WARD_PROCESS_TREE_MAX];
	size_t n;
};

/* The parent of a process, as the host numbers it; 0: not known. */
pid_t ward_process_parent(pid_t pid);
/* The number of its pid namespace (namespaces(7): the inode of /proc/PID/ns/pid); 0: not known. */
uint64_t ward_process_ns(pid_t pid);
/*
 * Looks for what has joined the tree of `root` and sends the signal to all of it that lives.
 * Returns how many those were.
 */
size_t ward_process_tree_signal(struct ward_process_tree *t, pid_t root, int sig);
