/* SPDX-License-Identifier: Apache-2.0 */
/*
 * On which port of its own network a command listens that no [network] publish leads to. A
 * development server prints its address, and the user's browser finds nothing there. Three looks at
 * /proc/PID/net/tcp and tcp6 in the first minute; what listened before the command, and ports that
 * the kernel chose, do not count.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "enforcer/session/plan/network.h"

#define WARD_LISTENED_BEFORE_MAX 16
struct ward_listened {
	int fds[2];	  /* tcp, tcp6; -1: not looked at */
	uint64_t next_ns; /* CLOCK_MONOTONIC; UINT64_MAX: no further look */
	unsigned look;
	unsigned before[WARD_LISTENED_BEFORE_MAX]; /* ports */
	unsigned n_before;
	unsigned port; /* the lowest at the last look; 0: none */
};
#define WARD_LISTENED_INIT ((struct ward_listened){.fds = {-1, -1}, .next_ns = UINT64_MAX})

/*
 * Process pid is in the network namespace, and the command has not started yet. empty: nothing can
 * listen there before the command, so that there is nothing to read. The kernel walks its whole
 * table of connections for it: milliseconds on a machine with much memory.
 */
void ward_listened_open(struct ward_listened *l, pid_t pid, bool empty);
/* Milliseconds until it wants to look; -1: never. */
int ward_listened_timeout(const struct ward_listened *l);
/* In each round. */
void ward_listened_tick(struct ward_listened *l, const struct ward_network *n);
void ward_listened_close(struct ward_listened *l);
