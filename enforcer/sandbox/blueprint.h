/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the supervisor tells wardfs-init: one blueprint in a sealed memory file, then a few
 * messages. Private to this folder.
 *
 * The blueprint is data, not a program: wardfs-init knows what each kind of entry means and refuses
 * anything it does not know. It comes from the supervisor, which is trusted, but its strings come
 * from policies; so it is decoded whole, each number is bounded, and trailing bytes are refused.
 *
 * Encoded form (enforcer/ipc/msg.h), type WARD_INIT_BLUEPRINT, fields in the order of struct
 * ward_blueprint; a list is a u32 count, then its members.
 *
 * The conversation on WARD_INIT_FD_CONTROL (SOCK_SEQPACKET):
 *
 *   stage 0 -> supervisor  STAGED {u32 pid of pid 1 in the supervisor's pid namespace}, with one
 *                          descriptor of /dev/fuse a tree, and with WARD_BLUEPRINT_TELLS
 *                          one of the new root (O_PATH); stage 0 then exits
 *   pid 1   -> supervisor  MAPS {}     as root only: the user namespace wants its maps
 *   supervisor -> pid 1    MAPPED {}
 *   pid 1   -> supervisor  NAMESPACES {}   with WARD_BLUEPRINT_WIRE: descriptors of the user and
 *                          the network namespace, in this order
 *   pid 1   -> supervisor  READY {u32 Landlock ABI, u32 set of ward_init_applied}, with the pty's
 *                          controlling side if one was asked for
 *   supervisor -> pid 1    PROBE {}    the trees are served
 *   pid 1   -> supervisor  PROBED {of each probe: u32 number, u32 made, u32 errno, u32 control},
 *                          with the listener of blueprint.exec_filter if there is one
 *   supervisor -> pid 1    GIVE {}     with a description as of EXEC, and the descriptors 0, 1, 2:
 *                          what the command is, in place of what the blueprint says; once at most
 *   supervisor -> pid 1    GO {}
 *   pid 1   -> supervisor  STARTED {}
 *   pid 1   -> supervisor  EVENT {u32 enum ward_sandbox_event_kind, u32 value}
 *   supervisor -> pid 1    SIGNAL {u32 signal}
 *   supervisor -> pid 1    EXEC {u32 id}, with a description and the descriptors 0, 1, 2
 *   pid 1   -> supervisor  EXEC_STARTED {u32 id}, with the pty's controlling side
 *   pid 1   -> supervisor  EXEC_FAILED {u32 id, u32 positive errno, u32 step, str text}
 *   pid 1   -> supervisor  EXEC_ENDED {u32 id, u32 enum ward_sandbox_event_kind, u32 value}
 *   supervisor -> pid 1    EXEC_SIGNAL {u32 id, u32 signal}
 *   any     -> supervisor  FAILED {u32 positive errno, u32 enum ward_init_step, str text}
 *
 * EXEC starts one more command. Its description is a sealed memory file: EXEC {u32 set of
 * descriptors that are a pty, u32 rows, u32 columns, list of str argv, list of str environment,
 * str directory}.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "enforcer/base/buf.h"
#include "enforcer/base/err.h"
#include "enforcer/ipc/helper.h"
#include "enforcer/modes/table/mode.h"

/* Descriptors of wardfs-init at exec. 0, 1, 2 are the command's; a slot the pty fills is null. */
enum ward_init_fd {
	WARD_INIT_FD_CONTROL = 3,
	WARD_INIT_FD_BLUEPRINT = 4,
	WARD_INIT_FD_LIFELINES = 5, /* 5+i */
	WARD_INIT_FD_EXECS = 30,    /* exec_table.h, with WARD_BLUEPRINT_TELLS */
	WARD_INIT_FD_REPLAY =
		31, /* to wardfs-fs (enforcer/ipc/replay.h), with WARD_BLUEPRINT_REPLAY */
	WARD_INIT_FD_TASKS = 32, /* 32+i: tasks of the session's v1 groups, for stage 0 to enter */
};

/* Message types; a range of their own, so that no other helper's message can be taken for one. */
enum ward_init_type {
	WARD_INIT_BLUEPRINT = 64,
	WARD_INIT_STAGED,
	WARD_INIT_MAPS,
	WARD_INIT_MAPPED,
	WARD_INIT_READY,
	WARD_INIT_GO,
	WARD_INIT_STARTED,
	WARD_INIT_EVENT,
	WARD_INIT_SIGNAL,
	WARD_INIT_FAILED,
	WARD_INIT_NAMESPACES,
	WARD_INIT_PROBE,
	WARD_INIT_PROBED,
	WARD_INIT_EXEC,
	WARD_INIT_EXEC_SIGNAL,
	WARD_INIT_EXEC_STARTED,
	WARD_INIT_EXEC_FAILED,
	WARD_INIT_EXEC_ENDED,
	WARD_INIT_GIVE,
};

/* Where a failure happened: only EXEC may become exit code 126 or 127. */
enum ward_init_step { WARD_INIT_SETUP = 0, WARD_INIT_EXEC_STEP };

/* What READY says was applied beyond what every run has. */
enum ward_init_applied {
	WARD_INIT_GROUPS_KEPT = 1U << 0, /* supplementary groups could not be dropped (rootless) */
	WARD_INIT_KEYRING = 1U << 1,	 /* a fresh session keyring; off: kernel without keys */
	WARD_INIT_NO_USERNS = 1U << 2,	 /* user.max_user_namespaces is 0 inside */
	WARD_INIT_SHUT = 1U << 3,	 /* all mounts with WARD_BLUEPRINT_SHUT are shut */
};

/* Bounds of a blueprint; more is a mistake of the caller, not a large session. */
#define WARD_BLUEPRINT_ENTRIES_MAX 1024
#define WARD_BLUEPRINT_GROUPS_MAX 1024
#define WARD_BLUEPRINT_LIFELINES_MAX 16
#define WARD_BLUEPRINT_TASKS_MAX 16
/* Those of enum ward_init_fd. */
#define WARD_INIT_FDS_MAX                                                                          \
	(WARD_INIT_FD_LIFELINES + WARD_BLUEPRINT_LIFELINES_MAX + WARD_BLUEPRINT_TASKS_MAX + 2)
/* execve(2) takes MAX_ARG_STRINGS; its stack limit is reached long before. */
#define WARD_BLUEPRINT_STRINGS_MAX 65536
/* A classic BPF program has at most BPF_MAXINSNS (4096) instructions of eight bytes. */
#define WARD_BLUEPRINT_FILTER_MAX ((size_t)4096 * 8)
#define WARD_BLUEPRINT_BYTES_MAX ((size_t)16 << 20)
/* Commands beside the first at one time. */
#define WARD_BLUEPRINT_EXECS_MAX 16

enum ward_blueprint_kind {
	WARD_BLUEPRINT_NONE = 0,
	WARD_BLUEPRINT_DIR,    /* a directory of the root's tmpfs, `mode` */
	WARD_BLUEPRINT_FILE,   /* a file of the root's tmpfs that holds `text`, `mode` */
	WARD_BLUEPRINT_LINK,   /* a symbolic link to `text` */
	WARD_BLUEPRINT_BIND,   /* host path `text` with all mounts beneath, read-only, nosuid, nodev
				*/
	WARD_BLUEPRINT_HOST,   /* the same as it is, writable where it is */
	WARD_BLUEPRINT_DEVICE, /* host device `text` */
	WARD_BLUEPRINT_SHARED, /* a directory of the tmpfs that /tmp, /var/tmp, /run, /dev/shm
			     share, `mode` */
	WARD_BLUEPRINT_TMPFS,  /* a tmpfs of its own with `mode` */
	WARD_BLUEPRINT_COVER,  /* an empty directory over one of the host's */
	WARD_BLUEPRINT_PTS,    /* a private devpts */
	WARD_BLUEPRINT_TREE,   /* FUSE tree number `mode` */
	WARD_BLUEPRINT_TREE_AT, /* the same tree again */
	/* FUSE tree number `mode`, at `path` for a moment; only files of it show */
	WARD_BLUEPRINT_FILES,
	/* file `text` (absolute) of that tree, read-only, mounted once that is served */
	WARD_BLUEPRINT_TREE_FILE,
	WARD_BLUEPRINT_KINDS_,
};

enum ward_blueprint_entry_flag {
	WARD_BLUEPRINT_OPTIONAL = 1U << 0, /* BIND: left out where the host has no such path */
	WARD_BLUEPRINT_AS_OWNER = 1U
				  << 1, /* BIND: looked up with the owner's rights, also as root */
	WARD_BLUEPRINT_NESTED =
		1U << 2, /* TREE: beneath another one, so mounted once that is served */
	/* BIND, SHARED, TMPFS, TREE, TREE_FILE: nothing in it is executed */
	WARD_BLUEPRINT_NOEXEC = 1U << 3,
	WARD_BLUEPRINT_EXEC =
		1U << 4, /* SHARED, TMPFS, TREE: though WARD_BLUEPRINT_LISTED, all in it may be */
	/* BIND: refused if a symbolic link is on the way, or if it is not the file `dev`, `ino` */
	WARD_BLUEPRINT_PLAIN = 1U << 5,
	WARD_BLUEPRINT_ON_SAME =
		1U << 6, /* BIND, COVER: refused if what it lies on is not the file `dev`, `ino` */
	WARD_BLUEPRINT_SHUT = 1U << 7, /* BIND: no socket in it is to answer (init/shut.c) */
	WARD_BLUEPRINT_HIDES =
		1U << 8, /* BIND, COVER: over what the host has there, if the command could look */
	WARD_BLUEPRINT_OVER = 1U << 9, /* FILE: mounted on a file that is there */
	WARD_BLUEPRINT_OUTER =
		1U << 10, /* in the root of the engine, which the command never sees */
};
#define WARD_BLUEPRINT_ENTRY_FLAGS_ALL 2047U

struct ward_blueprint_entry {
	enum ward_blueprint_kind kind;
	uint32_t flags;
	uint32_t mode;
	uint64_t dev, ino; /* PLAIN, ON_SAME: stat(2); else 0 */
	char *path;	   /* inside: absolute, normalised */
	char *text;
};

enum ward_blueprint_flag {
	WARD_BLUEPRINT_ROOT = 1U << 0,
	WARD_BLUEPRINT_PTY = 1U << 1,
	WARD_BLUEPRINT_SERVED = 1U << 2,  /* the trees answer once the command starts */
	WARD_BLUEPRINT_GROUPED = 1U << 3, /* a control group counts processes as well */
	WARD_BLUEPRINT_ONCE = 1U << 4,	  /* the filter asks pid 1 about execve(2) */
	WARD_BLUEPRINT_KEEP = 1U << 6,	  /* the command's end is not pid 1's */
	WARD_BLUEPRINT_WIRE = 1U << 5,	  /* somebody joins the network namespace to another one */
	WARD_BLUEPRINT_LISTED = 1U << 7,  /* only `programs` may be executed */
	WARD_BLUEPRINT_REPLAY = 1U << 8,  /* what the host changes is replayed inside */
	WARD_BLUEPRINT_ENGINE = 1U << 9,  /* `engine` makes a container of the view */
	/* With it: the container has a kernel of its own, into which no descriptor goes. */
	WARD_BLUEPRINT_FOREIGN = 1U << 10,
	/* Before each execve(2) of its own, wardfs-init says what that is (exec_table.h). */
	WARD_BLUEPRINT_TELLS = 1U << 11,
	/* With ENGINE: the container's pid 1 asks for its descriptors (init/call.c). */
	WARD_BLUEPRINT_CALLS = 1U << 12,
	/* With CALLS: a user namespace more, or the sandbox's own, has the command's id as 0. */
	WARD_BLUEPRINT_USER_ZERO = 1U << 13,
	WARD_BLUEPRINT_ALL_ZERO = 1U << 14,
};
#define WARD_BLUEPRINT_FLAGS_ALL 32767U

struct ward_blueprint {
	uint32_t flags;
	uint32_t layers; /* set of enum ward_layer (mode.h) */
	uint32_t owner_uid, owner_gid, agent_uid, agent_gid;
	uint32_t *groups;
	size_t n_groups;
	char *hostname;
	uint64_t tmp_bytes, processes, open_files, file_size, core_bytes; /* UINT64_MAX: as is */
	uint64_t data_bytes, cpu_seconds; /* RLIMIT_DATA, RLIMIT_CPU; the same */
	uint32_t rows, cols;
	uint32_t tty_slots; /* bit i: descriptor i is the pty's other side */
	uint32_t n_lifelines;
	uint32_t n_tasks;
	uint32_t n_trees;
	struct ward_blueprint_entry *entries; /* in the order in which they are made */
	size_t n_entries;
	char **programs; /* inside; files, and directories with what is beneath */
	size_t n_programs;
	char **argv, **envp; /* NULL-terminated */
	size_t n_argv, n_envp;
	char **engine;	    /* starts the container; engine[0] in the root of the engine */
	char **engine_exec; /* what stands before a further command; with FOREIGN */
	size_t n_engine, n_engine_exec;
	char *cwd;
	/* What probes are made with (probe.h); "": not this one. */
	char *probe_outside;	   /* a directory of the host that the view lacks */
	char *probe_socket;	   /* an abstract address of the host, without its leading NUL */
	char *probe_hidden;	   /* inside: a name that the policy hides, and the host has */
	char *probe_write;	   /* inside: a name that the policy does not let come into being */
	const void *filter;	   /* classic BPF of the command; owned by the decoded bytes */
	const void *init_filter;   /* of pid 1 */
	const void *exec_filter;   /* of the command too: its listener goes to the supervisor */
	const void *replay_filter; /* of the replayer */
	size_t filter_len, init_filter_len, exec_filter_len, replay_filter_len;
};

/* Appends the encoded blueprint to ret_bytes. */
int ward_blueprint_encode(
	const struct ward_blueprint *p, struct ward_buf *ret_bytes) ward_must_check;

/* The whole of data, or -EBADMSG, -ENOMEM. data must outlive *ret (the filters point into it). */
int ward_blueprint_decode(const void *data, size_t len, struct ward_blueprint *ret) ward_must_check;
/* Frees what ward_blueprint_decode() made. */
void ward_blueprint_clear(struct ward_blueprint *p);

/* One more command in a running sandbox. */
struct ward_blueprint_exec {
	uint32_t pty; /* bit i: descriptor i is a pty of its own */
	uint32_t rows, cols;
	char **argv, **envp; /* NULL-terminated */
	size_t n_argv, n_envp;
	char *cwd;
};
int ward_blueprint_exec_encode(
	const struct ward_blueprint_exec *e, struct ward_buf *ret_bytes) ward_must_check;
/* The whole of data, or -EBADMSG, -ENOMEM. */
int ward_blueprint_exec_decode(
	const void *data, size_t len, struct ward_blueprint_exec *ret) ward_must_check;

/* True for an absolute path without "//", "." or ".." components and without a trailing slash;
 * "/" itself is not one. */
bool ward_blueprint_path_ok(const char *path);
/* True if path is dir or lies beneath it; both as ward_blueprint_path_ok(). */
bool ward_blueprint_path_below(const char *path, const char *dir);
