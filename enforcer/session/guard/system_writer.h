/* SPDX-License-Identifier: Apache-2.0 */
/*
 * [audit] writer = system: the trail is wardfs-auditd's, which runs under a uid of its own
 * (ipc/system.h). guard.h has everything else; what it does with a trail of its own, these do by a
 * socket. There is no way back to an own trail: without wardfs-auditd nothing starts.
 */
#pragma once

#include "enforcer/session/guard/guard.h"

/*
 * Connects, and asks for a trail with g's settings and policy. state: the caller's own state
 * directory, for the key of tokens. g->store gets name and checkpoints_fd. -ECONNREFUSED and
 * -ENOENT: nobody listens; -EPERM: somebody who is not root does.
 */
int ward_system_open(struct ward_guard *g, const char *state, const char *name,
	struct ward_err *err) ward_must_check;
/* Hands over the rings; g->audit is then the writer, its READY still to come. */
int ward_system_start(struct ward_guard *g, struct ward_err *err) ward_must_check;
/* The writer died: another one ends the trail. */
int ward_system_recover(struct ward_guard *g, struct ward_err *err) ward_must_check;
/* As ward_guard_add_policy(); policy NULL: as ward_guard_drop_policy(). */
int ward_system_policy(struct ward_guard *g, unsigned n, const void *policy, size_t len,
	struct ward_err *err) ward_must_check;
/* Records in the ledger that somebody reads the trail of the caller's session. */
int ward_system_note_read(const char *session, const char *verb, const char *question,
	struct ward_err *err) ward_must_check;
/* 0 where the system's writer takes a connection, which ends at once. */
int ward_system_reach(struct ward_err *err) ward_must_check;
