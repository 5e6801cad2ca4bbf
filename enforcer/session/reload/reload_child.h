/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The child of a reload: what takes time, or may hang. Talks to its parent over a SOCK_SEQPACKET
 * socket, by messages of ipc/msg.h, and ends when that is closed.
 */
#pragma once

#include "enforcer/session/reload/reload.h"

enum ward_reload_msg {
	/* From the child: str notes (lines), with one descriptor: a sealed memfd of
	 * ward_policy_encode(). */
	WARD_RELOAD_LOADED = 100,
	/* From the child, and it ends: u32 exit status, str text. */
	WARD_RELOAD_FAILED = 101,
	/* To the child: u32 n (<= WARD_RELOAD_REVOKE_MAX), n times u32 tree, u64 number. */
	WARD_RELOAD_REVOKE = 102,
	/* Its answer: u32 how many failed, str why the first did. */
	WARD_RELOAD_REVOKED = 103,
};
/* As many as wardfs-fs names at once (fs/fs_query.h). */
#define WARD_RELOAD_REVOKE_MAX 512U

/* In the forked child: never returns. base: the client's descriptor. */
_Noreturn void ward_reload_child(const struct ward_reload *r, int sock, int base);
