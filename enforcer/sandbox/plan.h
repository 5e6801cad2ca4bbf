/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the supervisor tells wardfs-init: one plan in a sealed memory file, then a few messages.
 * Private to this folder.
 *
 * The plan is data, not a program: wardfs-init knows what each kind of entry means and refuses
 * anything it does not know. It comes from the supervisor, which is trusted, but its strings come
 * from policies; so it is decoded whole, each number is bounded, and trailing bytes are refused.
 *
 * Encoded form (enforcer/ipc/msg.h), type WARD_INIT_PLAN, fields in the order of struct ward_plan;
 * a list is a u32 count, then its members.
 *
 * The conversation on WARD_INIT_FD_CONTROL (SOCK_SEQPACKET):
 *
 *   stage 0 -> supervisor  STAGED {u32 pid of pid 1 in the supervisor's pid namespace}, with one
 *                          descriptor of /dev/fuse a tree; stage 0 then exits
 *   pid 1   -> supervisor  MAPS {}     as root only: the user namespace wants its maps
 *   supervisor -> pid 1    MAPPED {}
 *   pid 1   -> supervisor  NAMESPACES {}   with WARD_PLAN_WIRE: descriptors of the user and the
 *                          network namespace, in this order
 *   pid 1   -> supervisor  READY {u32 Landlock ABI, u32 set of ward_init_applied}, with the pty's
 *                          controlling side if one was asked for
 *   supervisor -> pid 1    PROBE {}    the trees are served
 *   pid 1   -> supervisor  PROBED {of each probe: u32 number, u32 made, u32 errno, u32 control},
 *                          with the listener of plan.exec_filter if there is one
 *   supervisor -> pid 1    GO {}
 *   pid 1   -> supervisor  STARTED {}
 *   pid 1   -> supervisor  EVENT {u32 enum ward_sandbox_event_kind, u32 value}
 *   supervisor -> pid 1    SIGNAL {u32 signal}
 *   supervisor -> pid 1    EXEC {u32 id}, with a description and the descriptors 0, 1, 2 : one more
 * command. The description is a sealed memory file: EXEC {u32 set of descriptors that are a pty,
 * u32 rows, u32 columns, list of str argv, list of str environment, str directory} pid 1   ->
 * supervisor  EXEC_STARTED {u32 id}, with the pty's controlling side pid 1   -> supervisor
 * EXEC_FAILED {u32 id, u32 positive errno, u32 step, str text} pid 1   -> supervisor  EXEC_ENDED
 * {u32 id, u32 enum ward_sandbox_event_kind, u32 value} supervisor -> pid 1    EXEC_SIGNAL {u32 id,
 * u32 signal} any     -> supervisor  FAILED {u32 positive errno, u32 enum ward_init_step, str text}
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "enforcer/base/buf.h"
#include "enforcer/base/err.h"
#include "enforcer/ipc/helper.h"
#include "enforcer/sandbox/backend.h"

/* Descriptors of wardfs-init at exec. 0, 1, 2 are the command's; a slot the pty fills is null. */
enum ward_init_fd {
	WARD_INIT_FD_CONTROL = 3,
	WARD_INIT_FD_PLAN = 4,
	WARD_INIT_FD_LIFELINES = 5, /* 5+i */
	WARD_INIT_FD_TASKS = 32, /* 32+i: tasks of the session's v1 groups, for stage 0 to enter */
};

/* Message types; a range of their own, so that no other helper's message can be taken for one. */
enum ward_init_type {
	WARD_INIT_PLAN = 64,
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
};

/* Where a failure happened: only EXEC may become exit code 126 or 127. */
enum ward_init_step { WARD_INIT_SETUP = 0, WARD_INIT_EXEC_STEP };

/* What READY says was applied beyond what every run has. */
enum ward_init_applied {
	WARD_INIT_GROUPS_KEPT = 1U << 0, /* supplementary groups could not be dropped (rootless) */
	WARD_INIT_KEYRING = 1U << 1,	 /* a fresh session keyring; off: kernel without keys */
	WARD_INIT_NO_USERNS = 1U << 2,	 /* user.max_user_namespaces is 0 inside */
};

/* Bounds of a plan; more is a mistake of the caller, not a large session. */
#define WARD_PLAN_ENTRIES_MAX 1024
#define WARD_PLAN_GROUPS_MAX 1024
#define WARD_PLAN_LIFELINES_MAX 16
#define WARD_PLAN_TASKS_MAX 16
/* execve(2) takes MAX_ARG_STRINGS; its stack limit is reached long before. */
#define WARD_PLAN_STRINGS_MAX 65536
/* A classic BPF program has at most BPF_MAXINSNS (4096) instructions of eight bytes. */
#define WARD_PLAN_FILTER_MAX ((size_t)4096 * 8)
#define WARD_PLAN_BYTES_MAX ((size_t)16 << 20)
/* Commands beside the first at one time. */
#define WARD_PLAN_EXECS_MAX 16

enum ward_plan_kind {
	WARD_PLAN_NONE = 0,
	WARD_PLAN_DIR,	   /* a directory of the root's tmpfs, `mode` */
	WARD_PLAN_FILE,	   /* a file of the root's tmpfs that holds `text`, `mode` */
	WARD_PLAN_LINK,	   /* a symbolic link to `text` */
	WARD_PLAN_BIND,	   /* host path `text` with all mounts beneath, read-only, nosuid, nodev */
	WARD_PLAN_HOST,	   /* the same as it is, writable where it is */
	WARD_PLAN_DEVICE,  /* host device `text` */
	WARD_PLAN_SHARED,  /* a directory of the tmpfs that /tmp, /var/tmp, /run, /dev/shm share,
			      `mode` */
	WARD_PLAN_TMPFS,   /* a tmpfs of its own with `mode` */
	WARD_PLAN_COVER,   /* an empty directory over one of the host's */
	WARD_PLAN_PTS,	   /* a private devpts */
	WARD_PLAN_TREE,	   /* FUSE tree number `mode` */
	WARD_PLAN_TREE_AT, /* the same tree again */
	WARD_PLAN_KINDS_,
};

enum ward_plan_entry_flag {
	WARD_PLAN_OPTIONAL = 1U << 0, /* BIND: left out where the host has no such path */
	WARD_PLAN_AS_OWNER = 1U << 1, /* BIND: looked up with the owner's rights, also as root */
	WARD_PLAN_NESTED = 1U << 2, /* TREE: beneath another one, so mounted once that is served */
	WARD_PLAN_NOEXEC = 1U << 3, /* BIND, SHARED, TMPFS, TREE: nothing in it is executed */
	WARD_PLAN_EXEC =
		1U << 4, /* SHARED, TMPFS, TREE: though WARD_PLAN_LISTED, all in it may be */
};
#define WARD_PLAN_ENTRY_FLAGS_ALL 31U

struct ward_plan_entry {
	enum ward_plan_kind kind;
	uint32_t flags;
	uint32_t mode;
	char *path; /* inside: absolute, normalised */
	char *text;
};

enum ward_plan_flag {
	WARD_PLAN_ROOT = 1U << 0,
	WARD_PLAN_PTY = 1U << 1,
	WARD_PLAN_SERVED = 1U << 2,  /* the trees answer once the command starts */
	WARD_PLAN_GROUPED = 1U << 3, /* a control group counts processes as well */
	WARD_PLAN_ONCE = 1U << 4,    /* the filter asks pid 1 about execve(2) */
	WARD_PLAN_KEEP = 1U << 6,    /* the command's end is not pid 1's */
	WARD_PLAN_WIRE = 1U << 5,    /* somebody joins the network namespace to another one */
	WARD_PLAN_LISTED = 1U << 7,  /* only `programs` may be executed */
};
#define WARD_PLAN_FLAGS_ALL 255U

struct ward_plan {
	uint32_t flags;
	uint32_t layers; /* set of enum ward_layer (backend.h) */
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
	struct ward_plan_entry *entries; /* in the order in which they are made */
	size_t n_entries;
	char **programs; /* inside; files, and directories with what is beneath */
	size_t n_programs;
	char **argv, **envp; /* NULL-terminated */
	size_t n_argv, n_envp;
	char *cwd;
	/* What probes are made with (probe.h); "": not this one. */
	char *probe_outside;	 /* a directory of the host that the view lacks */
	char *probe_socket;	 /* an abstract address of the host, without its leading NUL */
	char *probe_hidden;	 /* inside: a name that the policy hides, and the host has */
	char *probe_write;	 /* inside: a name that the policy does not let come into being */
	const void *filter;	 /* classic BPF of the command; owned by the decoded bytes */
	const void *init_filter; /* of pid 1 */
	const void *exec_filter; /* of the command too: its listener goes to the supervisor */
	size_t filter_len, init_filter_len, exec_filter_len;
};

/* Appends the encoded plan to ret_bytes. */
int ward_plan_encode(const struct ward_plan *p, struct ward_buf *ret_bytes) ward_must_check;

/* The whole of data, or -EBADMSG, -ENOMEM. data must outlive *ret (the filters point into it). */
int ward_plan_decode(const void *data, size_t len, struct ward_plan *ret) ward_must_check;
/* Frees what ward_plan_decode() made. */
void ward_plan_clear(struct ward_plan *p);

/* One more command in a running sandbox. */
struct ward_plan_exec {
	uint32_t pty; /* bit i: descriptor i is a pty of its own */
	uint32_t rows, cols;
	char **argv, **envp; /* NULL-terminated */
	size_t n_argv, n_envp;
	char *cwd;
};
int ward_plan_exec_encode(
	const struct ward_plan_exec *e, struct ward_buf *ret_bytes) ward_must_check;
/* The whole of data, or -EBADMSG, -ENOMEM. */
int ward_plan_exec_decode(const void *data, size_t len, struct ward_plan_exec *ret) ward_must_check;
void ward_plan_exec_clear(struct ward_plan_exec *e);

/* True for an absolute path without "//", "." or ".." components and without a trailing slash;
 * "/" itself is not one. */
bool ward_plan_path_ok(const char *path);
/* True if path is dir or lies beneath it; both as ward_plan_path_ok(). */
bool ward_plan_path_below(const char *path, const char *dir);
