/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sandbox: namespaces, mounts, identity, limits, seccomp, Landlock, and our pid 1; of them what
 * the description asks for. Works from a finished description (struct ward_sandbox_spec); knows
 * nothing of policies or trails.
 *
 * Two programs take part. The supervisor calls these functions; they start `wardfs-init`, which
 * makes the namespaces and mounts, becomes pid 1 of the sandbox, starts the command, reaps, and
 * ends everything when a lifeline closes. The order of one run:
 *
 * - ward_sandbox_begin(): wardfs-init is at work.
 * - ward_sandbox_staged(): /dev/fuse of each tree is mounted but not served. The caller starts
 *   wardfs-fs with ward_sandbox_fuse_fd(), while pid 1 goes on.
 * - ward_sandbox_mapped(): the namespaces stand, those of ward_sandbox_namespaces() can be joined.
 * - ward_sandbox_ready(): mounts and identity stand too.
 * - ward_sandbox_probe(): the command's process confines itself and makes the attempts of probe.h.
 * - ward_sandbox_start(): the command is executed. The caller polls ward_sandbox_fd().
 * - ward_sandbox_free(): kills what is left; with the last process the mounts are gone.
 *
 * Both wardfs-init and pid 1 are children of the caller and waited for here, by pid: a caller must
 * not wait for any child (waitpid(-1)). When the caller dies, its end of the channel closes, and
 * pid 1 ends as for a closed lifeline.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <termios.h>
#include <sys/ioctl.h>

#include "enforcer/base/err.h"
#include "enforcer/base/mounts.h"
#include "enforcer/ipc/helper.h"
#include "enforcer/modes/table/mode.h"
#include "enforcer/sandbox/cgroup.h"
#include "enforcer/sandbox/filters.h"
#include "enforcer/sandbox/probe.h"

struct ward_sandbox;

#define WARD_SANDBOX_JOIN_MAX 16

/* A host directory or file that is seen inside, read-only, at the same or another path. */
struct ward_sandbox_bind {
	const char *host;
	const char *inside; /* NULL: the same path */
	bool optional;	    /* absent on the host: left out; else an error */
	bool ours; /* the caller's own, looked up with the caller's rights, not the owner's */
	/* host is a path without links, and is refused if it is not the file dev, ino any more */
	bool plain;
	dev_t dev;
	ino_t ino;
	bool noexec; /* nothing there is executed */
	/* Absolute, a path in the tree of single files, which shows the file in place of a mount of
	 * the host's; NULL: none does. */
	const char *served;
};

struct ward_sandbox_tree {
	const char *path; /* sandbox path */
	const char *at;	  /* second absolute path where it is seen too; NULL: none */
};

/* A directory of the host that a tree serves. */
struct ward_sandbox_guarded {
	const struct ward_spot *spot;
	dev_t dev;
	ino_t ino;
};

/*
 * A directory whose files take the place of the host's programs and libraries, read-only. It has no
 * mounts beneath but in /dev, /proc, /run, /sys and /tmp, which are the session's own.
 */
struct ward_sandbox_image {
	const char *root; /* its path on the host, without links */
	int fd;		  /* O_PATH */
	bool ours;	  /* the caller's own, looked up with the caller's rights, not the owner's;
			   * no socket lies in it */
};

/* Value 0 refuses: no way out. */
enum ward_sandbox_net {
	WARD_SANDBOX_NET_NONE = 0, /* a network namespace with loopback alone */
	WARD_SANDBOX_NET_WIRE,	   /* the same; the caller joins it to another:
				      ward_sandbox_namespaces() */
	WARD_SANDBOX_NET_HOST,	   /* the host's */
};

/* What a list of programs says of a path inside. Value 0 refuses. */
enum ward_sandbox_listed {
	WARD_SANDBOX_LISTED_NOT = 0, /* nothing there may be executed */
	WARD_SANDBOX_LISTED_BENEATH, /* something beneath may be, by name */
	WARD_SANDBOX_LISTED,	     /* all of it may be */
};

/*
 * Only these may be executed. What is in a tree the file system that serves it decides by name.
 * Where no program may be executed the mounts are noexec too: no process can map anything there as
 * code (mount(2), MS_NOEXEC).
 */
struct ward_sandbox_programs {
	/* Paths of the host without symbolic links: files, and directories with what is beneath.
	 * Those that the view does not show read-only at the same path play no part. */
	const char *const *v;
	size_t n;
	/* Of each tree and each tmpfs. */
	enum ward_sandbox_listed (*listed)(const void *user, const char *path);
	const void *user;
};

struct ward_sandbox_engine_file {
	const char *name; /* beneath WARD_SANDBOX_ENGINE_BUNDLE */
	const char *text;
};

/* What engines need that pass on no descriptors, and manage containers as user 0. With either, argv
 * runs until the container ends. */
enum ward_sandbox_engine_how {
	/* The engine runs in one more user namespace, where the command's id is 0. */
	WARD_SANDBOX_ENGINE_NESTED = 1U << 0,
	/* The engine uses the network namespace too, so the sandbox itself maps the command's id
	 * to 0. Needs root: rootless, wardfs-fs would speak of ids that the sandbox lacks. */
	WARD_SANDBOX_ENGINE_ZERO = 1U << 1,
};

/*
 * A container engine, which makes a container of the view (enforcer/container/). It runs within the
 * namespaces, groups and limits of the sandbox, as the command's user, and sees a root of its own:
 * the host's programs, its bundle, and the view at WARD_SANDBOX_ENGINE_VIEW.
 */
struct ward_sandbox_engine {
	const char *program; /* host path without links; seen at WARD_SANDBOX_ENGINE_PROGRAM */
	dev_t dev;	     /* of it: refused if it is another file by then */
	ino_t ino;
	const char *cgroup; /* where the host has version 2 of the control groups */
	const struct ward_sandbox_engine_file *files; /* of the bundle; ends with a name NULL */
	char *const *argv; /* starts the container; argv[0] is seen in the root of the engine */
	uint32_t how;	   /* set of enum ward_sandbox_engine_how; 0: argv leaves it running */
	/* The container has a kernel of its own: argv runs until the container ends, and this
	 * stands before each further command. NULL: pid 1 is the container's, and starts them. */
	char *const *exec_argv;
	const char *platform; /* what such a kernel runs on, static; NULL: nothing to tell */
	uint32_t no_probes;   /* set of 1 << enum ward_probe that say nothing about such a kernel */
};
#define WARD_SANDBOX_ENGINE_PROGRAM "/engine"
#define WARD_SANDBOX_ENGINE_VIEW "/view"
#define WARD_SANDBOX_ENGINE_STATE "/state"
#define WARD_SANDBOX_ENGINE_BUNDLE "/bundle"
/* Our pid 1 in the container, and where the engine has it from. */
#define WARD_SANDBOX_ENGINE_INIT "/wardfs-init"
#define WARD_SANDBOX_ENGINE_INSIDE "inside"
#define WARD_SANDBOX_ENGINE_CALL "call" /* the same, and asks outside for its descriptors */
#define WARD_SANDBOX_ENGINE_EXEC "exec"
#define WARD_SANDBOX_ENGINE_NAME "session" /* of the container */
/* With exec_argv, in the container: what pid 1 and it say to each other, and its blueprint; both
 * lie beneath WARD_SANDBOX_ENGINE_STATE as "talk" and "plan". */
#define WARD_SANDBOX_ENGINE_TALK "/wardfs-talk"
#define WARD_SANDBOX_ENGINE_PLAN "/wardfs-plan"
/* Empty, in the container of an engine that manages containers. */
#define WARD_SANDBOX_ENGINE_GROUPS "/sys/fs/cgroup"
/* How many descriptors from 3 on the engine passes to pid 1 of the container. */
size_t ward_sandbox_engine_fds(size_t n_lifelines, bool replay, bool pty);

/* All pointers are borrowed during ward_sandbox_begin() alone. */
struct ward_sandbox_spec {
	uint32_t layers; /* set of enum ward_layer (enforcer/modes/table/mode.h); 0 is refused */
	const char *init_program; /* absolute path of wardfs-init */
	bool root;		  /* the caller has CAP_SYS_ADMIN in the initial user namespace */
	uid_t owner_uid;	  /* host identity whose processes own the user namespace */
	enum ward_sandbox_net net;
	const char *resolv;    /* content of /etc/resolv.conf; NULL: empty */
	const char *gitconfig; /* content of /etc/gitconfig; NULL: none */
	gid_t owner_gid;
	const gid_t
		*groups; /* supplementary groups of the owner; kept as root, recorded rootless */
	size_t n_groups;
	uid_t agent_uid; /* what the command runs as: the owner's, or an unprivileged one; never 0
			  */
	gid_t agent_gid;
	const char *user_name; /* for the synthetic /etc/passwd */
	const char *home;      /* sandbox path of the home: a tree's, else a tmpfs; NULL: none */
	const char *hostname;
	/* For a mode with an engine: what it was found to be (NULL: it looks itself), and what the
	 * container is labelled with; NULL: not so. */
	const char *runtime;
	const char *session, *policy_digest;

	const struct ward_sandbox_tree *trees;
	bool served;	/* wardfs-fs serves the trees before ward_sandbox_start() */
	size_t n_trees; /* <= WARD_POLICY_TREES_MAX */
	/* There is one tree more, number n_trees: of it only what `reads` says is seen. */
	bool single_files;
	/* Another path, in a view of its own a symbolic link to link_to; left out where anything
	 * else is seen at it, above or beneath. NULL: none. */
	const char *link;
	const char *link_to;
	const struct ward_sandbox_bind *reads; /* beyond the system directories of the view */
	size_t n_reads;
	/* Where these show besides, as they are, something empty lies on them. mounts: what the
	 * host has; may be NULL without any. */
	const struct ward_sandbox_guarded *guarded;
	size_t n_guarded; /* <= WARD_TREES_MAX */
	const struct ward_mounts *mounts;
	bool whole; /* the view shows the whole host, read-only, but for what view_readonly.c
		     * leaves out
		     */
	const struct ward_sandbox_image *image;	  /* NULL: the host's; else `whole` says nothing */
	const struct ward_sandbox_engine *engine; /* NULL: none */
	const char *const *covers; /* host paths that a view hides besides; NULL-terminated */
	const struct ward_sandbox_programs *programs; /* NULL: whatever the view shows */
	/* Inside: nothing there or beneath is executed; a tree in one of them is mounted noexec.
	 * NULL-terminated; NULL: none. */
	const char *const *noexec;
	uint64_t tmp_bytes; /* /tmp, /var/tmp, /run, /dev/shm together, and once more the home;
			       WARD_UNLIMITED: half of memory */

	uint64_t processes;   /* RLIMIT_NPROC of the session, WARD_UNLIMITED: as inherited */
	uint64_t open_files;  /* RLIMIT_NOFILE */
	uint64_t file_size;   /* RLIMIT_FSIZE */
	uint64_t data_bytes;  /* RLIMIT_DATA of each process; 0: as inherited */
	uint64_t cpu_seconds; /* RLIMIT_CPU of each process; 0: as inherited */
	bool core;
	/* The groups to which all processes inside are to belong; the descriptors stay open until
	 * ward_sandbox_probe() has returned. */
	const struct ward_cgroup_way *join;
	size_t n_join; /* <= WARD_SANDBOX_JOIN_MAX */
	bool grouped;  /* one of them has the limit on processes too */
	enum ward_seccomp seccomp;
	bool keep; /* EXITED and SIGNALED are not the end: pid 1 lives until ward_sandbox_kill() */

	char *const *argv; /* the command; argv[0] is looked up in PATH of envp, inside */
	char *const *envp;
	const char *cwd; /* inside; must exist, else an error */

	int stdio[3]; /* descriptors that become 0, 1, 2; -1: the pty's other side */
	bool pty;     /* make a pty inside; its controlling side: ward_sandbox_pty() */
	struct winsize winsize;

	bool listen_execs; /* each execve waits for an answer at ward_sandbox_execs_fd() */

	const int *lifelines; /* read ends; any end of file ends the sandbox */
	size_t n_lifelines;

	/* To wardfs-fs, for the process that replays what the host changes (enforcer/ipc/replay.h);
	 * NULL: none is made. With WARD_LAYERS_REPLAY alone. */
	const int *replay;

	/* The paths for probes; NULL: skips the probe. */
	const char *probe_outside; /* a directory of the host that the view does not show */
	const char *probe_socket;  /* an abstract address of the host, without its leading NUL, that
				      listens until ward_sandbox_probe() is over */
	const char *probe_hidden;  /* inside, in a tree: hidden by the policy, there on the host */
	const char *probe_write;   /* inside, in a tree: what the policy lets nobody make, absent on
				      the host, where the owner could make it */
};

/*
 * What every sandbox shows, and wardfs-fs does not serve: existing directories of the host, and the
 * sandbox's own (/etc, /tmp and the like; not the home). Returns the number; borrowed.
 */
#define WARD_SANDBOX_OWN_MAX 32
size_t ward_sandbox_own_paths(const char *ret[WARD_SANDBOX_OWN_MAX]);

/* Of a path of the host: what a session has there without being told. */
enum ward_sandbox_own {
	WARD_SANDBOX_OWN_NOT = 0, /* nothing */
	WARD_SANDBOX_OWN_HOST,	  /* the host's, read-only, but for homes, credentials, sockets */
	WARD_SANDBOX_OWN_MADE,	  /* the session's own, with or without parts of the host's */
};
enum ward_sandbox_own ward_sandbox_own(const char *path);

/*
 * Builds the sandbox, in four steps that the caller may do other things between. Errors name what
 * is missing and the fix ("user namespaces are switched off: sysctl user.max_user_namespaces is
 * 0"). *ret is the caller's.
 */
int ward_sandbox_begin(const struct ward_sandbox_spec *spec, struct ward_sandbox **ret,
	struct ward_err *err) ward_must_check;
int ward_sandbox_staged(struct ward_sandbox *sb, struct ward_err *err) ward_must_check;
int ward_sandbox_mapped(struct ward_sandbox *sb, struct ward_err *err) ward_must_check;
int ward_sandbox_ready(struct ward_sandbox *sb, struct ward_err *err) ward_must_check;
/* All four. */
int ward_sandbox_create(const struct ward_sandbox_spec *spec, struct ward_sandbox **ret,
	struct ward_err *err) ward_must_check;

/* /dev/fuse of tree i, mounted; borrowed until ward_sandbox_forget_fuse() closes all of them. */
int ward_sandbox_fuse_fd(const struct ward_sandbox *sb, size_t i);
void ward_sandbox_forget_fuse(struct ward_sandbox *sb);

/*
 * Makes the start-up probes. ret: one result a probe, [p] of probe p, [0] of none; ret_verdicts as
 * ward_probe_judge() says. -EPERM, with text that names it, if one of them failed or had no
 * control: both arrays are filled then as well. Other errors: they could not be made.
 */
int ward_sandbox_probe(struct ward_sandbox *sb, struct ward_probe_result ret[WARD_PROBE_COUNT_],
	enum ward_probe_verdict ret_verdicts[WARD_PROBE_COUNT_],
	struct ward_err *err) ward_must_check;

/*
 * Lets the command start and waits until it was executed. -EPERM unless the probes were made and
 * held. -ENOENT: not found (exit 127), -EACCES or
 * -ENOEXEC: not executable (126), anything else: the sandbox failed (125).
 */
int ward_sandbox_start(struct ward_sandbox *sb, struct ward_err *err) ward_must_check;

/*
 * Is spec.listen_execs in force? Not where the mode has no system call filter, nor with the list
 * no-exec: there nothing but the command is executed.
 */
bool ward_sandbox_listens(const struct ward_sandbox *sb);
/*
 * If so, between ward_sandbox_probe() and the end: the listener of seccomp_unotify(2)
 * at which each execve(2) and execveat(2) of the command and its descendants waits, the first
 * included. Borrowed. Somebody has to answer before ward_sandbox_start().
 */
int ward_sandbox_execs_fd(const struct ward_sandbox *sb);
/*
 * For a waiting process whose memory the caller cannot read: what that process said of its call
 * (exec_table.h), if wardfs-init started it. pid: in the process's own pid namespace. *ret_root:
 * its root directory (O_PATH), borrowed. -ENOENT: no such process, or it has said nothing.
 */
struct ward_exec_told;
int ward_sandbox_told(const struct ward_sandbox *sb, pid_t pid, struct ward_exec_told *ret,
	int *ret_root) ward_must_check;

/* Readable when ward_sandbox_next() has something to say. */
int ward_sandbox_fd(const struct ward_sandbox *sb);

enum ward_sandbox_event_kind {
	WARD_SANDBOX_NOTHING = 0,
	WARD_SANDBOX_STOPPED,  /* the command stopped (Ctrl-Z): value is the signal */
	WARD_SANDBOX_EXITED,   /* value is the exit status */
	WARD_SANDBOX_SIGNALED, /* value is the signal */
	WARD_SANDBOX_LIFELINE, /* pid 1 ended all: value is the index of the lifeline that closed */
	WARD_SANDBOX_UNMOUNTED, /* pid 1 ended all: a mount of ours disappeared */
	WARD_SANDBOX_GONE,	/* pid 1 is dead without having said why */
	/* of ward_sandbox_exec(), with its id */
	WARD_SANDBOX_EXEC_STARTED,  /* fd: the controlling side of its pty, the caller's; -1 */
	WARD_SANDBOX_EXEC_FAILED,   /* value: positive errno, text: why; as ward_sandbox_start() */
	WARD_SANDBOX_EXEC_EXITED,   /* value is the exit status */
	WARD_SANDBOX_EXEC_SIGNALED, /* value is the signal */
};
struct ward_sandbox_event {
	enum ward_sandbox_event_kind kind;
	int value;
	uint32_t id;
	int fd;
	char text[WARD_ERR_TEXT_MAX];
};
/* The next event, without waiting. Returns 0 (kind NOTHING if there is none) or a negative errno.
 */
int ward_sandbox_next(struct ward_sandbox *sb, struct ward_sandbox_event *ret) ward_must_check;

/* One more command in a running sandbox: same namespaces, ids, limits, Landlock domain, filter. */
struct ward_sandbox_exec {
	char *const *argv; /* argv[0] is looked up in PATH of envp, inside */
	char *const *envp;
	const char *cwd; /* inside */
	int stdio[3];	 /* become its 0, 1, 2 */
	unsigned pty;	 /* bit i: but descriptor i is a pty of its own */
	struct winsize winsize;
};
/*
 * Asks pid 1 to start it; ward_sandbox_next() says how that went. id: the caller's number for it,
 * unused so far. All pointers are borrowed during the call.
 */
int ward_sandbox_exec(struct ward_sandbox *sb, uint32_t id, const struct ward_sandbox_exec *e,
	struct ward_err *err) ward_must_check;
/*
 * Between ward_sandbox_probe() and ward_sandbox_start(), once at most: the command is this one, and
 * not that of the description. pty must be 0.
 */
int ward_sandbox_give(struct ward_sandbox *sb, const struct ward_sandbox_exec *e,
	struct ward_err *err) ward_must_check;
/* Sends sig to its process group. -ESRCH, -EINVAL. */
int ward_sandbox_exec_signal(struct ward_sandbox *sb, uint32_t id, int sig) ward_must_check;

/*
 * With WARD_SANDBOX_NET_WIRE: descriptors of the user and the network namespace, borrowed until
 * ward_sandbox_forget_namespaces(); else -1. Nobody may keep them for longer than joining takes.
 */
void ward_sandbox_namespaces(const struct ward_sandbox *sb, int *ret_user, int *ret_net);
void ward_sandbox_forget_namespaces(struct ward_sandbox *sb);

/* Controlling side of the pty, -1 without; borrowed. */
int ward_sandbox_pty(const struct ward_sandbox *sb);
/* Host pid of pid 1. */
pid_t ward_sandbox_pid(const struct ward_sandbox *sb);

/* What was applied, for the trail. */
struct ward_sandbox_facts {
	unsigned landlock_abi; /* of the command's domain; 0: the kernel has none (or ABI 1) */
	bool groups_kept;      /* rootless: supplementary groups cannot be dropped */
	bool keyring;	       /* own session keyring; false: a kernel without keys */
	bool userns_closed;    /* user.max_user_namespaces is 0 inside */
	const char *platform;  /* of the engine (struct ward_sandbox_engine), or NULL */
	bool sockets_shut;     /* no socket of another user answers in what shows of the host */
};
void ward_sandbox_get_facts(const struct ward_sandbox *sb, struct ward_sandbox_facts *ret);

/*
 * Sends sig to the foreground process group of the pty, else to the command's process group.
 * -ESRCH before the command was executed or after the end, -EINVAL.
 */
int ward_sandbox_signal(struct ward_sandbox *sb, int sig) ward_must_check;

/*
 * SIGKILL to pid 1 through its pidfd: the kernel ends every process inside. Waits until it is
 * reaped. Where a mode has no pid namespace, wardfs-init ends what descends from it, and exits.
 */
void ward_sandbox_kill(struct ward_sandbox *sb);
/*
 * Whether processes inside were left behind by ward_sandbox_kill(): they are killed, and wait in
 * the kernel for a file system whose server took a request and does not answer. No code of theirs
 * runs any more; they go when that server does.
 */
bool ward_sandbox_stuck(const struct ward_sandbox *sb);
void ward_sandbox_free(struct ward_sandbox *sb);
