/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the supervisor starts its helpers: fork, exec, descriptors on fixed numbers, one
 * configuration message, "ready". The messages of each helper stand here, field by field, in order.
 *
 * A helper: 1. takes its numbers below, 2. receives WARD_MSG_CONFIG on WARD_FD_CONTROL, 3. confines
 * itself (before it reads anything that the agent or the project can shape), 4. answers
 * WARD_MSG_READY, or WARD_MSG_FAILED {str text} and exits. End of file on WARD_FD_CONTROL means
 * that the supervisor is gone: the helper finishes what is owed and exits.
 */
#pragma once

/* Descriptor numbers at exec. 0 is /dev/null; 1 and 2 are the supervisor's stderr. */
enum ward_fd_number {
	WARD_FD_CONTROL = 3, /* SOCK_SEQPACKET to the supervisor */
	WARD_FD_LIFELINE =
		4,	    /* write end of a pipe; pid 1 of the sandbox ends all when it closes */
	WARD_FD_POLICY = 5, /* sealed memfd: ward_policy_encode() */

	/* producers of records (the file system) */
	WARD_FD_RING = 6,      /* the ring's memfd */
	WARD_FD_RING_WAKE = 7, /* eventfd that wakes the writer */

	/* wardfs-fs: for tree i */
	WARD_FD_FS_TREES =
		16, /* 16+2i: /dev/fuse, mounted; 17+2i: O_PATH directory of the backing */

	/* wardfs-audit */
	WARD_FD_AUDIT_LOG = 8,		/* the trail, O_RDWR|O_APPEND */
	WARD_FD_AUDIT_LEDGER = 9,	/* the host's ledger, O_RDWR|O_APPEND */
	WARD_FD_AUDIT_KEY = 10,		/* the root key, O_RDONLY; closed once derived from */
	WARD_FD_AUDIT_SIGN = 11,	/* the signing key's seed, O_RDONLY; closed once read */
	WARD_FD_AUDIT_CHECKPOINTS = 12, /* the checkpoints, O_RDWR|O_APPEND */
	WARD_FD_AUDIT_RINGS = 16, /* 16+i: memfd of ring i; all rings share WARD_FD_RING_WAKE */
};
/* Trees of one session; bounds the numbers above. */
#define WARD_TREES_MAX 8
#define WARD_RINGS_MAX 8

enum ward_msg_type {
	WARD_MSG_NONE = 0,
	WARD_MSG_CONFIG = 1,
	WARD_MSG_READY = 2,
	WARD_MSG_FAILED = 3, /* str text */

	/*
	 * To wardfs-audit: producers are done, drain, write the end record and the ledger. {}
	 * Its answer WARD_MSG_AUDIT_SUMMARY: u64 records, u64 refusals, u32 n (<= 3), then n times:
	 * str verdict, str action or kind, str path (escaped), str rule ("FILE:LINE" or "default").
	 */
	WARD_MSG_AUDIT_FINISH = 16,
	WARD_MSG_AUDIT_SUMMARY = 17,
	/* From wardfs-audit: the log cannot be written. str text. on-failure decides what follows.
	 */
	WARD_MSG_AUDIT_BROKEN = 18,

	/* To wardfs-fs: stop serving after the mount is gone. {} */
	WARD_MSG_FS_STOP = 32,
};

/*
 * WARD_MSG_CONFIG to wardfs-fs:
 *   str session
 *   u32 flags            set of ward_fs_flag
 *   u32 uid, u32 gid     the owner on the host: what the daemon acts as
 *   u32 n; n × u32       the owner's supplementary groups
 *   u32 uid, u32 gid     the agent's ids as it sees itself; where they differ from the owner's,
 *                        the guard maps ownership both ways
 *   u32 n; n × str       per tree: its sandbox path (numbers as WARD_FD_FS_TREES)
 *   u32 wake             how requests wake us: set of 0 auto, else ward_fs_wake
 *
 * WARD_MSG_CONFIG to wardfs-audit:
 *   str session
 *   u32 n_rings          descriptors from WARD_FD_AUDIT_RINGS
 *   u32 flags            set of ward_audit_flag
 *   str cause            recovery only: why the first writer died; else ""
 *   u32 sync             enum ward_audit_sync
 *   u64 records          a checkpoint after so many; 0: default
 *   u64 ms               or this long after a record; 0: default
 */
enum ward_fs_flag {
	WARD_FS_ROOT = 1U << 0,	       /* started by root: drop to the owner, keep CAP_SYS_ADMIN */
	WARD_FS_PASSTHROUGH = 1U << 1, /* try passthrough (root only); cached I/O where refused */
	WARD_FS_ALLOW_OTHER = 1U << 2, /* `mount --allow-other`: act with each caller's ids */
	WARD_FS_MASK_IDS = 1U << 3,    /* rootless: show every foreign id as the owner's */
};

enum ward_audit_flag {
	WARD_AUDIT_RECOVER = 1U << 0, /* a second writer after the first one's death */
};
