/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Using up what the host has. Each attempt stops at its bound and gives back what it took as its
 * process ends, so it harms no host whose sandbox fails.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "enforcer/attack/attempts/attempts.h"

#define FILES 6000
#define PROCESSES 2500

/* The soft limit is the process's own choice. */
static void to_hard(__rlimit_resource_t resource)
{
	struct rlimit l;
	if (getrlimit(resource, &l) == 0) {
		l.rlim_cur = l.rlim_max;
		(void)setrlimit(resource, &l);
	}
}

static int many_files(const struct ward_facts *f, char *proof)
{
	to_hard(RLIMIT_NOFILE);
	for (int i = 0; i < FILES; i++)
		if (fcntl(0, F_DUPFD_CLOEXEC, 0) < 0)
			return -1;
	return 0;
}

static int many_processes(const struct ward_facts *f, char *proof)
{
	static pid_t all[PROCESSES];
	int n = 0, e = 0;

	to_hard(RLIMIT_NPROC);
	for (; n < PROCESSES; n++) {
		all[n] = fork();
		if (all[n] == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			for (;;)
				pause();
		}
		if (all[n] < 0) {
			e = errno;
			break;
		}
	}
	for (int i = 0; i < n; i++)
		kill(all[i], SIGKILL);
	for (int i = 0; i < n; i++)
		waitpid(all[i], NULL, 0);
	errno = e;
	return n == PROCESSES ? 0 : -1;
}

static int real_time(const struct ward_facts *f, char *proof)
{
	const struct sched_param p = {.sched_priority = 1};
	/* For one call only. */
	const int r = sched_setscheduler(0, SCHED_RR | 0x40000000 /* SCHED_RESET_ON_FORK */, &p);
	const int e = errno;
	const struct sched_param none = {0};
	if (r == 0)
		(void)sched_setscheduler(0, SCHED_OTHER, &none);
	errno = e;
	return r;
}

static int deadline(const struct ward_facts *f, char *proof)
{
	/* struct sched_attr (sched_setattr(2)): one millisecond of a second */
	struct {
		uint32_t size, policy;
		uint64_t flags;
		int32_t nice;
		uint32_t priority;
		uint64_t runtime, deadline, period;
	} a = {48, 6, 0, 0, 0, 1000000, 1000000000, 1000000000};
	return (int)syscall(SYS_sched_setattr, 0, &a, 0);
}

static int go_first(const struct ward_facts *f, char *proof)
{
	return setpriority(PRIO_PROCESS, 0, -5);
}

static int disk_first(const struct ward_facts *f, char *proof)
{
	return (int)syscall(SYS_ioprio_set, 1 /* process */, 0, 1 << 13 /* real time */);
}

static int raise_limit(const struct ward_facts *f, char *proof)
{
	struct rlimit l;
	if (getrlimit(RLIMIT_NICE, &l) < 0)
		return -1;
	l.rlim_max = l.rlim_cur = l.rlim_max < 40 ? l.rlim_max + 1 : 40;
	return setrlimit(RLIMIT_NICE, &l);
}

static int never_chosen(const struct ward_facts *f, char *proof)
{
	const int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	return write(fd, "-1", 2) == 2 ? 0 : -1;
}

static int lock_memory(const struct ward_facts *f, char *proof)
{
	const size_t size = (size_t)12 << 20;
	char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	/* Not mlock(3): a sanitizer makes that do nothing. */
	return p == MAP_FAILED ? -1 : (int)syscall(SYS_mlock, p, size);
}

static int huge_pipe(const struct ward_facts *f, char *proof)
{
	int ends[2];
	if (pipe2(ends, O_CLOEXEC) < 0)
		return -1;
	return fcntl(ends[0], F_SETPIPE_SZ, 4 << 20) < 0 ? -1 : 0;
}

#define USE(sev, name_, needs_, what_, stops_, ref_, fn)                                           \
	{                                                                                          \
		.name = (name_), .severity = WARD_ATTACK_##sev, .evidence = WARD_SEEN_LACK,        \
		.needs = (needs_), .what = (what_), .stops = (stops_), .reference = (ref_),        \
		.act = (fn)                                                                        \
	}
static const struct ward_attempt rows[] = {
	USE(HARDENING, "many-files", WARD_NEEDS_LIMIT_FILES, "Opens 6,000 descriptors.",
		"a limit on open files", "T1499.001", many_files),
	USE(HARDENING, "many-processes", WARD_NEEDS_LIMIT_PROCESSES, "Starts 2,500 processes.",
		"a limit on processes", "T1499.001, CWE-770", many_processes),
	USE(HARDENING, "real-time", CAP_SYS_NICE, "Takes real-time priority, for one call.",
		"no CAP_SYS_NICE, seccomp", "T1499", real_time),
	USE(HARDENING, "deadline", CAP_SYS_NICE, "Reserves 1 ms of each second of a CPU.",
		"no CAP_SYS_NICE, seccomp", "T1499", deadline),
	USE(HARDENING, "go-first", CAP_SYS_NICE, "Raises its priority by 5.", "no CAP_SYS_NICE",
		"T1499", go_first),
	USE(HARDENING, "disk-first", CAP_SYS_ADMIN, "Takes real-time priority on disks.",
		"no CAP_SYS_ADMIN", "T1499", disk_first),
	USE(HARDENING, "raise-limit", CAP_SYS_RESOURCE, "Raises a hard limit by one.",
		"no CAP_SYS_RESOURCE", "CWE-770", raise_limit),
	USE(HARDENING, "never-chosen", CAP_SYS_RESOURCE,
		"Asks not to be ended when memory runs out (by one point).", "no CAP_SYS_RESOURCE",
		"T1499", never_chosen),
	USE(HARDENING, "lock-memory", CAP_IPC_LOCK, "Locks 12 MiB of memory.",
		"a limit on locked memory, no CAP_IPC_LOCK", "T1499", lock_memory),
	USE(HARDENING, "huge-pipe", CAP_SYS_RESOURCE, "Makes a pipe with a buffer of 4 MiB.",
		"no CAP_SYS_RESOURCE", "CWE-770", huge_pipe),
};
WARD_ATTEMPT_TABLE(
	exhaust, WARD_ATTACK_EXHAUST, "use up what the host has; each stops at its bound", rows);
