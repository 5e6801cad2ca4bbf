/* SPDX-License-Identifier: Apache-2.0 */
/* The socket to the replayer; the messages are enforcer/ipc/replay.h's. One thread alone. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "enforcer/ipc/msg.h"
#include "enforcer/ipc/replay.h"

struct ward_replay_channel {
	int sock;
	int stop; /* an eventfd: readable when nothing is waited for any more */
};

/* Inodes that somebody inside watches. */
struct ward_replay_watched {
	bool all;
	bool closes; /* somebody waits for files to be closed */
	uint32_t n;
	uint64_t v[WARD_REPLAY_INODES]; /* ascending */
};

/*
 * Waits for HELLO. Returns who the kernel says it is, in our pid namespace, or a negative errno:
 * -EPIPE (nobody is there any more), -EBADMSG, -ECANCELED (stop). The same for those below.
 */
pid_t ward_replay_hear(const struct ward_replay_channel *c) ward_must_check;
int ward_replay_ask(
	const struct ward_replay_channel *c, struct ward_replay_watched *ret) ward_must_check;
bool ward_replay_is_watched(const struct ward_replay_watched *w, uint64_t inode);
/* Has the operations of m made. */
int ward_replay_make(const struct ward_replay_channel *c, const struct ward_msg *m) ward_must_check;
