/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names of the programs that ask, for the trail: /proc/TID/comm, which needs neither the task's
 * mm nor a ptrace permission (others beside it do, and can hang while the task waits for us).
 *
 * The file of each of the last few tasks stays open, so that a name costs one pread(2) instead of a
 * walk through /proc. An open file belongs to its task: when that is gone it answers ESRCH, also
 * where the number is another task's by now; and the name is read anew each time, so an exec shows.
 */
#pragma once

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

/* TASK_COMM_LEN of the kernel, and a newline. */
#define WARD_COMM_MAX 32
/* Tasks that ask in turn: a compiler driver, its children, a shell. */
#define WARD_COMM_SLOTS 8

struct ward_comm {
	pthread_mutex_t lock; /* all below; held across a read of /proc, never across a reply */
	struct {
		uint32_t tid; /* 0: free */
		int fd;
	} slot[WARD_COMM_SLOTS];
	size_t next; /* the slot to be taken next */
};

void ward_comm_init(struct ward_comm *c);
void ward_comm_clear(struct ward_comm *c);

/* The name of thread tid. Returns its length, 0 where it cannot be had. */
size_t ward_comm_get(struct ward_comm *c, uint32_t tid, char ret[WARD_COMM_MAX]);
