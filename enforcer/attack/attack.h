/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attempts to get out of a sandbox. wardfs-attack is both sides in one static program: the
 * observer, which makes the world around a sandbox, starts the sandbox and looks afterwards what
 * changed; and `inside`, which the sandbox runs and which makes the attempts.
 *
 * An attempt is one row of a table (attempts/GROUP.c) and one function. The same function is also
 * run outside, in the same world, as its control: where it is allowed it must succeed.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Longest proof that an attempt brings back, with its NUL. */
#define WARD_PROOF_SIZE 40

/* How many files "flood" makes. */
#define WARD_TRAIL_FLOOD 500

enum ward_attack_group {
	WARD_ATTACK_OUTSIDE,	 /* read and write outside of the workspace */
	WARD_ATTACK_NETWORK,	 /* reach the network, or services of this host */
	WARD_ATTACK_PROCESSES,	 /* see, steer or start processes of the host */
	WARD_ATTACK_PERSIST,	 /* leave something for the next session or for the host */
	WARD_ATTACK_KERNEL,	 /* reach parts of the kernel that lead further */
	WARD_ATTACK_CALLS,	 /* make rare system calls */
	WARD_ATTACK_SURFACE,	 /* reach rare sockets, files and devices */
	WARD_ATTACK_CONFINEMENT, /* run with less around it than a sandbox has */
	WARD_ATTACK_EXHAUST,	 /* use up what the host has; each says its bound */
	WARD_ATTACK_DESCRIPTORS, /* use what the caller left open */
	WARD_ATTACK_TERMINAL,	 /* steer the caller's terminal */
	WARD_ATTACK_TRAIL,	 /* silence, forge or flood the sandbox's records */
	WARD_ATTACK_APPROVALS,	 /* have others act with the caller's rights */
	WARD_ATTACK_SCRIPT,	 /* leave the engine that runs a script */
	WARD_ATTACK_GROUPS
};

enum ward_attack_severity {
	WARD_ATTACK_PROMISE,   /* a promise of every sandbox is broken */
	WARD_ATTACK_HARDENING, /* a layer is missing that would stop worse */
	WARD_ATTACK_REMARK,    /* worth knowing */
};

/* What the observer sees from outside when an attempt succeeded. */
enum ward_attack_evidence {
	WARD_SEEN_SECRET,  /* the inside says a secret that only the observer knew */
	WARD_SEEN_CHANGE,  /* the attempt's target outside is not as it was */
	WARD_SEEN_VICTIM,  /* the victim process is not as it was */
	WARD_SEEN_PROCESS, /* a process lives on after the sandbox */
	WARD_SEEN_GAIN, /* /proc of the attempt's process shows a new descriptor, namespace, mount,
			   id or capability */
	WARD_SEEN_LACK, /* the kernel answers nobody who lacks what `needs` says: /proc shows that
			   it is lacking */
	WARD_SEEN_TERMINAL, /* a terminal is not as it was */
	WARD_SEEN_OUTPUT,   /* what was in the file of errors before is not as it was */
	WARD_SEEN_TRAIL,    /* a file changed that no record names, or a record is forged */
	WARD_SEEN_STATE,    /* /proc shows what `needs` says of the process, whatever it does */
};

/* `needs` of WARD_SEEN_LACK: a number of a capability (linux/capability.h), or this. */
#define WARD_NEEDS_FILTER (-1)		/* only a seccomp filter refuses it */
#define WARD_NEEDS_LIMIT_FILES (-2)	/* a limit lower than the caller's: RLIMIT_NOFILE */
#define WARD_NEEDS_LIMIT_PROCESSES (-3) /* RLIMIT_NPROC */
#define WARD_NEEDS_LIMIT_CORE (-4)

/* `needs` of WARD_SEEN_STATE. */
enum ward_state_seen {
	/* The observer's namespaces, in the order of look.c. */
	WARD_STATE_USER,
	WARD_STATE_MOUNT,
	WARD_STATE_PID,
	WARD_STATE_NET,
	WARD_STATE_IPC,
	WARD_STATE_UTS,
	WARD_STATE_CGROUP,
	WARD_STATE_ROOT,	 /* the observer's root directory */
	WARD_STATE_UNFILTERED,	 /* no seccomp filter */
	WARD_STATE_PRIVILEGES,	 /* no_new_privs is not set */
	WARD_STATE_BOUNDING,	 /* a capability in the bounding set */
	WARD_STATE_CAPABILITIES, /* a capability that it has or can take */
	WARD_STATE_SUPERUSER,	 /* user 0 of this host */
	WARD_STATE_FILES,	 /* the caller's limit, or a higher one */
	WARD_STATE_PROCESSES,
	WARD_STATE_CORE,
};

/*
 * What the observer tells the attempts: one line KEY=VALUE each (facts.c). Paths are as the
 * attempts see them. Strings are owned; NULL or 0: the world has none.
 */
struct ward_facts {
	char *token;	  /* names this run; in the names of what attempts make */
	char *work;	  /* the workspace, writable */
	char *outside;	  /* a directory beside it, writable for the caller */
	char *home;	  /* the caller's home directory */
	char *secret;	  /* a file in `outside` with a secret */
	char *hidden;	  /* a file with a secret in a directory of mode 0700 */
	char *socket;	  /* a unix socket in `outside` whose server tells a secret */
	char *abstract;	  /* the same, an abstract name */
	char *queue;	  /* a POSIX message queue that holds a secret */
	char *shared;	  /* a file in /dev/shm with a secret */
	char *handle;	  /* the file handle of `secret`: "TYPE:HEXADECIMAL" */
	char *terminal;	  /* a terminal of another session's */
	char *runtime;	  /* a directory in the runtime directory, with a socket and a file */
	char *address;	  /* another address of this host than the loopback's */
	uint64_t tcp;	  /* a TCP port, on all addresses, whose server tells a secret */
	uint64_t udp;	  /* a UDP port that answers with a secret */
	uint64_t segment; /* id of a System V segment that begins with a secret */
	uint64_t victim;  /* a process of the same user */
	uint64_t memory;  /* where its memory has a secret; the observer sees stores to it */
	uint64_t own;	  /* each attempt first gets mounts and a host name of its own */
	uint64_t file;	  /* a descriptor of the victim that leads to a secret */
};

/* An attempt returns this, with errno, if an earlier step was refused and nothing was tried. */
#define WARD_UNREADY (-2)

/*
 * Makes the attempt. Returns 0 where it succeeded, and has put what it got into proof if the
 * evidence is a secret; -1 with errno where it was refused; or WARD_UNREADY. Changes nothing beyond
 * what its row says, and is run in a process of its own, which is ended afterwards.
 */
typedef int ward_attempt_fn(const struct ward_facts *f, char proof[WARD_PROOF_SIZE]);

struct ward_attempt {
	const char *name;
	enum ward_attack_severity severity;
	enum ward_attack_evidence evidence;
	int needs;	       /* with WARD_SEEN_LACK */
	const char *what;      /* one sentence: what it does */
	const char *stops;     /* what would stop it */
	const char *reference; /* CWE, CVE, ATT&CK technique */
	ward_attempt_fn *act;  /* NULL: only a script makes it (script.h) */
	ward_attempt_fn
		*later; /* NULL, or what a second session does; then this one's answer counts */
};

struct ward_attack_table {
	enum ward_attack_group group;
	const char *name, *what;
	const struct ward_attempt *v;
	size_t n;
};

/* The catalogue: WARD_ATTACK_GROUPS tables, in their order. */
extern const struct ward_attack_table *const ward_attack_tables[WARD_ATTACK_GROUPS];

/* The attempt of this name, or NULL; its group in *ret_group if that is not NULL. */
const struct ward_attempt *ward_attack_find(const char *name, enum ward_attack_group *ret_group);

const char *ward_attack_severity_name(enum ward_attack_severity s);

/* The path outside that the attempt of this name writes to: "OUTSIDE/NAME". Returns ret. */
const char *ward_attack_target(
	const struct ward_facts *f, const char *name, char *ret, size_t size);
