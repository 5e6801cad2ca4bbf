/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Open files and directories of one tree. A handle holds the descriptor that was really opened with
 * the asked mode, and the rights that the policy gave at that moment: reads and writes consult the
 * handle only.
 *
 * refs, and the lists at the node and at the nodes, are protected by nodes->lock; counters are
 * atomic; dir_* by dir_lock; the rest does not change after the handle was made.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "fs/node.h"

/* How the kernel was told to do reads and writes of this handle. */
enum ward_io {
	WARD_IO_NONE = 0, /* directories */
	WARD_IO_CACHED,
	WARD_IO_DIRECT, /* every read and write reaches the daemon, no shared mapping */
	WARD_IO_PASSTHROUGH,
};

struct ward_handle {
	struct ward_node *node; /* pinned */
	struct ward_handle *next;
	LIST_ENTRY(ward_handle) all; /* of nodes->handles */
	int fd;
	unsigned refs;
	bool is_dir;
	bool append_only; /* the policy gives no more: fd is O_APPEND whatever the client says */
	bool fresh;   /* append_only, made by CREATE without O_APPEND: written at its end only */
	bool writing; /* counted in the node's n_writing */
	bool writes;  /* counted among the node's writers (writers.h) */
	bool paired;  /* WARD_IO_DIRECT beside handles in passthrough: with their backing id */
	enum ward_io io;
	uint32_t rights; /* set of ward_right that the policy gave */
	int flags;	 /* O_ACCMODE and O_APPEND as asked */
	atomic_uint_fast64_t n_read, n_written;

	/* POSIX lock owners that locked through this handle (lock.c; protected by nodes->lock). */
	uint64_t *owners;
	size_t n_owners;

	/* directories */
	pthread_mutex_t dir_lock;
	char *dir_buf;	   /* entries as getdents64(2) gave them */
	size_t dir_have;   /* bytes in it */
	size_t dir_at;	   /* bytes consumed */
	int64_t dir_next;  /* offset of the entry at dir_at */
	uint64_t last_dir; /* number of the last directory listed (listing.c) */
};

/* Makes a handle for fd (taken, also on failure) at node. -ENOMEM. */
int ward_handle_new(struct ward_nodes *nodes, struct ward_node *node, int fd,
	struct ward_handle **ret) ward_must_check;
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

static inline struct ward_handle *ward_handle_from(uint64_t fh)
{
	return (struct ward_handle *)(uintptr_t)fh;
}
