/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The nodes of one tree: what the kernel holds a lookup on.
 *
 * A node is one file of the backing, known by (inode number, birth time), with the names under
 * which it was seen in the tree: (parent, component) pairs, each with its state of the policy. A
 * directory has one name; a file with several links has one node with several names, so that the
 * rights of its content can be the intersection of theirs. A node whose last name went keeps it as
 * a "ghost": it still says what the file was allowed to be used for, but leads nowhere.
 *
 * A node lives while the kernel holds a lookup, a child's name points to it, or somebody pinned it.
 * States are found again lazily after a directory was renamed (ward_nodes.gen).
 *
 * Locking: everything here takes nodes->lock itself unless it says "locked". The lock is held for
 * memory work alone, never across a system call on the backing. renames_lock is taken before it:
 * for writing around a rename and its entry here, for reading by a caller that must know that no
 * rename is half done (resolve_node.c).
 */
#pragma once

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "enforcer/policy/policy.h"
#include "fs/base/fs.h"
#include "fs/kernel/backing.h"
#include "fs/node/dir_cookie.h"
#include "fs/node/node_id.h"

/* Distinct states that the names of one file may have; a file with more is refused (-EMLINK). */
#define WARD_NODE_STATES_MAX 32
/* Components below the tree's root: PATH_MAX of one-letter names (node_depth.h). */
#define WARD_NODE_DEPTH_MAX 2048
/* Descriptors of directories kept per tree; the least recently used are closed beyond. */
#define WARD_NODE_DIRS_MAX 768

struct ward_handle;
struct ward_locker;
struct ward_nodes_hooks;
struct ward_node_digest;
struct ward_removed;
struct ward_several;
struct ward_watched;

struct ward_name {
	struct ward_node *node;
	struct ward_node *parent; /* a reference */
	struct ward_name *hash_next;
	const struct ward_state *state; /* a reference */
	uint32_t gen;			/* state is right if this is nodes->gen */
	uint32_t slot;			/* among several (node_names.h), as the two marks */
	bool counted, placed;
	bool live; /* false: a ghost, not in the hash */
	uint8_t len;
	char text[]; /* len bytes and NUL */
};

/* What only directories have. */
struct ward_dir {
	int fd;		/* O_PATH, -1: closed for want of room */
	unsigned users; /* the descriptor stays open while somebody uses it */
	bool in_lru;
	bool searchable;	/* by the owner, when it was last looked at */
	uint64_t checked_ns;	/* when name, inode and searchable were last right; 0: never */
	uint64_t checked_moves; /* ward_moves_seq() before that */
	struct ward_watched *watched; /* NULL: not watched (backing_watch.h) */
	bool watch_tried;
	uint64_t changed; /* tree->watch_seq when others last changed something in it
			     (backing_watch.h) */
	/* Where a walk goes on (listing_ahead.h); numbers, 0: none. */
	uint64_t first_dir, next_dir;
	uint64_t last_dir; /* the last one in the listing that is being made (listing.c) */
	bool listed;
	uint32_t below; /* levels of nodes that there have been beneath (node_depth.h) */
	/* What is known in it (node_table.h): n_names names in mask + 1 chains, or in one. */
	uint32_t n_names, mask;
	struct ward_name **names; /* NULL: `few` is the only chain */
	struct ward_name *few;
	TAILQ_ENTRY(ward_node) lru;
};

struct ward_node {
	struct ward_file_id id;
	uint64_t number;	      /* node_id.h */
	struct ward_name *names;      /* the newest one */
	struct ward_several *several; /* NULL: there is one name at most (node_names.h) */
	struct ward_node *ino_next;
	struct ward_dir *dir;	     /* NULL: no directory */
	struct ward_handle *handles; /* open ones, newest first */
	struct ward_locker *lockers; /* POSIX locks on the backing (ops_lock.c) */
	uint64_t nlookup;
	uint32_t refs;
	uint32_t nlink;	    /* as last seen */
	int32_t backing_id; /* passthrough; 0: none yet */
	uint32_t n_pass;    /* open handles in passthrough */
	uint32_t n_cached;  /* open handles in the page cache */
	uint32_t n_writers; /* open handles that may write anywhere (writers.h) */
	uint32_t n_writing; /* open handles that may write at all */
	uint16_t type;	    /* S_IFMT bits */
	bool mapped : 1;    /* a mapping that may write may live on (writers.h) */
	bool locked : 1;    /* somebody has asked for a POSIX lock of it (ops_lock.c) */
	bool fd_kept : 1;   /* removed, with a descriptor (removed_files.h) */
	bool id_reads : 1;  /* backing_id is for reading alone (backing_id.h) */
	bool kept;	    /* the kernel may keep its attributes for long (keep_time.h) */
	bool muted;	    /* its writes may make no events (backing_watch.h) */
	bool hashed;	    /* in the hash by inode number */
	bool quota_held;    /* its charge waits for its end (quota_name.h) */
	bool gone;	    /* has no link any more: its number may be another file's */
	bool missed;	    /* a directory that others moved, or removed: gone until it is seen */
	bool retired; /* it has no new number, and its inode is to go bad (retired_inodes.h) */
	bool listed;  /* among nodes->written */
	/* 1 + enum ward_fact, as it was asked last; 0: no rule of `secret` covers it (gate.c). */
	_Atomic uint8_t fact;
	struct ward_node_digest
		*digest; /* of the content as last recorded, or NULL (file_digest.c) */
	uint64_t stamp;	 /* of times and size when it was last opened (ops_open.c) */
};

TAILQ_HEAD(ward_node_list, ward_node);

#define WARD_NODE_PASSED 64U
struct ward_passed {
	uint64_t number, round;
};

struct ward_nodes {
	struct ward_fs_tree *tree;
	const struct ward_nodes_hooks *hooks;
	pthread_mutex_t lock;
	pthread_rwlock_t renames_lock;
	struct ward_node root;
	struct ward_node nowhere; /* what a number that is not in use leads to: -ESTALE */
	struct ward_node_ids ids;
	struct ward_policy *policy; /* all states are of this one: tree->fs->policy */
	const struct ward_state *root_state;
	struct ward_node **inos;
	size_t n_names, n_inos, mask_inos;
	uint32_t gen;
	uint32_t moves;		     /* directories that came to another place, and policies */
	struct ward_dir_key dir_key; /* dir_cookie.h */
	/* Of files with many names (links_known.h). */
	atomic_size_t n_sure;	/* whose links are known, or are just looked at */
	size_t n_removals;	/* of names, by us, under way (links_known.h) */
	uint64_t n_severals;	/* that there were */
	uint64_t dirs_gen;	/* names of directories that went, with what was beneath */
	uint64_t links_seen;	/* names that others changed */
	uint64_t links_lost_ns; /* CLOCK_MONOTONIC: when some of that was missed; 0: never */
	struct ward_node_list lru;
	LIST_HEAD(, ward_handle) handles; /* open ones of all nodes */
	pthread_cond_t ended;		  /* n_ended grew (handle.h); CLOCK_MONOTONIC, with lock */
	uint64_t n_ended;		  /* handles that were released */
	unsigned n_awaiting;		  /* threads that wait for it */
	size_t n_open_dirs;
	size_t n_passing; /* open handles that write in passthrough */
	uint64_t passed;  /* the ward_watch_round() behind the end of the last one; 0: none */
	/* The same of each node, as far as there is room, by its number; and of all others. */
	struct ward_passed passed_by[WARD_NODE_PASSED];
	uint64_t passed_others;
	/* Numbers of nodes that have a writer, or had one (written_nodes.h). */
	uint64_t *written;
	size_t n_written, room_written;
	bool written_lost; /* some may be missing there */
	/* Numbers of inodes that are to go bad in the kernel (retired_inodes.h). */
	uint64_t *retired;
	size_t n_retired, room_retired;
	struct ward_removed *removed; /* WARD_REMOVED_MAX of them (removed_files.h) */
	size_t next_removed;
};

/* What others do for the tables, which know nothing of them. nodes->lock is held at each. */
struct ward_nodes_hooks {
	/* The directory with that number was seen at another place: what the kernel knows beneath
	 * it is wrong. */
	void (*moved)(struct ward_fs_tree *tree, uint64_t number);
	/* node->dir->watched is set, and nothing leads to the directory any more; dir->fd, if
	 * open, still does. */
	void (*unwatch)(struct ward_fs_tree *tree, struct ward_node *node);
	/* The node ends, with a backing_id or quota_held. */
	void (*ended)(struct ward_fs_tree *tree, const struct ward_node *node);
};

/*
 * The tree's table with its root; the root's descriptor is a copy of tree->root_fd. The hooks must
 * outlive it.
 */
int ward_nodes_new(struct ward_fs_tree *tree, const struct ward_nodes_hooks *hooks,
	struct ward_nodes **ret, struct ward_err *err) ward_must_check;
/* Frees all nodes, whatever the kernel still held. No handle may be open. */
void ward_nodes_free(struct ward_nodes *nodes);

/*
 * Node numbers of the protocol: 1 is the root. A number that the kernel cannot have from us leads
 * to a node without a name; every use of it fails (-ESTALE).
 */
struct ward_node *ward_nodes_from_ino(struct ward_nodes *nodes, uint64_t ino);
uint64_t ward_node_to_ino(const struct ward_nodes *nodes, const struct ward_node *node);

/* The node with that number, pinned; NULL: there is none. */
struct ward_node *ward_nodes_pin(struct ward_nodes *nodes, uint64_t number);
/* A number after this one that was in use a moment ago, from FUSE_ROOT_ID on; 0: no more. */
uint64_t ward_nodes_next(struct ward_nodes *nodes, uint64_t number);

void ward_node_unpin(struct ward_nodes *nodes, struct ward_node *node);
/* The kernel learns of the pinned node once more: one more lookup. */
void ward_node_told(struct ward_nodes *nodes, struct ward_node *node);
/* The kernel gives back n lookups. */
void ward_node_forget(struct ward_nodes *nodes, struct ward_node *node, uint64_t n);

/*
 * The node of a file that was just seen as name below parent, with one lookup more. Binds the name,
 * takes it from another node that had it, and takes names that can no longer be right from this one
 * (a directory or a file with one link seen under a new name was moved on the host). -ENOMEM;
 * -ENAMETOOLONG: deeper than WARD_NODE_DEPTH_MAX.
 */
int ward_nodes_enter(struct ward_nodes *nodes, struct ward_node *parent, const char *name,
	const struct ward_file *file, struct ward_node **ret) ward_must_check;

/* The node of a file that was made without a name in parent (O_TMPFILE), with one lookup. */
int ward_nodes_enter_unnamed(struct ward_nodes *nodes, struct ward_node *parent,
	const struct ward_file *file, struct ward_node **ret) ward_must_check;
/* True until it gets its first name. */
bool ward_node_unnamed(struct ward_nodes *nodes, const struct ward_node *node);

/* The name was removed here. */
void ward_nodes_remove(struct ward_nodes *nodes, struct ward_node *parent, const char *name);
/* The same, but others did it: a directory may have been moved, and be seen under another name. */
void ward_nodes_miss(struct ward_nodes *nodes, struct ward_node *parent, const char *name);
/*
 * -ENAMETOOLONG: by this rename something would come to lie too deep. renames_lock held for
 * writing; what is made beneath meanwhile can add a level for each request that is under way.
 */
int ward_nodes_check_move(struct ward_nodes *nodes, const struct ward_node *parent,
	const char *name, const struct ward_node *parent2, const char *name2,
	bool exchange) ward_must_check;
/* The backing was renamed; exchange: both names existed and changed places. */
int ward_nodes_move(struct ward_nodes *nodes, struct ward_node *parent, const char *name,
	struct ward_node *parent2, const char *name2, bool exchange) ward_must_check;

/* No name leads to node any more, and nobody has it open: its inode number may be given away.
 * Locked. */
void ward_node_check_gone(struct ward_node *node);
/*
 * What the file without names is charged is given back when its node ends. False: it has none, so
 * that the kernel knows nothing of it.
 */
bool ward_nodes_hold_quota(struct ward_nodes *nodes, const struct ward_file *file);
/*
 * A file was seen under a further name about which nothing else is known. Returns the number of its
 * node, which then has the new number of links; 0: no such node.
 */
uint64_t ward_nodes_linked(struct ward_nodes *nodes, const struct ward_file *file);

/* Locked: the first open handle of that file; NULL: there is none. */
struct ward_handle *ward_node_handles(
	const struct ward_nodes *nodes, const struct ward_file_id *id);

/* The node of that file and type (S_IFMT bits), pinned; NULL: the kernel knows of none. */
struct ward_node *ward_nodes_by_id(
	struct ward_nodes *nodes, const struct ward_file_id *id, uint32_t type);

/* The number of what is known under a name; 0: nothing is. */
uint64_t ward_nodes_number(struct ward_nodes *nodes, struct ward_node *parent, const char *name);

/* One of a node's names; parent is pinned until ward_place_put(). */
struct ward_place {
	struct ward_node *parent; /* NULL: the node is the root */
	char name[NAME_MAX + 1];
};
/* The i-th live name. -ENOENT: there are not that many. */
int ward_node_place(struct ward_nodes *nodes, struct ward_node *node, size_t i,
	struct ward_place *ret) ward_must_check;
/* The same for the live names from the i-th on, at most max of them; returns how many. Not the
 * root's. */
size_t ward_node_places(struct ward_nodes *nodes, struct ward_node *node, size_t i,
	struct ward_place *ret, size_t max);
void ward_place_put(struct ward_nodes *nodes, struct ward_place *place);

/* The states of all names of a node: references, given back by ward_states_put(). */
struct ward_states {
	const struct ward_state *v[WARD_NODE_STATES_MAX];
	size_t n;	/* at least 1 */
	size_t n_names; /* live names */
};
int ward_node_states(
	struct ward_nodes *nodes, struct ward_node *node, struct ward_states *ret) ward_must_check;
/* The same, locked. */
int ward_node_states_locked(
	struct ward_nodes *nodes, struct ward_node *node, struct ward_states *ret) ward_must_check;
void ward_states_put(struct ward_nodes *nodes, struct ward_states *states);
/* The state of a child's name, a reference of the caller's. -EINVAL (bad name), -ENOMEM. */
int ward_node_child_state(struct ward_nodes *nodes, struct ward_node *parent, const char *name,
	const struct ward_state **ret) ward_must_check;
/* The same, locked. */
int ward_node_child_state_locked(struct ward_nodes *nodes, struct ward_node *parent,
	const char *name, const struct ward_state **ret) ward_must_check;

/* Locked: have these two names one state? What lies beneath has one then, too. */
bool ward_nodes_same_state(struct ward_nodes *nodes, struct ward_node *parent, const char *name,
	struct ward_node *parent2, const char *name2);

/*
 * Locked: from now on states are those of policy. root (taken) is the state of the tree's root.
 * Names find theirs again when they are asked. Returns the old root's state, the caller's. Until
 * ward_nodes_sweep() is done the old policy must live.
 */
const struct ward_state *ward_nodes_set_policy(
	struct ward_nodes *nodes, struct ward_policy *policy, const struct ward_state *root);
/* Gives back the states that names still have from before. Takes the lock again and again. */
void ward_nodes_sweep(struct ward_nodes *nodes);

/*
 * The sandbox path of node, or of its child name if that is not NULL, as NUL-terminated bytes. A
 * path that does not fit has its beginning cut and starts with "..." (any other with '/'). Returns
 * its first byte within buf. Of several names of node, the one known longest.
 */
#define WARD_NODE_PATH_MAX (PATH_MAX + NAME_MAX)
const char *ward_node_path(struct ward_nodes *nodes, struct ward_node *node, const char *name,
	char buf[WARD_NODE_PATH_MAX], size_t *ret_len);

/*
 * The same by the newest name of a node that has several: *ret_n of them. NULL: there is one at
 * most.
 */
const char *ward_node_newest_path(struct ward_nodes *nodes, struct ward_node *node,
	char buf[WARD_NODE_PATH_MAX], size_t *ret_len, size_t *ret_n);

/* Locked: the first live name, NULL for the root and for ghosts. */
struct ward_name *ward_node_first_name(const struct ward_node *node);
/* Locked: looks a bound name up. */
struct ward_name *ward_nodes_find(const struct ward_nodes *nodes, const struct ward_node *parent,
	const char *name, size_t len);
