/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one wardfs-fs process holds, and one served tree. Made by main.c, read-only afterwards but
 * for the members of the modules named there.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/types.h>

#include "audit/ring.h"
#include "enforcer/base/err.h"
#include "enforcer/ipc/helper.h"
#include "enforcer/policy/policy.h"
#include "fs/base/caller_names.h"
#include "fs/base/made_files.h"
#include "fs/base/user_shares.h"

struct fuse_session;
struct ward_nodes;
struct ward_pool;
struct ward_forget_thread;
struct ward_forget_queue;
struct ward_replaced;
struct ward_watch;
struct ward_ahead;
struct ward_beneath;
struct ward_secrets;
struct ward_quotas;
struct ward_delay;
struct ward_uring;
struct ward_replay;
struct ward_questions;
struct ward_review;
struct ward_moves;
struct ward_fs_steps;
struct ward_steps_queue;
struct ward_host_ids;

#define WARD_PASSTHROUGH_LEFT 64U

/* Backing ids that the kernel does not have yet (passthrough.c). */
struct ward_passthrough_left {
	pthread_mutex_t lock; /* the innermost */
	uint32_t ids[WARD_PASSTHROUGH_LEFT];
	atomic_uint n;
};

/* Owner and agent, as helper.h's configuration message has them. */
struct ward_fs_ids {
	uid_t owner_uid;
	gid_t owner_gid;
	uid_t agent_uid;
	gid_t agent_gid;
};

struct ward_fs {
	/* Held for reading while a request is served; for writing while the policy is exchanged.
	 * Outermost of all locks. */
	pthread_rwlock_t turn;
	struct ward_policy *policy; /* one reference; protected by turn, as what it sets */
	/* The same with every rule folded, where a tree folds; else NULL. Owned; as policy. */
	struct ward_policy *folded;
	struct ward_ring *ring;
	char *session;
	char *via;	/* record member `via` of what comes from inside; "" or NULL: none */
	uint32_t flags; /* set of ward_fs_flag */
	struct ward_fs_ids ids;
	gid_t *groups; /* the owner's supplementary groups, owned */
	size_t n_groups;
	enum ward_audit_log log;
	enum ward_audit_hash hash;
	bool casefold;	  /* this kernel knows casefolded directories: look for them */
	bool drops_pages; /* ward_kernel_drops_pages() */
	int latency_fds[WARD_TREES_MAX]; /* /dev/cpu_dma_latency for each tree, -1: not available */
	/* With host: in its place a pipe for each tree; the read end is -1 when nobody is to get it
	 * any more. */
	int awake_read[WARD_TREES_MAX], awake_write[WARD_TREES_MAX];
	struct ward_comm comm;		      /* names of the programs that ask */
	struct ward_pool *pool;		      /* threads for what may be slow */
	struct ward_review *review;	      /* NULL: nothing is staged (review/review.h) */
	struct ward_fs_steps *steps;	      /* with review (fs_steps.h); of the main thread */
	struct ward_steps_queue *steps_queue; /* the same (gate/steps_attribute.h) */
	struct ward_quotas *quotas;	      /* NULL: in tests that need none */
	struct ward_replay *replay;	      /* NULL: in tests that need none */
	struct ward_delay *delay;	      /* requests that wait for their time */
	struct ward_questions *questions;     /* to a person; NULL: `ask` only refuses */

	struct ward_grants *grants; /* of the session (policy/grants.h) */

	struct ward_shares *shares;  /* NULL: one owner is served */
	struct ward_moves *moves;    /* NULL: in tests that need none */
	struct ward_host_ids *host;  /* NULL: nobody registers for us (host_ids.h) */
	struct ward_made_files made; /* of use with host alone */

	atomic_int n_waiters; /* threads that wait for a lock (ops_lock.c) */
	/* Of POSIX locks (lock_count.h). */
	atomic_uint n_lockers, n_locks, n_lock_owners;

	struct ward_fs_tree *trees;
	size_t n_trees;
};

struct ward_fs_tree {
	struct ward_fs *fs;
	size_t index;
	char *path; /* sandbox path, owned */
	size_t path_len;
	uint32_t elsewhere; /* bit i: tree i serves a directory of this one under other rules */
	/*
	 * Single files of the host: the backing is a tmpfs of ours with their paths, on which each
	 * is mounted, read-only. No other tree lies beneath this one, and nothing is watched.
	 */
	bool files;
	bool stages;	 /* its changes are staged (review/review.h) */
	int dev_fd;	 /* /dev/fuse */
	int root_fd;	 /* O_PATH directory of the backing */
	dev_t dev;	 /* of the backing: nothing on another device is served */
	uint64_t mnt_id; /* of the backing, 0 where the kernel does not tell */
	uint32_t type;	 /* of the backing's file system: statfs f_type */
	bool local;	 /* no server is asked about what is on it */
	bool folds;	 /* the backing takes several spellings for one name (folding.h) */
	bool folds_each; /* ... or directories of it may: each is asked */
	/*
	 * max_stack_depth of the INIT reply: 2 where the backing is an overlay, which is a layer by
	 * itself (and then no overlay can be mounted on the tree: FILESYSTEM_MAX_STACK_DEPTH),
	 * else 1.
	 */
	uint32_t stack_depth;
	enum ward_hardlinks hardlinks;
	/* INIT asks for ACLs, and for default_permissions with them ([tree] acl, allow_other). */
	bool acl;
	bool no_acl;		 /* the policy asks for them, and this kernel does not give them */
	atomic_bool passthrough; /* asked for in the INIT reply; off where the ioctl is refused */
	struct ward_passthrough_left left;
	bool inited; /* the INIT reply was sent */
	bool ended;  /* nobody serves any more */
	/* This kernel can forget all entries at once (7.44), and no mount lies on one of them. */
	bool epoch;
	/*
	 * OPENDIR only asks whether the directory may be listed and makes no handle; each part of
	 * a listing opens it again, or was prepared ahead (listing_ahead.h). The kernel keeps the
	 * whole and looks for another time of the directory. Where one owner's rights count and the
	 * backing is watched, and no names are staged.
	 */
	bool list_anew;
	atomic_bool watch_now;		/* the session lives long enough: watch */
	struct ward_watch *watch;	/* NULL: the backing cannot be watched */
	const char *watch_why;		/* static: why not; NULL where it is */
	atomic_uint_fast64_t watch_seq; /* watches made and changes seen (backing_watch.h) */
	struct ward_uring *uring;	/* NULL: requests come by /dev/fuse alone */
	atomic_bool rings;		/* asked for in the INIT reply; off where that fails */
	size_t payload;			/* bytes of content that a request or an answer can have */
	struct fuse_session *se;
	struct ward_nodes *nodes;
	struct ward_forget_queue *forget;     /* what the kernel is to forget */
	struct ward_forget_thread *forgetter; /* the thread that tells it */
	struct ward_replaced *replaced;
	struct ward_secrets *secrets;	 /* which files the session made (secret_facts.h) */
	struct ward_ahead *ahead;	 /* NULL: nothing is prepared */
	pthread_mutex_t lock_waits_lock; /* before nodes->lock */
	LIST_HEAD(, ward_lock_wait) lock_waits;
	uint64_t lock_rest_until_ns;	  /* no search for circles before; by lock_waits_lock */
	struct ward_beneath *beneath;	  /* NULL: no other tree lies beneath this one */
	atomic_uint_fast64_t n_requests;  /* that were served by name or node (op.c) */
	atomic_uint_fast64_t outside_seq; /* changes by others, counted */
	atomic_bool stalled; /* the kernel does not forget just now (forget_stalled.h) */
};
