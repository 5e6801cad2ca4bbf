/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One connection of wardfs-hostd --groups: control groups for one session of one user. They are
 * there before the first message is read, and are removed with the connection, whatever is left
 * inside. All files of groups belong to the service: the user reads them.
 */
#pragma once

#include <stdint.h>
#include <sys/socket.h>

/* What one user may have altogether. */
struct ward_host_groups {
	uint64_t memory;    /* bytes */
	uint64_t processes; /* and threads */
};

/* Until the connection ends or says something that is not valid. Returns the exit status. */
int ward_host_keeper_serve(const struct ward_host_groups *g, int conn, const struct ucred *peer);
