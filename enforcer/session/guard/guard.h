/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The guard of a session: its place in the state directory, the rings, `wardfs-audit` and
 * `wardfs-fs`. Used by `wardfs run` and `wardfs mount` alike; knows nothing of sandboxes.
 */
#pragma once

#include <assert.h>
#include <pthread.h>

#include "audit/ring.h"
#include "audit/store/store.h"
#include "enforcer/ipc/system.h"
#include "enforcer/policy/policy.h"
#include "enforcer/session/guard/helper.h"
#include "enforcer/session/owner/identity.h"

/* Ring 0 is the supervisor's own, ring 1 the file system's, ring 2 the network's. */
enum { WARD_GUARD_RING_OWN = 0, WARD_GUARD_RING_FS, WARD_GUARD_RING_NET, WARD_GUARD_RINGS };

struct ward_guard {
	struct ward_store *state;
	struct ward_store_session store; /* name and descriptors of the trail */
	int ring_fd[WARD_GUARD_RINGS];
	int wake; /* eventfd of the writer */
	struct ward_ring *ring;
	int policy_fd;	 /* sealed blob */
	const char *via; /* record member `via` of what happens inside; NULL: none. static */
	int moves;   /* what the owner's sessions share (ward_remembered_moves()), until wardfs-fs
		      * has it; -1: nothing */
	bool moving; /* wardfs-fs has it */
	char moves_file[48]; /* its device and inode, which other sessions compare; "": nothing */
	int host;	     /* to wardfs-hostd, until wardfs-fs has it; -1: there is none */
	bool hosted;	     /* wardfs-fs has it */
	int review;	     /* where changes are staged, the owner's, O_PATH; -1: nothing is */
	struct ward_helper audit;
	struct ward_helper fs;
	char *transport; /* how requests reach wardfs-fs, for people; NULL until it serves */
	int mark;	 /* locked: this session runs (audit/store/store.h) */
	bool ended;	 /* the trail has its end */
	struct ward_ring *fs_ring;   /* to make its producers fail */
	struct ward_ring *net_ring;  /* the same */
	uint32_t sync;		     /* [audit] sync: enum ward_audit_sync */
	uint64_t checkpoint_records; /* [audit] checkpoint; 0: the default */
	uint64_t checkpoint_ms;
	uint64_t rotate;	   /* [audit] rotate: bytes of a segment */
	uint64_t keep_s;	   /* [audit] keep */
	uint64_t keep_min_s;	   /* no less, whatever the policy says: it is not its word */
	int next_fd;		   /* the next segment, made for the writer; -1 */
	struct ward_helper packer; /* compresses segment packed + 1, into packing_fd */
	int packing_fd;
	unsigned packed; /* the segments up to this one are done with */
	bool system; /* wardfs-auditd has the trail: of `store` only name and checkpoints are there
		      */
	bool served; /* wardfs-fs was told to serve */
	int replay;  /* wardfs-fs' end of the replayer's sockets; -1 */
	bool ready;  /* the writer answered: from now on the session has a trail */
	bool broken; /* the log failed (WARD_MSG_AUDIT_BROKEN) and has not recovered */
	bool told_to_finish;
	/* A process of wardfs died. What it was doing may be done and have no record. session.end
	 * says so, and such a trail is never intact. */
	bool lost;
	bool told_dead;	  /* somebody saw the writer's end before its process could be waited for */
	pthread_t syncer; /* puts the session on disk, if syncing */
	bool syncing;
	bool in_thread; /* it was begun there, and tells the writer */
	int synced;	/* what came of it, and why; the thread's own until it is joined */
	int sent;	/* so is this: what became of the writer's configuration */
	struct ward_err sync_err;
};

#define WARD_GUARD_INIT                                                                            \
	((struct ward_guard){.store = WARD_STORE_SESSION_INIT,                                     \
		.ring_fd = {-1, -1, -1},                                                           \
		.wake = -1,                                                                        \
		.replay = -1,                                                                      \
		.policy_fd = -1,                                                                   \
		.moves = -1,                                                                       \
		.host = -1,                                                                        \
		.review = -1,                                                                      \
		.mark = -1,                                                                        \
		.next_fd = -1,                                                                     \
		.packing_fd = -1,                                                                  \
		.packer = WARD_HELPER_INIT,                                                        \
		.audit = WARD_HELPER_INIT,                                                         \
		.fs = WARD_HELPER_INIT})

static_assert(WARD_GUARD_RINGS == WARD_SYSTEM_RINGS, "what a supervisor hands to wardfs-auditd");

/* The helpers of a session that does not exist yet (ward_helper_early()). */
struct ward_guard_early {
	struct ward_helper audit;
	struct ward_helper fs;
};
#define WARD_GUARD_EARLY_INIT                                                                      \
	((struct ward_guard_early){.audit = WARD_HELPER_INIT, .fs = WARD_HELPER_INIT})

/* Starts them; what cannot be started now is started, or refused, by ward_guard_start(). */
void ward_guard_early(struct ward_guard_early *a);
/* They are that guard's, which is empty; a has none any more. */
void ward_guard_take_early(struct ward_guard *g, struct ward_guard_early *a);
/* Ends those that no guard took. */
void ward_guard_early_clear(struct ward_guard_early *a);

struct ward_guard_tree {
	const char *path;   /* sandbox path */
	int fuse;	    /* mounted /dev/fuse */
	int backing;	    /* O_PATH directory */
	uint32_t elsewhere; /* bit i: tree i serves a directory of this one under other rules */
	enum ward_fs_tree_kind kind;
};

/*
 * Ends trails that a stop of the host left open. Takes a place in the state directory (name NULL: a
 * new one) and prepares the helpers. No program is started; a thread waits for the disk, until
 * ward_guard_on_disk(). Signals that the caller waits for must be blocked.
 */
int ward_guard_open(const char *state, const char *name, const struct ward_policy *policy,
	struct ward_guard *g, struct ward_err *err) ward_must_check;

/*
 * The part of it that wardfs-auditd does as well. The settings of the writer (sync to keep_s) are
 * there; policy: as encoded.
 */
int ward_guard_take_place(struct ward_guard *g, const char *state, const char *name,
	const void *policy, size_t len, struct ward_err *err) ward_must_check;

/* Takes moves, of ward_remembered_moves(), before ward_guard_start(). */
void ward_guard_share(struct ward_guard *g, int moves);

/*
 * Makes the rings, unless ring_fd and wake are there. Starts the programs of the writer, which is
 * told to go on once the session is on disk, and, unless n_trees is 0, of wardfs-fs, which waits
 * for ward_guard_serve(). Waits for neither, and for the disk where no thread does. Of trees only
 * the backings are used.
 */
int ward_guard_start(struct ward_guard *g, const struct ward_guard_tree *trees, size_t n_trees,
	struct ward_err *err) ward_must_check;

/* Tells wardfs-fs to serve; the same trees. Does not wait for it. flags: set of ward_fs_flag. */
int ward_guard_serve(struct ward_guard *g, const struct ward_identity *id, uint32_t flags,
	const struct ward_guard_tree *trees, size_t n_trees, struct ward_err *err) ward_must_check;

/*
 * wardfs-fs may hold the session still by these files of its control group, which are taken (enum
 * ward_freezer has which). Behind ward_guard_serve().
 */
int ward_guard_freezer(
	struct ward_guard *g, int fds[WARD_FREEZER_FILES], struct ward_err *err) ward_must_check;

/*
 * A pair of sockets by which wardfs-fs has changes of the host replayed (ipc/replay.h): one end
 * goes to wardfs-fs, once it was told to serve; *ret_inside is the caller's, for the replayer.
 */
int ward_guard_replay_open(
	struct ward_guard *g, int *ret_inside, struct ward_err *err) ward_must_check;
int ward_guard_replay(struct ward_guard *g, struct ward_err *err) ward_must_check;

/*
 * Waits for ward_guard_open()'s thread, if there is one: the session is on disk and the writer
 * told to go on. Again: 0.
 */
int ward_guard_on_disk(struct ward_guard *g, struct ward_err *err) ward_must_check;

/* Returns when the session is on disk and both helpers are ready. */
int ward_guard_wait(struct ward_guard *g, struct ward_err *err) ward_must_check;

/* Puts an event of the supervisor's own into the trail. */
int ward_guard_put(struct ward_guard *g, const struct ward_event *ev) ward_must_check;

struct ward_guard_refusal {
	char *verdict;
	char *action;
	char *path;
	char *rule;
};
#define WARD_GUARD_FIRST 3
struct ward_guard_summary {
	uint64_t records;
	uint64_t refusals; /* all; of them expected ones, which are not among the first */
	uint64_t expected;
	struct ward_guard_refusal first[WARD_GUARD_FIRST];
	size_t n_first;
	char *hidden; /* owned: the first path that was looked for, hidden, and expected; "": none
		       */
	char *unreached; /* owned: the first allowed connection that failed, and why; "": none */
};
void ward_guard_summary_clear(struct ward_guard_summary *s);

/*
 * The end record is put, and wardfs-fs has been waited for: the writer may begin to finish. Without
 * this ward_guard_finish() tells it.
 */
void ward_guard_last_word(struct ward_guard *g);

/*
 * Keeps the text of a policy that comes into force by reload n beside the first one, or drops it
 * again. What wardfs-auditd keeps it answers nothing about.
 */
int ward_guard_add_policy(struct ward_guard *g, unsigned n, const void *policy, size_t len,
	struct ward_err *err) ward_must_check;
void ward_guard_drop_policy(struct ward_guard *g, unsigned n);

/*
 * After the last access: waits for wardfs-fs (whose mounts are gone), ends it if it does not go,
 * lets the writer finish. The caller has put the end record. A writer that died is replaced by a
 * recovery writer. Returns 0, or -EIO if the trail is not whole. summary may be NULL.
 */
int ward_guard_finish(struct ward_guard *g, struct ward_guard_summary *summary,
	struct ward_err *err) ward_must_check;

/*
 * The writer is dead: operations that wait for it fail, and those that follow (EIO). Without this a
 * process could wait where not even SIGKILL reaches it. A recovery writer takes it back.
 */
void ward_guard_writer_died(struct ward_guard *g);

/*
 * Whether the writer has ended; it is reaped then. Its descriptors close, and others tell of it,
 * before its process can be waited for: after ward_guard_writer_died() this waits up to 5 s.
 */
bool ward_guard_writer_ended(struct ward_guard *g);

/* The writer is dead: starts another one that appends what the rings hold, and the cause. */
int ward_guard_recover(
	struct ward_guard *g, const char *cause, struct ward_err *err) ward_must_check;

/* Kills what still runs and closes everything. */
void ward_guard_close(struct ward_guard *g);
