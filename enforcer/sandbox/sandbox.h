/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sandbox of mode `restricted`: namespaces, mounts, identity, limits, seccomp, Landlock, and
 * our pid 1. Works from a finished description (struct ward_sandbox_spec); knows nothing of
 * policies or trails.
 *
 * Two programs take part. The supervisor calls these functions; they start `wardfs-init`, which
 * makes the namespaces and mounts, becomes pid 1 of the sandbox, starts the command, reaps, and
 * ends everything when a lifeline closes. The order of one run:
 *
 * - ward_sandbox_create(): namespaces and mounts stand; /dev/fuse of each tree is mounted but not
 *   served. The caller starts wardfs-fs with ward_sandbox_fuse_fd().
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
#include "enforcer/ipc/helper.h"

struct ward_sandbox;

/* A host directory or file that is seen inside, read-only, at the same or another path. */
struct ward_sandbox_bind {
	const char *host;
	const char *inside; /* NULL: the same path */
	bool optional;	    /* absent on the host: left out; else an error */
};

struct ward_sandbox_tree {
	const char *path; /* sandbox path */
	const char *at;	  /* second absolute path where it is seen too; NULL: none */
};

/* All pointers are borrowed during ward_sandbox_create() and ward_sandbox_start() alone. */
struct ward_sandbox_spec {
	const char *init_program; /* absolute path of wardfs-init */
	bool root;		  /* the caller has CAP_SYS_ADMIN in the initial user namespace */
	uid_t owner_uid;	  /* host identity whose processes own the user namespace */
	gid_t owner_gid;
	const gid_t
		*groups; /* supplementary groups of the owner; kept as root, recorded rootless */
	size_t n_groups;
	uid_t agent_uid; /* what the command runs as: the owner's, or an unprivileged one; never 0
			  */
	gid_t agent_gid;
	const char *user_name; /* for the synthetic /etc/passwd */
	const char *home;      /* sandbox path of the home, a tmpfs; NULL: none */
	const char *hostname;

	const struct ward_sandbox_tree *trees;
	bool served;	/* wardfs-fs serves the trees before ward_sandbox_start() */
	size_t n_trees; /* <= WARD_TREES_MAX */
	const struct ward_sandbox_bind *reads; /* beyond the system directories of the view */
	size_t n_reads;
	uint64_t tmp_bytes; /* /tmp, /var/tmp, /run, /dev/shm together, and once more the home;
			       WARD_UNLIMITED: half of memory */

	uint64_t processes;  /* RLIMIT_NPROC of the session, WARD_UNLIMITED: as inherited */
	uint64_t open_files; /* RLIMIT_NOFILE */
	uint64_t file_size;  /* RLIMIT_FSIZE */
	bool core;

	char *const *argv; /* the command; argv[0] is looked up in PATH of envp, inside */
	char *const *envp;
	const char *cwd; /* inside; must exist, else an error */

	int stdio[3]; /* descriptors that become 0, 1, 2; -1: the pty's other side */
	bool pty;     /* make a pty inside; its controlling side: ward_sandbox_pty() */
	struct winsize winsize;

	const int *lifelines; /* read ends; any end of file ends the sandbox */
	size_t n_lifelines;
};

/*
 * What a sandbox shows without being asked, and no file system of ours serves: directories of the
 * host that are there, and its own (/etc, /tmp and the like; not the home). The i-th, NULL past the
 * end; borrowed.
 */
const char *ward_sandbox_own_path(size_t i);

/*
 * Builds the sandbox. Errors name what is missing and the fix ("user namespaces are switched off:
 * sysctl user.max_user_namespaces is 0"). *ret is the caller's.
 */
int ward_sandbox_create(const struct ward_sandbox_spec *spec, struct ward_sandbox **ret,
	struct ward_err *err) ward_must_check;

/* /dev/fuse of tree i, mounted; borrowed until ward_sandbox_forget_fuse() closes all of them. */
int ward_sandbox_fuse_fd(const struct ward_sandbox *sb, size_t i);
void ward_sandbox_forget_fuse(struct ward_sandbox *sb);

/*
 * Lets the command start and waits until it was executed. -ENOENT: not found (exit 127), -EACCES or
 * -ENOEXEC: not executable (126), anything else: the sandbox failed (125).
 */
int ward_sandbox_start(struct ward_sandbox *sb, struct ward_err *err) ward_must_check;

/* Readable when ward_sandbox_next() has something to say. */
int ward_sandbox_fd(const struct ward_sandbox *sb);

enum ward_sandbox_event_kind {
	WARD_SANDBOX_NOTHING = 0,
	WARD_SANDBOX_STOPPED,  /* the command stopped (Ctrl-Z): value is the signal */
	WARD_SANDBOX_EXITED,   /* value is the exit status */
	WARD_SANDBOX_SIGNALED, /* value is the signal */
	WARD_SANDBOX_LIFELINE, /* pid 1 ended all: value is the index of the lifeline that closed */
	WARD_SANDBOX_GONE,     /* pid 1 is dead without having said why */
};
struct ward_sandbox_event {
	enum ward_sandbox_event_kind kind;
	int value;
};
/* The next event, without waiting. Returns 0 (kind NOTHING if there is none) or a negative errno.
 */
int ward_sandbox_next(struct ward_sandbox *sb, struct ward_sandbox_event *ret) ward_must_check;

/* Controlling side of the pty, -1 without; borrowed. */
int ward_sandbox_pty(const struct ward_sandbox *sb);
/* Host pid of pid 1, and a pidfd (borrowed). */
pid_t ward_sandbox_pid(const struct ward_sandbox *sb);
int ward_sandbox_pidfd(const struct ward_sandbox *sb);

/* What was applied, for the trail. */
struct ward_sandbox_facts {
	unsigned landlock_abi; /* of the command's domain; 0: the kernel has none (or ABI 1) */
	bool groups_kept;      /* rootless: supplementary groups cannot be dropped */
	bool keyring;	       /* own session keyring; false: a kernel without keys */
	bool userns_closed;    /* user.max_user_namespaces is 0 inside */
};
void ward_sandbox_get_facts(const struct ward_sandbox *sb, struct ward_sandbox_facts *ret);

/*
 * Sends sig to the foreground process group of the pty, else to the command's process group.
 * -ESRCH before the command was executed or after the end, -EINVAL.
 */
int ward_sandbox_signal(struct ward_sandbox *sb, int sig) ward_must_check;

/* SIGKILL to pid 1 through its pidfd: the kernel ends every process inside. Waits until it is
 * reaped. */
void ward_sandbox_kill(struct ward_sandbox *sb);
void ward_sandbox_free(struct ward_sandbox *sb);
