/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a command without a network has looked for one. Nobody is asked there, so nothing is
 * refused and nothing recorded: the kernel counts, in the network namespace, what had no way out
 * (OutNoRoutes) and what asked a name server that does not exist (NoPorts).
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/* The counters of the namespace that process pid is in, for as long as the descriptor is open; -1:
 * none. */
int ward_offline_open(pid_t pid);
/* Anything counted? Of -1: no. */
bool ward_offline_looked(int fd);
