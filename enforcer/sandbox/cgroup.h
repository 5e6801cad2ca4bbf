/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The control groups of one session: limits that hold for all of its processes together, and what
 * they used. One directory `wardfs/SESSION` in each hierarchy that is needed: cgroup v2 where it
 * has the controller (cgroups(7)), else the v1 hierarchy that has it; a host can have both.
 *
 * Where the directory lies: as root at the top of what is mounted, as those of container engines
 * do; else beneath the nearest group above the caller's own (itself included) that was delegated to
 * the caller (Documentation/admin-guide/cgroup-v2.rst, "Delegation").
 *
 * A session holds a lock (flock(2)) on its directories. The next session that makes some removes
 * those in the same place that nobody holds and that have no process: a supervisor that was killed
 * leaves them, since pid 1 of a sandbox can remove nothing.
 */
#pragma once

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "enforcer/base/err.h"
#include "enforcer/base/limit.h"

struct ward_cgroup;

/* All sessions of one place lie in this directory; those that wardfs-hostd has groups for in
 * WARD_HOST_GROUPS_DIR (ipc/host.h), in one for each user. */
#define WARD_CGROUP_DIR "wardfs"

/* What a group can do for a session. */
enum ward_cgroup_part {
	WARD_CGROUP_MEMORY = 0, /* limit, use, events */
	WARD_CGROUP_PIDS,	/* limit, use, events */
	WARD_CGROUP_CPU,	/* a share of the CPUs */
	WARD_CGROUP_CPUACCT,	/* CPU time used */
	WARD_CGROUP_IO,		/* bytes read from and written to disks */
	WARD_CGROUP_PRESSURE,	/* time lost waiting for CPU, memory, disks (PSI); v2 alone */
	WARD_CGROUP_PARTS,
};

/* A value that is not known. */
#define WARD_USAGE_UNKNOWN UINT64_MAX

struct ward_usage {
	uint64_t memory, memory_peak;	    /* bytes, page cache and tmpfs among them */
	uint64_t cpu_ns;		    /* of all processes, also those that ended */
	uint64_t processes, processes_peak; /* threads count, as pids.max counts them */
	uint64_t read_bytes, written_bytes; /* of block devices */
	uint64_t wait_cpu_us, wait_memory_us, wait_io_us; /* "some" of PSI, total */
	uint64_t oom_kills;	/* processes that the kernel ended for want of memory */
	uint64_t forks_refused; /* by the limit of this group */
};

/* Groups that wardfs-hostd makes for an ordinary user: wardfs-host/UID/NAME at the top. Files of
 * groups are those of the service, so the user can read them and change none. */
struct ward_cgroup_user {
	uid_t uid;
	uint64_t memory;    /* of all groups of the user together, in bytes */
	uint64_t processes; /* and threads, the same */
};

struct ward_cgroup_service;

struct ward_cgroup_spec {
	const char *name;   /* of the directory: letters, digits, '.', '_', '-' */
	bool root;	    /* at the top; else where it is delegated to us */
	uint64_t memory;    /* bytes, swap included; WARD_UNLIMITED: none */
	uint64_t processes; /* WARD_UNLIMITED: none */
	uint64_t cpus;	    /* tenths of a CPU; WARD_UNLIMITED: none */
	bool replayed;	    /* the replayer is inside (init/replayer.c) */
	bool helpers;	    /* those of the session count, too: ward_cgroup_add_helper() */
	const struct ward_cgroup_user *user; /* NULL: for this process's own user */
	/* Connected to wardfs-hostd --groups (ipc/host.h), which is asked where a limit could not
	 * be held otherwise; -1: not. Taken in any case. */
	int service;
};

/*
 * The first move of a process into a group takes the kernel a grace period of RCU, some
 * milliseconds, in which nobody else can make groups or move; the moves that soon follow take none.
 * Called as early as possible, this has a thread wait for it while the session is planned. Where
 * the caller may move nothing, it does nothing.
 */
void ward_cgroup_prime(void);

/*
 * Makes what can be made. A part that cannot be obtained is no error: ward_cgroup_why() tells.
 * Errors are those of our own (-ENOMEM), and a limit that the kernel refuses to take although the
 * group is there. *ret is the caller's.
 */
int ward_cgroup_make(const struct ward_cgroup_spec *spec, struct ward_cgroup **ret,
	struct ward_err *err) ward_must_check;

/*
 * Waits for what ward_cgroup_make() has begun and the kernel takes its time for: v1's announcement
 * of nearly used memory, a grace period of RCU. Before the session's command starts. An error is
 * one of ward_cgroup_make(): "limit memory". NULL is nothing.
 */
int ward_cgroup_settle(struct ward_cgroup *cg) ward_must_check;

bool ward_cgroup_has(const struct ward_cgroup *cg, enum ward_cgroup_part part);
/* Why a part is missing; "" if it is there. Borrowed. */
const char *ward_cgroup_why(const struct ward_cgroup *cg, enum ward_cgroup_part part);
/* wardfs-hostd made the groups. */
bool ward_cgroup_by_service(const struct ward_cgroup *cg);
/* "v2" or "v1", NULL without the part. */
const char *ward_cgroup_version(const struct ward_cgroup *cg, enum ward_cgroup_part part);
/* The directories, for the trail; the i-th, NULL past the end. Borrowed. */
const char *ward_cgroup_path(const struct ward_cgroup *cg, size_t i);

/*
 * The ways into one group, for a process and all that it starts. Moving a process by `procs` takes
 * the kernel a grace period of RCU, ten milliseconds and more on a host that was idle; the other
 * two take none (cgroup_procs_write_start(), cgroup_css_set_fork()).
 */
struct ward_cgroup_way {
	int procs; /* cgroup.procs: whose number is written here belongs to it */
	int self;  /* v1, tasks: a process of one thread that writes "0" belongs to it; -1: none */
	int into;  /* v2, the directory, for CLONE_INTO_CGROUP (clone(2)); -1: none */
	/* This one moves into all groups of the session, and the three above are -1; NULL: none. */
	struct ward_cgroup_service *service;
};
/* Has the service move pid into the groups. -ESRCH: there is no such process; -EPERM: it is not one
 * of the user's that may be moved; -EPIPE: the service has ended. Threads may call it. */
int ward_cgroup_service_move(
	struct ward_cgroup_service *service, pid_t pid, bool helper) ward_must_check;
/*
 * Those of each group of the session. The descriptors are borrowed until ward_cgroup_free().
 * Returns their number, at most WARD_CGROUP_JOIN_MAX.
 */
#define WARD_CGROUP_JOIN_MAX WARD_CGROUP_PARTS
size_t ward_cgroup_join(
	const struct ward_cgroup *cg, struct ward_cgroup_way ret[WARD_CGROUP_JOIN_MAX]);

/*
 * For groups made with spec.helpers. From now on the helper pid, and what it starts, are in the
 * session's groups. Its memory and CPU time count against the session's limits; its processes do
 * not. Memory that it has allocated before does not count. -ESRCH: there is no such process. Takes
 * a grace period as above.
 */
int ward_cgroup_add_helper(const struct ward_cgroup *cg, pid_t pid) ward_must_check;

/*
 * Opens the two files by which the session's own processes, and no helpers, are frozen and thawed
 * (enum ward_freezer of ipc/helper.h has which): the caller's. -ENOENT: no group of v2 has them.
 */
int ward_cgroup_freezer(const struct ward_cgroup *cg, int ret_fds[2]) ward_must_check;

/* The present usage. A field without its controller is WARD_USAGE_UNKNOWN. */
void ward_cgroup_usage(const struct ward_cgroup *cg, struct ward_usage *ret);

/*
 * Updates the fields that a few open descriptors can tell, in some microseconds each: cpu_ns, the
 * peak of processes, and with v2 the peak of memory (v1 announces it: ward_cgroup_poll()). Where
 * the kernel has no peak (before Linux 6.1, 5.19), the present use takes its place. Other fields
 * stay unchanged.
 */
void ward_cgroup_glance(struct ward_cgroup *cg, struct ward_usage *io);

/*
 * Descriptors to wait for: one that is ready means that ward_cgroup_usage() may have news about
 * memory or processes. ward_cgroup_seen() must follow. Returns their number.
 */
#define WARD_CGROUP_POLL_MAX 3
size_t ward_cgroup_poll(const struct ward_cgroup *cg, struct pollfd ret_fds[WARD_CGROUP_POLL_MAX]);
void ward_cgroup_seen(struct ward_cgroup *cg);

/* SIGKILL to every process in the groups but helpers (cgroup.kill, else one by one); bounded. */
void ward_cgroup_kill(struct ward_cgroup *cg);

/*
 * Removes the directories; what was left inside has to be dead. Waits some seconds at most for the
 * kernel to let go. NULL is nothing.
 */
void ward_cgroup_free(struct ward_cgroup *cg);

/* --- for wardfs-hostd --- */

/* Sets the limits of spec in groups that were made without. */
int ward_cgroup_limit(struct ward_cgroup *cg, const struct ward_cgroup_spec *spec,
	struct ward_err *err) ward_must_check;
/* An eventfd that hears of memory, of a group of v1 alone, which takes none from a user; -1: none.
 * Borrowed. */
int ward_cgroup_memory_event(const struct ward_cgroup *cg);
/* A directory of the session, with helpers. Borrowed descriptors. */
struct ward_cgroup_dir {
	bool v2;
	unsigned parts; /* set of 1 << enum ward_cgroup_part that it gives */
	int dir, inside, guard;
	int parent, above; /* it lies in the directory parent, which lies in above */
};
size_t ward_cgroup_dirs(
	const struct ward_cgroup *cg, struct ward_cgroup_dir ret[WARD_CGROUP_PARTS]);
/* Removes what sessions of all users left that has no process, and that nobody holds. */
void ward_cgroup_sweep_users(void);

/*
 * True where an ordinary user has no group delegated that has all of: memory, pids, cpu. Looks
 * only. Then the user manager of systemd may give one (systemd-run(1)).
 */
bool ward_cgroup_lacks_delegation(void);
/* True where a cgroup v2 hierarchy has memory, pids and cpu. */
bool ward_cgroup_v2_controls(void);
