/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One connection of a supervisor to wardfs-auditd, in a process of its own: what the supervisor
 * does with its own trail (session/guard/guard.h) is done here, out of the reach of whom the trail
 * is about. The writer is the same wardfs-audit; it gets no word from the other side but "finish".
 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

struct ward_keeper {
	int conn;	   /* SOCK_SEQPACKET, from accept(2); borrowed */
	uid_t uid;	   /* of who connected (SO_PEERCRED): whose trails these are */
	const char *top;   /* WARD_SYSTEM_STATE */
	uint64_t keep_min; /* seconds: no trail is kept for less, whatever its policy says */
};

/* Serves the connection until it ends. Returns an exit status: 0, 1 if something failed (stderr).
 */
int ward_keeper_serve(const struct ward_keeper *k);
