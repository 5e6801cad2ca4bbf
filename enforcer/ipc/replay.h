/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What wardfs-fs and the replayer of a session say to each other (enforcer/sandbox/init/replayer.c,
 * fs/replay/). The kernel tells watchers inside (inotify(7)) of operations through the mount alone.
 * So the replayer, a process of ours inside, makes operations that change nothing, and wardfs-fs
 * answers them without the backing.
 *
 * A SOCK_SEQPACKET pair, messages as enforcer/ipc/msg.h has them. wardfs-fs has SO_PASSCRED set on
 * its end: the kernel says which process that is.
 *
 *   replayer  -> wardfs-fs  HELLO {}, first
 *   wardfs-fs -> replayer   ASK {}: which inodes does somebody inside watch?
 *   replayer  -> wardfs-fs  WATCHED {u32 all, u32 closes, bytes: u64 inode numbers as stat(2) has
 *                           them}. all: 1 when there may be others. closes: 1 when somebody may
 *                           wait for IN_CLOSE_WRITE
 *   wardfs-fs -> replayer   MAKE {u32 n, n times: u32 enum ward_replay_kind, u32 S_IFMT bits,
 *                           str directory, str name}
 *   replayer  -> wardfs-fs  MADE {u32 how many succeeded}
 *
 * wardfs-fs says one thing at a time and waits for the answer.
 */
#pragma once

enum ward_replay_message {
	WARD_REPLAY_HELLO = 128,
	WARD_REPLAY_ASK,
	WARD_REPLAY_WATCHED,
	WARD_REPLAY_MAKE,
	WARD_REPLAY_MADE,
};

enum ward_replay_kind {
	WARD_REPLAY_NONE = 0,
	WARD_REPLAY_REMOVE, /* unlinkat(2): IN_DELETE */
	WARD_REPLAY_CREATE, /* mknodat(2), mkdirat(2), symlinkat(2): IN_CREATE */
	WARD_REPLAY_MODIFY, /* utimensat(2) of the time of change: IN_MODIFY */
	WARD_REPLAY_ATTRIB, /* utimensat(2) of both times: IN_ATTRIB. Name ".": the directory */
	WARD_REPLAY_CLOSE,  /* openat2(2) to write, close(2): IN_OPEN, IN_CLOSE_WRITE */
	WARD_REPLAY_KINDS_,
};

/* Operations of one MAKE. */
#define WARD_REPLAY_BATCH 64U
/* Bytes of one MAKE: within WARD_MSG_MAX, with room for one more operation of the longest names. */
#define WARD_REPLAY_BYTES (48U << 10)
/* Inode numbers of one WATCHED. */
#define WARD_REPLAY_INODES 4096U
