/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names of the programs that ask, for the trail: /proc/TID/comm, which needs neither the task's
 * mm nor a ptrace permission (others beside it do, and can hang while the task waits for us).
 *
 * The file of each of the last few tasks stays open, so that a name costs one pread(2) instead of a
 * walk through /proc. An open file belongs to its task: when that is gone it answers ESRCH, also
 * where the number is another task's by now; and the name is read again, so an exec shows: each
 * time, but for opens that follow each other faster than a program can be started
 * (WARD_COMM_OLD_NS).
 */
#pragma once

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Which process a thread belongs to, and its parent, is said with the first record of each thread
 * and again when it changed: later records need no more than the thread's number. Asked of a pidfd
 * (PIDFD_GET_INFO, Linux 6.13), since /proc/TID/stat and status hold the task's mm for a moment,
 * whose end can be ours to do and then waits for us.
 */

/* TASK_COMM_LEN of the kernel, and a newline. */
#define WARD_COMM_MAX 32
/* Tasks that ask in turn: a compiler driver, its children, a shell. */
#define WARD_COMM_SLOTS 8
/*
 * A name that was read so long ago may stand in the record of an open. A thread that executes
 * another program, be it as small as can be, does not open anything as that one much sooner.
 */
#define WARD_COMM_OLD_NS 50000U
/* Threads whose process is known to have been said; a place that is taken over: said again. */
#define WARD_COMM_SAID 1024

/* The process of a thread, in the pid namespace of the caller. */
struct ward_process {
	uint32_t process; /* 0: not known, or said already */
	uint32_t parent;
};

struct ward_comm {
	pthread_mutex_t lock; /* all below; held across a read of /proc, never across a reply */
	struct {
		uint32_t tid; /* 0: free */
		int fd;
		uint64_t at_ns; /* CLOCK_MONOTONIC: when the name was read; 0: never */
		size_t len;	/* of the name */
		char name[WARD_COMM_MAX];
	} slot[WARD_COMM_SLOTS];
	size_t next; /* the slot to be taken next */
	struct {
		uint32_t tid;
		struct ward_process is;
	} said[WARD_COMM_SAID];
};

/* PIDFD_GET_INFO of Linux 6.13, for the filter of system calls too. */
#define WARD_PIDFD_GET_INFO 0xC040FF0BUL

void ward_comm_init(struct ward_comm *c);
void ward_comm_clear(struct ward_comm *c);

/*
 * The name of thread tid, read at most old_ns before now_ns (CLOCK_MONOTONIC; 0: the next one must
 * not take it for its own). Returns its length, 0 where it cannot be obtained. *ret_new: its
 * process, if the record that is being made has to say it.
 */
size_t ward_comm_get(struct ward_comm *c, uint32_t tid, uint64_t now_ns, uint64_t old_ns,
	char ret[WARD_COMM_MAX], struct ward_process *ret_new);
/* The process that thread tid belongs to; tid itself where that is unknown. */
uint32_t ward_comm_process(uint32_t tid);
/* The record did not come to be: the next one has to say it. */
void ward_comm_unsaid(struct ward_comm *c, uint32_t tid);
