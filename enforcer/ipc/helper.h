/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the supervisor starts its helpers: fork, exec, descriptors on fixed numbers, one
 * configuration message, "ready". The messages of each helper stand here, field by field, in order.
 *
 * A helper: 1. takes its numbers below, 2. receives WARD_MSG_CONFIG on WARD_FD_CONTROL, 3. confines
 * itself (before it reads anything that the agent or the project can shape), 4. answers
 * WARD_MSG_READY {wardfs-fs: str how requests reach it; wardfs-net: str what is published
 * (ward_ports_published()); others nothing}, or WARD_MSG_FAILED {str text} and
 * exits. End of file on WARD_FD_CONTROL means that the supervisor is gone: the helper finishes what
 * is owed and exits.
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

	/* wardfs-fs, with WARD_FS_MOVES: the file of fs/base/shared_moves.h, O_RDWR */
	WARD_FD_FS_MOVES = 8,
	/* wardfs-fs, with WARD_FS_REVIEW: the directory for what is staged, O_PATH, the owner's */
	WARD_FD_FS_REVIEW = 9,
	/* wardfs-fs, with WARD_FS_HOST: connected to wardfs-hostd (ipc/host.h) */
	WARD_FD_FS_HOST = 10,

	/* started early, until it has the other numbers (early.h) */
	WARD_FD_EARLY = 15,

	/* wardfs-fs: for tree i */
	WARD_FD_FS_TREES = 16, /* 16+2i: /dev/fuse, mounted (or with the configuration);
				* 17+2i: O_PATH directory of the backing */

	/* wardfs-net */
	WARD_FD_NET_SOCKETS = 16, /* 16+i: listens for socket i of the configuration */

	/* wardfs-audit */
	WARD_FD_AUDIT_LOG = 8,		/* the trail, O_RDWR|O_APPEND */
	WARD_FD_AUDIT_LEDGER = 9,	/* the host's ledger, O_RDWR|O_APPEND */
	WARD_FD_AUDIT_KEY = 10,		/* the root key, O_RDONLY; closed once derived from */
	WARD_FD_AUDIT_SIGN = 11,	/* the signing key's seed, O_RDONLY; closed once read */
	WARD_FD_AUDIT_CHECKPOINTS = 12, /* the checkpoints, O_RDWR|O_APPEND */
	WARD_FD_AUDIT_PACKED =
		12, /* WARD_AUDIT_PACK: the compressed segment, O_RDWR; the plain one is LOG */
	WARD_FD_AUDIT_LEDGER_CHECKPOINTS = 13, /* the ledger's, O_RDWR|O_APPEND */
	WARD_FD_AUDIT_LEDGER_TREE = 14,	       /* what is remembered of its tree, O_RDWR */
	WARD_FD_AUDIT_RINGS = 16, /* 16+i: memfd of ring i; all rings share WARD_FD_RING_WAKE */
};
/* Trees of a policy, and with that of single files those of a session, which bounds the numbers
 * above. */
#define WARD_POLICY_TREES_MAX 8
#define WARD_TREES_MAX (WARD_POLICY_TREES_MAX + 1)
/*
 * Bytes of the journal of a review session (fs/review/journal.h): a million new files. Whoever
 * reads it has several times as much in memory, and nobody counts that for the session.
 */
#define WARD_REVIEW_JOURNAL_MAX (64ULL << 20)
/*
 * Where a kept home is seen ([home] mode = project). Not the owner's own path: nothing may stand
 * beneath a tree that comes and goes, and the project and the tool chains do stand beneath that.
 */
#define WARD_HOME_PATH "/agent-home"
#define WARD_RINGS_MAX 8
/* [network] socket, of one session; the same. */
#define WARD_NET_SOCKETS_MAX 16

/* Exit status of a helper that could not have its descriptors on their numbers: it says nothing. */
#define WARD_HELPER_NO_FDS 124

enum ward_msg_type {
	WARD_MSG_NONE = 0,
	WARD_MSG_CONFIG = 1,
	WARD_MSG_READY = 2,
	WARD_MSG_FAILED = 3, /* str text */
	/* To a helper that was started early, on WARD_FD_EARLY, once: u32 n, then n × u32: the
	 * numbers that the n descriptors beside are to have. Not answered. */
	WARD_MSG_FDS = 4,

	/*
	 * To wardfs-audit: producers are done, drain, write the end record and the ledger. {}
	 * Its answer WARD_MSG_AUDIT_SUMMARY: u64 records, u64 refusals, u64 expected ones
	 * of them, str path (escaped) of the first expected look at a hidden name or "", str
	 * (escaped) the first allowed connection that failed and why or "", u32 n (<= 3), then n
	 * times:
	 * str verdict, str action or kind, str path (escaped), str rule ("FILE:LINE" or "default").
	 */
	WARD_MSG_AUDIT_FINISH = 16,
	WARD_MSG_AUDIT_SUMMARY = 17,
	/*
	 * From wardfs-audit: the log is as long as a segment shall be. {} Its answer is the same
	 * with u32 number and one descriptor, the next segment (audit/log/segments.h); without:
	 * there is none.
	 */
	WARD_MSG_AUDIT_SEGMENT = 19,
	/* From wardfs-audit: segment u32 number is begun, and on disk. */
	WARD_MSG_AUDIT_BEGUN = 20,
	/* From wardfs-audit: the log cannot be written. str text. on-failure decides what follows.
	 */
	WARD_MSG_AUDIT_BROKEN = 18,
	/*
	 * From wardfs-audit: many refusals in a short time. u64 how many, u64 in how many seconds
	 * at most, u64 of the session so far. Told when it begins, and again where all have
	 * doubled.
	 */
	WARD_MSG_AUDIT_BURST = 21,

	/* To wardfs-audit that was told to wait (WARD_AUDIT_WAIT): the session is on disk, write.
	 * {} Sent by another thread than the configuration: it may come first. Not answered. */
	WARD_MSG_AUDIT_BEGIN = 22,

	/* To wardfs-fs: stop serving after the mount is gone. {} */
	WARD_MSG_FS_STOP = 32,
	/*
	 * To wardfs-fs: what do you know about this? u32 what (enum ward_fs_query). Each is
	 * answered by one WARD_MSG_FS_ANSWER {str json}, a JSON object of at most
	 * WARD_FS_ANSWER_MAX bytes; {"error": text} where there is no answer. The supervisor has
	 * one question under way at a time and never waits for it.
	 */
	WARD_MSG_FS_QUERY = 33,
	WARD_MSG_FS_ANSWER = 34,
	/*
	 * To wardfs-fs: this policy from now on. {}, and one descriptor: a sealed memfd of
	 * ward_policy_encode(). Answered by WARD_MSG_FS_ANSWER: {"ok":true, "mono":ns, …} as
	 * fs/fs_query.h says, or {"error": text}: then the old one is in force as before.
	 */
	WARD_MSG_FS_POLICY = 35,
	/*
	 * From wardfs-fs, last: with the last process inside the mounts are gone, and nothing is
	 * under way. Where there are quotas; str json as WARD_FS_QUERY_QUOTA answers.
	 */
	WARD_MSG_FS_ENDED = 36,

	/* To wardfs-fs, once at most: this socket leads to the replayer (ipc/replay.h). {}, and one
	 * descriptor. Not answered. */
	WARD_MSG_FS_REPLAY = 37,

	/*
	 * To wardfs-fs: this grant from now on (policy/grants.h: ward_grant_put()). Answered by
	 * WARD_MSG_FS_ANSWER: {"ok":true,"forgotten":BOOL}, when it is in force and the kernel has
	 * forgotten what it was told without it; or {"error": text}.
	 */
	WARD_MSG_FS_GRANT = 38,
	/* To wardfs-fs: not any more. str id. Answered the same way: nothing is read or written
	 * under it from then on. {"error": text}: it had ended before. */
	WARD_MSG_FS_REVOKE = 39,
	/*
	 * From wardfs-fs: a person is to decide (`ask`). u32 id (base/question_id.h); u32 which of
	 * its paths, 0: the first (the next one joins the question); u64 until when
	 * (CLOCK_MONOTONIC) requests wait for the answer, 0: none waits; u64 until when the
	 * question stays; u32 thread, u32 process (0: not known) and u32 uid that ask; u32 rights;
	 * str action; bytes path; bytes second path or ""; u64 dev, u64 ino of what exists there,
	 * 0: nothing does; str rule ("FILE:LINE" or "default"); str its text; u32 its source. The
	 * same id again: now a request waits. Not answered; it never waits for room.
	 */
	WARD_MSG_FS_ASK = 40,
	/* To wardfs-fs: u32 id of a question that has ended, 0: decide all again; u32 how many of
	 * its paths that is about, the first ones; u32 1: refused; u32 ms for which those are not
	 * asked about again then. Not answered. */
	WARD_MSG_FS_ASK_END = 41,
	/* To wardfs-fs, before the grant that answers a question: u32 id; u32 which of its paths;
	 * u32 1: for whatever it covers, 0: of what exists for the object that was asked about
	 * alone; str the grant's id. Not answered. */
	WARD_MSG_FS_ASK_BIND = 42,
	/* To wardfs-fs: u32 1: the host is about to sleep, 0: it is awake again. Answered by
	 * WARD_MSG_FS_ANSWER {"ok":true}, when no request waits for a person any more; from then on
	 * until the host is awake none does. */
	WARD_MSG_FS_SLEEP = 43,

	/*
	 * To wardfs-fs that stages changes: steps. u32 what (enum ward_fs_step); u32 uid who asks;
	 * str name of the new step ("": none), or number or name of the one to go back to. Answered
	 * by WARD_MSG_FS_ANSWER, as fs/fs_steps.c says it.
	 */
	WARD_MSG_FS_STEP = 44,
	/* To wardfs-fs that stages changes, where the session has a group of cgroup v2: u32 which
	 * (enum ward_freezer), and one descriptor. Not answered. */
	WARD_MSG_FS_FREEZER = 45,

	/*
	 * Between a supervisor and wardfs-auditd (ipc/system.h). What a connection begins with:
	 *
	 * I want a trail. str session ("": a new name), u32 sync, u64 records, u64 ms, u64 rotate,
	 * u64 keep (as below), and one descriptor: a sealed memfd with the policy's text. Answered
	 * by OPENED {str session} with one descriptor, the checkpoints (O_RDONLY).
	 */
	WARD_MSG_SYSTEM_OPEN = 64,
	WARD_MSG_SYSTEM_OPENED = 65,
	/*
	 * Then, once: write it. {} and WARD_SYSTEM_START_FDS: the rings (ring 0 first), the eventfd
	 * that wakes their reader, the write end of a pipe that is to close with the writer.
	 * Answered by STARTED {u32 pid} with one descriptor, the writer's pidfd, and READY. From
	 * then on wardfs-auditd passes on FINISH to the writer, and SUMMARY, BROKEN and BURST from
	 * it; segments are its own.
	 */
	WARD_MSG_SYSTEM_START = 66,
	WARD_MSG_SYSTEM_STARTED = 67,
	/* From wardfs-auditd: the writer died. {} To it: let another one end the trail. {}
	 * Answered by STARTED and READY. */
	WARD_MSG_SYSTEM_DIED = 68,
	WARD_MSG_SYSTEM_RECOVER = 69,
	/* Keep this text as the policy of reload u32 n (from 1), a sealed memfd; without one: drop
	 * it, it did not come into force. Not answered: the text is in the trail as well. */
	WARD_MSG_SYSTEM_POLICY = 70,
	/* In place of OPEN: I read the trail str session, with str verb; session "": I asked all of
	 * them str question. Answered by READY. */
	WARD_MSG_SYSTEM_READ = 71,

	/*
	 * To wardfs-hostd (ipc/host.h), any number of times. Register this file: u32 1: it may be
	 * written to as well, and two descriptors: /dev/fuse, and the file, O_RDWR; or u32 0: it
	 * may be read only, and three: /dev/fuse, the file, O_RDONLY, and the directory above it
	 * from which it is found again. Answered by HOST_OPENED {u32 id, u32 errno}: id 0: not
	 * registered.
	 */
	WARD_MSG_HOST_OPEN = 72,
	WARD_MSG_HOST_OPENED = 73,
	/* To it: these are not used any more. u32 n; n × u32 id, and one descriptor: /dev/fuse. Not
	 * answered. */
	WARD_MSG_HOST_CLOSE = 74,
	/* To it: {} and the read end of a pipe, on which each s32 is one that a process would write
	 * to /dev/cpu_dma_latency. Answered by HOST_OPENED, id 1: it is done, until the pipe ends.
	 */
	WARD_MSG_HOST_AWAKE = 75,

	/*
	 * To wardfs-net: this policy from now on. {}, and one descriptor as above. Not answered:
	 * a broker that cannot have it ends, and the session with it.
	 */
	WARD_MSG_NET_POLICY = 48,
	/* To wardfs-net: a grant of a host from now on (ward_grant_put()), or no more (str id). Not
	 * answered, as NET_POLICY. */
	WARD_MSG_NET_GRANT = 51,
	WARD_MSG_NET_REVOKE = 52,
	/* From wardfs-net: a grant was used, or its uses are spent. str id, u32 used so far. */
	WARD_MSG_NET_USED = 53,
	/* From wardfs-net and to it: as WARD_MSG_FS_ASK and WARD_MSG_FS_ASK_END, of a connection.
	 * Its first path is HOST:PORT, and it has no rights. Ids are odd, those of wardfs-fs even.
	 */
	WARD_MSG_NET_ASK = 54,
	WARD_MSG_NET_ASK_END = 55,
	/*
	 * To wardfs-net, once, after the configuration: the sandbox is there. u32 pid of its pid 1,
	 * in the host's pid namespace, with two descriptors: its user and its network namespace,
	 * closed once joined. The answer is READY or FAILED; FAILED may come before it.
	 */
	WARD_MSG_NET_WIRE = 49,
	/* From wardfs-net, last, when our end was shut: all its records are in the ring. {} */
	WARD_MSG_NET_ENDED = 50,

	/*
	 * To wardfs-screen, which has no configuration but its first message. None is answered at
	 * once; what it says comes in the order in which it was told.
	 *
	 * The window: u32 rows, u32 columns.
	 */
	WARD_MSG_SCREEN_SIZE = 80,
	/* What the program wrote: bytes, at most WARD_SCREEN_PIECE. */
	WARD_MSG_SCREEN_WROTE = 81,
	/*
	 * u32 who, u32 first: draw all for them (screen/picture.h). Answered by PICTURES. From then
	 * on WROTE is answered by SHOWN, until QUIET {}. who 0 is the supervisor itself.
	 */
	WARD_MSG_SCREEN_DRAW = 82,
	WARD_MSG_SCREEN_QUIET = 83,
	/* {} How does a terminal that showed it get back? Answered by one PICTURE, who 0. */
	WARD_MSG_SCREEN_UNDO = 84,
	/* u32 who, u32 set of ward_screen_flag, bytes: a part of a drawing. */
	WARD_MSG_SCREEN_PICTURE = 85,
	/* u32 flags as above, bytes: whole pieces of what the program wrote, without questions. */
	WARD_MSG_SCREEN_SHOWN = 86,
	/* bytes: a question of the program's to its terminal; bytes: the answer, if nobody else
	 * gives one. */
	WARD_MSG_SCREEN_ASKED = 87,
};

enum ward_screen_flag {
	WARD_SCREEN_LAST = 1U << 0, /* the last part */
	/* Part of a long string: useless to a client that did not see its beginning. Of the last
	 * part of a picture: such a string is under way. */
	WARD_SCREEN_WITHIN = 1U << 1,
};
/* Of WROTE, SHOWN and PICTURE. */
#define WARD_SCREEN_PIECE (16U << 10)

/* What wardfs-fs can be asked for. A new one: a number here, a function in the table of wardfs-fs
 * that answers, and a verb in the table of the supervisor that asks. */
enum ward_fs_query {
	WARD_FS_QUERY_NONE = 0,
	WARD_FS_QUERY_IO = 1,	   /* open files, and how each is read and written */
	WARD_FS_QUERY_QUOTA = 2,   /* what of the quotas is in use */
	WARD_FS_QUERY_WATCH = 4,   /* how far the backings are watched */
	WARD_FS_QUERY_RETIRED = 3, /* inodes that are to go bad in the kernel */
	WARD_FS_QUERY_GRANTS = 5,  /* {"grants":[[ID, used, end]…]} of those that are not gone */
};
/* What is asked about steps (WARD_MSG_FS_STEP). */
enum ward_fs_step {
	WARD_FS_STEP_NONE = 0,
	WARD_FS_STEP_LIST,
	WARD_FS_STEP_MARK,
	WARD_FS_STEP_BACK,
	WARD_FS_STEP_EXEC, /* a mark, for a command that is about to start */
};
/* Leaves room for the head and the length in WARD_MSG_MAX. */
#define WARD_FS_ANSWER_MAX (60U << 10)

/*
 * WARD_MSG_CONFIG to wardfs-fs:
 *   str session
 *   u32 flags            set of ward_fs_flag
 *   u32 uid, u32 gid     the owner on the host: what the daemon acts as
 *   u32 n; n × u32       the owner's supplementary groups
 *   u32 uid, u32 gid     the agent's ids as it sees itself; where they differ from the owner's,
 *                        the guard maps ownership both ways
 *   u32 n; n × tree      (numbers as WARD_FD_FS_TREES) str its sandbox path; u32 set of other
 *                        trees' bits (fs.h: elsewhere); u32 enum ward_fs_tree_kind
 *   u32 wake             how requests wake us: set of 0 auto, else ward_fs_wake
 *   str via              record member `via` of what comes from inside; "": none
 *
 * WARD_MSG_CONFIG to wardfs-net, which prepares itself while the sandbox is made:
 *   str session
 *   u32 flags            set of ward_net_flag
 *   u32 uid, u32 gid     the owner on the host: what the broker acts as
 *   u32 n; n × u32       the owner's supplementary groups
 *   str grant            [network] identify: what tokens begin with (net/protocol/token.h); "":
 *                        none
 *   bytes seed           of the key in it, 32 bytes; none without a grant
 *   u32 n; n × str       [network] socket: paths of the host (numbers as WARD_FD_NET_SOCKETS)
 *   str via              as above
 *
 * WARD_MSG_CONFIG to wardfs-audit:
 *   str session
 *   u32 n_rings          descriptors from WARD_FD_AUDIT_RINGS
 *   u32 flags            set of ward_audit_flag
 *   str cause            recovery only: why the first writer died; else ""
 *   u32 sync             enum ward_audit_sync
 *   u64 records          a checkpoint after so many; 0: default
 *   u64 ms               or this long after a record; 0: default
 *   u64 rotate           bytes of a segment; 0: the log is one
 *   u64 keep             how many seconds to keep the trail
 */
enum ward_fs_tree_kind {
	WARD_FS_TREE_DIRECTORY = 0, /* a directory of the host, or a tmpfs */
	WARD_FS_TREE_FILES,	    /* single files of the host, mounted on a tmpfs */
	WARD_FS_TREE_STAGED,	    /* a directory whose changes are staged (WARD_FS_REVIEW) */
};

/* Files of the session's group in cgroup v2: cgroup.freeze (O_WRONLY), cgroup.events (O_RDONLY). */
enum ward_freezer { WARD_FREEZER_FREEZE = 0, WARD_FREEZER_EVENTS, WARD_FREEZER_FILES };

enum ward_fs_flag {
	WARD_FS_ROOT = 1U << 0,	       /* started by root: drop to the owner, keep CAP_SYS_ADMIN */
	WARD_FS_PASSTHROUGH = 1U << 1, /* try passthrough (root only); cached I/O where refused */
	WARD_FS_ALLOW_OTHER = 1U << 2, /* many users: act with each caller's ids */
	WARD_FS_MASK_IDS = 1U << 3,    /* rootless: show every foreign id as the owner's */
	WARD_FS_MOVES = 1U << 4,       /* wait for other sessions of the owner */
	WARD_FS_REVIEW = 1U << 5,      /* stage changes of directories (fs/review/review.h) */
	WARD_FS_HOST = 1U << 6,	       /* passthrough as an ordinary user, by wardfs-hostd */
	WARD_FS_SETUID = 1U << 7,      /* callers are users of the host: their setuid bits stay */
};

enum ward_net_flag {
	WARD_NET_ROOT = 1U << 0, /* started by root: become the owner */
};

enum ward_audit_flag {
	WARD_AUDIT_RECOVER = 1U << 0, /* a second writer after the first one's death */
	WARD_AUDIT_PACK = 1U << 1,    /* no writer: compresses a segment, and ends */
	WARD_AUDIT_WAIT = 1U << 2,    /* nothing is written before WARD_MSG_AUDIT_BEGIN */
};
