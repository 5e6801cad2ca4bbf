/* SPDX-License-Identifier: Apache-2.0 */
/* What those share who make the rings, answer through them (uring_answers.c), and serve. */
#pragma once

#include <errno.h>
#include <liburing.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fs/base/fuse_kernel.h"
#include "fs/kernel/uring.h"

/* Numbers of the files that a ring knows. */
#define WARD_URING_FILE_DEV 0
#define WARD_URING_FILE_WAKE 1
/*
 * In front of an entry's payload: what it shares with the kernel, and room for a message's head. So
 * much that the payload begins with a page, of up to 64 KiB; most of it is never touched.
 */
#define WARD_URING_HEAD_BYTES 65536U
/*
 * An answer goes to where its request's payload lies, and a handler may look at a name once it has
 * answered. So messages are copied, all but content, which nobody needs any more by then. The
 * longest without content is SETXATTR (XATTR_SIZE_MAX, XATTR_NAME_MAX and what goes before).
 */
#define WARD_URING_MESSAGE_MAX (72U << 10)
/* Interrupts that come back at once; the oldest is lost beyond. */
#define WARD_URING_AGAIN_MAX 64U

/* A place for one request. */
struct ward_uring_entry {
	struct ward_uring_entry *next;		/* of the same seat */
	struct ward_uring_entry *next_answered; /* worker->answered */
	struct ward_uring_seat *seat;
	struct ward_uring_head
		*head; /* shared with the kernel; payload follows WARD_URING_HEAD_BYTES later */
	char *payload;
	struct iovec iov[2];	     /* what REGISTER says: head and payload */
	atomic_uint_fast64_t unique; /* of the request being served, 0 once it is answered */
	atomic_uint_fast64_t last;   /* of the last request that was seen here */
	uint64_t commit_id;
	bool out; /* the worker's own: its request is not yet answered and committed */
};

/* A thread's part in one queue. */
struct ward_uring_seat {
	struct ward_uring_worker *worker;
	uint16_t qid;
	struct ward_uring_entry *_Atomic entries; /* added to by the worker, read by any thread */

	/* the worker's own */
	unsigned n;	/* entries */
	unsigned n_out; /* entries whose request is not answered */
	bool starved;	/* had no entry left when it got another one: see poke() */
	uint64_t node;	/* of the last request for a lock: a regular file that is open */
};

struct ward_uring_worker {
	struct ward_uring *u;
	struct io_uring ring;
	pthread_t thread;
	int wake_fd;
	int cpu; /* to be pinned to; -1: none */
	struct ward_uring_seat *seats;
	size_t n_seats;

	atomic_uint_fast64_t passed; /* up to this ticket of ward_uring_ask(), all is served */

	pthread_mutex_t lock;		   /* protects answered */
	struct ward_uring_entry *answered; /* by other threads: to be committed */

	/* the worker's own */
	struct ward_uring_entry *current; /* whose request is served right now */
	uint64_t woken;			  /* what is read from wake_fd */
	uint64_t armed;			  /* u->asked before that read began */
	uint64_t seen;			  /* `armed` of the last read that ended */
	uint64_t called;		  /* `armed` when this thread last woke itself for it */
	bool has_ring, registered, ended;
	uint64_t n_pokes;
	cpu_set_t allowed; /* where the process may run */
	size_t touched;	   /* bytes of payload in use since the last idle moment, of one entry */
	char *msg;
	struct ward_uring_entry refused; /* see give_up() */
};

struct ward_uring {
	struct ward_fs_tree *tree;
	struct ward_uring_worker *workers;
	size_t n_workers;
	size_t n_started; /* threads */
	unsigned n_queues;
	size_t payload;
	pthread_key_t key;	    /* a worker's thread: its struct ward_uring_worker */
	int reader_fd;		    /* wakes the reader of /dev/fuse */
	atomic_uint_fast64_t asked; /* the last ticket */
	atomic_bool go;		    /* the answer to INIT was given */
	atomic_bool active;
	atomic_bool stop;

	pthread_mutex_t lock; /* protects the rest; innermost */
	pthread_cond_t told;
	size_t n_told; /* workers that have done what they were asked for */
	int result;    /* the first failure */
	bool *served;  /* queues that have an entry */
	uint64_t again[WARD_URING_AGAIN_MAX];
	size_t n_again;
};

/* liburing 2.3 declares functions for the two calls that are made here, and exports none. */
static inline int ward_uring_call(struct io_uring *ring, unsigned op, void *arg, unsigned n)
{
	return syscall(SYS_io_uring_register, ring->ring_fd, op, arg, n) < 0 ? -errno : 0;
}

static inline void ward_uring_wake(int fd)
{
	const uint64_t one = 1;

	/* An eventfd takes a one unless it holds 2^64-2 of them: then it is awake. */
	(void)!write(fd, &one, sizeof(one));
}

/* --- a worker's commands; its own thread alone (uring_answers.c) --- */

/* Room for one more. NULL: the ring is gone. */
struct io_uring_sqe *ward_uring_next_sqe(struct ward_uring_worker *w);
/* WARD_FUSE_URING_REGISTER, or _COMMIT_AND_FETCH what is in the entry. */
void ward_uring_command(struct ward_uring_entry *e, uint32_t op);
/* What is filled in is the answer. */
void ward_uring_commit(struct ward_uring_entry *e);
/* The answer without content: error is 0 or a negative errno. */
void ward_uring_answer(struct ward_uring_entry *e, uint64_t unique, int error);
