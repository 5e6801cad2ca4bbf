/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Open files and directories of one tree. A handle holds the descriptor that was really opened with
 * the asked mode, and the rights that the policy gave at that moment: reads and writes consult the
 * handle only.
 *
 * refs, and the lists at the node and at the nodes, are protected by nodes->lock; counters are
 * atomic; dir_* by dir_lock; the rest does not change after the handle was made, but when the
 * policy is exchanged, while no request is under way (policy_swap.h).
 */
#pragma once

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "fs/node/node.h"

/* How the kernel was told to do reads and writes of this handle. */
enum ward_io {
	WARD_IO_NONE = 0, /* directories */
	WARD_IO_CACHED,
	WARD_IO_DIRECT, /* every read and write reaches the daemon, no shared mapping */
	WARD_IO_PASSTHROUGH,
};

/* SHA-256 of a file's content (file_digest.h). */
#define WARD_DIGEST_BYTES 32U
struct ward_digest {
	bool asked; /* the policy wants it */
	bool known;
	bool sized;	 /* size is known */
	const char *why; /* asked and not known: static text for the record */
	uint64_t size;
	uint8_t sha256[WARD_DIGEST_BYTES];
};

#define WARD_HANDLE_GRANTS_MAX 8U

struct ward_handle {
	struct ward_node *node; /* pinned */
	struct ward_handle *next;
	LIST_ENTRY(ward_handle) all; /* of nodes->handles */
	int fd;
	int lock_fd; /* what locks are taken on, if that is not fd; else -1 (ward_handle_locks()) */
	unsigned refs;
	bool is_dir;
	bool made;	  /* by CREATE, for this handle */
	bool append_only; /* the policy gives no more: fd is O_APPEND whatever the client says */
	bool fresh;	/* append_only, made by CREATE without O_APPEND: written at its end only */
	bool writing;	/* counted in the node's n_writing */
	bool passing;	/* counted in nodes->n_passing */
	bool committed; /* a secret but for what git has: looked at after each read (ops_io.c) */
	/* As it was then; or, where a mapping may write past us, when its times were looked at last
	 * (ops_close.c), protected by nodes->lock. */
	struct timespec seen_mtime, seen_ctime;
	off_t seen_size;
	bool writes;	     /* counted among the node's writers (writers.h) */
	atomic_bool flushed; /* a descriptor of it was closed: the end may be on its way */
	atomic_bool locked;  /* something was, or tried, and not the whole file unlocked since */
	bool flushes;	     /* the kernel says when a descriptor of it is closed */
	bool paired; /* WARD_IO_DIRECT beside handles in passthrough: with their backing id */
	struct ward_quota_file *quota; /* in use; NULL: no quota is above it */
	enum ward_io io;
	const char *io_why; /* the reason for io, for `wardfs ps --io`; static, NULL: directories */
	uint32_t pid;	    /* of the thread that opened it, 0: not known */
	uid_t uid;	    /* whose share of open files it is of (user_shares.h) */
	uint32_t rights; /* set of ward_right that the policy gave; a new one takes, never adds */
	uint32_t needs;	 /* those that it was opened to use */
	/* Grants that it was opened under: it may do nothing once one of them has ended. */
	const struct ward_grant_held *held[WARD_HANDLE_GRANTS_MAX];
	unsigned n_held;
	bool retired; /* its inode is to go bad: it counts at its node no more (retired_inodes.h) */
	int flags;    /* O_ACCMODE and O_APPEND as asked */
	atomic_uint_fast64_t n_read, n_written;
	struct ward_digest before; /* the content as it was opened */
	/* The record of its opening waits for its end, at record_pos of the ring: ward_ring_end().
	 */
	bool record_ends;
	uint64_t record_pos, opened_ns; /* CLOCK_MONOTONIC */

	/* POSIX lock owners that locked through this handle, and have closed no descriptor of the
	 * file since that FLUSH told of (ops_lock.c; protected by nodes->lock). */
	uint64_t *owners;
	size_t n_owners;

	/* directories */
	pthread_mutex_t dir_lock;
	char *dir_buf;	  /* entries as getdents64(2) gave them */
	size_t dir_have;  /* bytes in it */
	size_t dir_at;	  /* bytes consumed */
	int64_t dir_next; /* offset of the entry at dir_at */
};

/* Do the grants that it was opened under still hold? By the clock: nobody has to say so. */
bool ward_handle_holds(const struct ward_handle *h);

/* Has it kept this right? */
static inline bool ward_handle_may(const struct ward_handle *h, uint32_t right)
{
	return (h->rights & right) == right && (!h->n_held || ward_handle_holds(h));
}

/* May a shared mapping of it write, past us? That takes a handle that can read, too. */
static inline bool ward_handle_maps_past(const struct ward_handle *h)
{
	return (h->io == WARD_IO_PASSTHROUGH || h->paired) && (h->flags & O_ACCMODE) == O_RDWR;
}
/* Takes up the times of st as those that were seen last. True: they are others. */
bool ward_handle_seen(struct ward_nodes *nodes, struct ward_handle *h, const struct stat *st);

/* "passthrough", as records and answers have it. */
const char *ward_io_name(enum ward_io io);

/*
 * Makes a handle for fd (taken, also on failure) at node, for that user. -ENOMEM; -ENFILE: the user
 * has its share of open files.
 */
int ward_handle_new(struct ward_nodes *nodes, struct ward_node *node, int fd, uid_t uid,
	struct ward_handle **ret) ward_must_check;
/*
 * The descriptor for locks. Of a file that was staged it leads to the host's file, where those are
 * that were taken before.
 */
static inline int ward_handle_locks(const struct ward_handle *h)
{
	return h->lock_fd >= 0 ? h->lock_fd : h->fd;
}
/* The file was staged: handles that are open on the host's lead to what is staged. */
void ward_handles_fresh(struct ward_nodes *nodes, const struct ward_file_id *id);
/* The first open handle of node with a reference more, or NULL. */
struct ward_handle *ward_handle_any(struct ward_nodes *nodes, struct ward_node *node);
/*
 * Takes a handle that is still open from those of the tree and returns it, or NULL. It stays at its
 * node. For the end: no request may be under way that could release it.
 */
struct ward_handle *ward_handle_take_left(struct ward_nodes *nodes);
/* Gives a reference back; the last one closes. */
void ward_handle_put(struct ward_nodes *nodes, struct ward_handle *h);
/* RELEASE: takes it from the node, gives the first reference back. */
void ward_handle_release(struct ward_nodes *nodes, struct ward_handle *h);
/*
 * Locked: the ward_watch_round() behind the end of the last handle of node number that wrote in
 * passthrough, or a later one; 0: there was none.
 */
uint64_t ward_handle_passed(const struct ward_nodes *nodes, uint64_t number);

/*
 * Late ends of handles. Nobody waits for the answer to RELEASE. If several threads serve (io_uring,
 * or the pool that makes digests), they can handle a client's next request before it. But the
 * kernel queues RELEASE before close(2) returns, and more than one thread serves each queue in
 * order. So code that would refuse something because a handle is open first waits for ends, without
 * any lock but the turn. It looks again, and refuses if the handle is still open.
 *
 * The wait ends once the threads of the rings have served all that was queued when it began. Idle
 * threads take some microseconds for this. With digests an end can be in the pool instead. Then the
 * wait takes all of WARD_ENDS_NS.
 */
#define WARD_ENDS_NS UINT64_C(250000000)
/*
 * A RELEASE that finds no place in its queue is sent as another request is answered. So the threads
 * are asked again once they have served what was there.
 */
#define WARD_ENDS_ROUNDS 2U
struct ward_ends {
	uint64_t until_ns; /* CLOCK_MONOTONIC */
	uint64_t ticket;   /* of ward_uring_ask(); 0: none yet */
	unsigned rounds;   /* to go */
};
bool ward_ends_late(const struct ward_fs_tree *tree);
/* nodes->n_ended, before something is tried that a handle may be in the way of. */
uint64_t ward_ends_seen(struct ward_nodes *nodes);
/* One wait begins. */
struct ward_ends ward_ends_begin(void);
/*
 * Until some handle is released after nodes->n_ended was `seen`: true. False: all ends that were
 * on their way have come, or the time is over. Locked (nodes->lock), which it gives up meanwhile.
 */
bool ward_ends_await(struct ward_nodes *nodes, struct ward_ends *io_ends, uint64_t seen);
/* Those who wait look again. Any thread, nodes->lock not held. */
void ward_ends_look(struct ward_nodes *nodes);

static inline struct ward_handle *ward_handle_from(uint64_t fh)
{
	return (struct ward_handle *)(uintptr_t)fh;
}
