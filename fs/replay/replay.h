/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Changes by others, replayed inside: each becomes an operation that the replayer makes through the
 * mount, so that the kernel tells watchers there (inotify(7)). Here are the queue, the thread that
 * has them made, and the tickets by which requests of the replayer are known. ops_replay.c answers
 * those.
 *
 * A ticket gives no right: whatever the replayer asks for, nothing is changed. It says which of its
 * requests succeed, and so which event the kernel makes.
 */
#pragma once

#include "enforcer/ipc/replay.h"
#include "fs/node/node.h"

struct ward_replay;

/* -ENOMEM, -EMFILE. Nothing is replayed before ward_replay_reach(). The trees must outlive it. */
int ward_replay_new(struct ward_fs *fs, struct ward_replay **ret) ward_must_check;
/* Ends the thread, which may wait for nothing but the replayer; then nothing is taken any more. */
void ward_replay_end(struct ward_replay *r);
void ward_replay_free(struct ward_replay *r);
/* This socket leads to the replayer; taken. Once. */
void ward_replay_reach(struct ward_replay *r, int sock);

/* Is somebody inside who could replay? */
bool ward_replay_on(const struct ward_fs *fs);

/*
 * Directory dir has, by others, such a change of name ("." for ATTRIB: of itself). type: S_IFMT
 * bits of what is or was there; ino: its inode number, 0: not known; gone: of REMOVE, the number of
 * the node that was there, 0: none. Left out where the agent may not see it. Takes the turn of a
 * request; no lock may be held.
 */
struct ward_replay_change {
	enum ward_replay_kind kind;
	mode_t type;
	uint64_t ino, gone;
};
void ward_replay_put(struct ward_fs_tree *tree, struct ward_node *dir, const char *name,
	const struct ward_replay_change *c);
/* Changes were lost: any directory may have changed. */
void ward_replay_lost(struct ward_fs_tree *tree);

/* --- for its requests --- */

/* Is a request of this pid the replayer's? */
bool ward_replay_asks(const struct ward_fs *fs, uint32_t pid);

/* The number of a node that stands for nothing: never in the tables. */
#define WARD_REPLAY_STANDIN UINT64_C(0xffffffff)
static inline bool ward_replay_is_standin(uint64_t number)
{
	return (uint32_t)number == WARD_REPLAY_STANDIN;
}

/* How a LOOKUP of the replayer is answered. */
enum ward_replay_look {
	WARD_REPLAY_LOOK_PLAIN = 0, /* as anybody's */
	WARD_REPLAY_LOOK_ABSENT,    /* there is nothing: it is about to be created */
	WARD_REPLAY_LOOK_STANDIN,   /* it is about to be removed */
};
/* What is said to stand there then. */
struct ward_replay_standin {
	mode_t type;
	uint64_t number; /* of a node that stands for nothing */
	uint64_t gone;	 /* of the node that was there, 0: none */
};
enum ward_replay_look ward_replay_look(const struct ward_fs_tree *tree, uint64_t dir,
	const char *name, struct ward_replay_standin *ret);
/*
 * Is an operation on this name under way? Then the kernel must not cache answers about it, or the
 * kernel would not ask for the replayer.
 */
bool ward_replay_is_made(const struct ward_fs_tree *tree, uint64_t dir, const char *name);
/*
 * May this CREATE or REMOVE of what was looked up before succeed? The ticket is used up. type: what
 * CREATE makes.
 */
bool ward_replay_take(const struct ward_fs_tree *tree, uint64_t dir, const char *name,
	enum ward_replay_kind kind, mode_t type);
/* The same of MODIFY or ATTRIB (closes false), or of CLOSE, of the node with that number. */
bool ward_replay_take_node(const struct ward_fs_tree *tree, uint64_t number, bool closes);
/* What OPEN for CLOSE gives as the file handle: no handle, and RELEASE of it does nothing. */
#define WARD_REPLAY_FH 0
