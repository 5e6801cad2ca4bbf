/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the caller was given to go before all others, or is spared by: not handed on, neither the
 * right to it (limits.conf(5)) nor what was set with it. Only ever less, which needs no right.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/sandbox/init/init.h"

/* linux/ioprio.h, which installed headers lack. */
#define IOPRIO_WHO_PROCESS 1
#define IOPRIO_CLASS_SHIFT 13
#define IOPRIO_CLASS_RT 1

/* Of 1000: as if half of all memory were in use by a process beside what is. */
#define OOM_SCORE 500

/* Below this a command needs all descriptors that it can have. */
#define FILES_SHARED 1024

static int rights(void)
{
	static const __rlimit_resource_t given[] = {RLIMIT_RTPRIO, RLIMIT_NICE};
	const struct rlimit none = {0, 0};
	for (size_t i = 0; i < sizeof(given) / sizeof(*given); i++)
		if (setrlimit(given[i], &none) < 0)
			return -errno;
	return 0;
}

/*
 * What the kernel counts for a user as a whole, and compares with the limit of the calling process:
 * a quarter stays for others. Queued signals and timers; descriptors in flight in Unix sockets
 * (too_many_unix_fds()); a limit that is small anyway leaves none of these.
 */
static int share(void)
{
	static const struct {
		__rlimit_resource_t resource;
		rlim_t from;
	} shared[] = {{RLIMIT_SIGPENDING, 0}, {RLIMIT_NOFILE, FILES_SHARED}};
	for (size_t i = 0; i < sizeof(shared) / sizeof(*shared); i++) {
		struct rlimit now;
		if (getrlimit(shared[i].resource, &now) < 0)
			return -errno;
		if (now.rlim_max == RLIM_INFINITY || now.rlim_max < shared[i].from)
			continue;
		now.rlim_max -= now.rlim_max / 4;
		if (now.rlim_cur > now.rlim_max)
			now.rlim_cur = now.rlim_max;
		if (setrlimit(shared[i].resource, &now) < 0)
			return -errno;
	}
	return 0;
}

/* Real-time classes and deadlines, negative nice values. What is less than usual stays. */
static int cpu(void)
{
	const struct sched_param none = {0};
	int policy = sched_getscheduler(0);
	if (policy < 0)
		return -errno;
	policy &= ~SCHED_RESET_ON_FORK;
	if (policy != SCHED_OTHER && policy != SCHED_BATCH && policy != SCHED_IDLE &&
		sched_setscheduler(0, SCHED_OTHER, &none) < 0)
		return -errno;
	errno = 0;
	int nice = getpriority(PRIO_PROCESS, 0);
	if (nice == -1 && errno != 0)
		return -errno;
	return nice < 0 && setpriority(PRIO_PROCESS, 0, 0) < 0 ? -errno : 0;
}

static int disk(void)
{
	long now = syscall(SYS_ioprio_get, IOPRIO_WHO_PROCESS, 0);
	if (now < 0)
		return errno == ENOSYS ? 0 : -errno;
	if (now >> IOPRIO_CLASS_SHIFT != IOPRIO_CLASS_RT)
		return 0;
	return syscall(SYS_ioprio_set, IOPRIO_WHO_PROCESS, 0, 0) < 0 ? -errno : 0;
}

/*
 * Whom the kernel takes when memory is short: what runs here before our helpers, which stand in the
 * same control groups, and before the rest of the host; nobody last, whom a service that must not
 * die has started. With CAP_SYS_RESOURCE this also ends the right to go back (proc(5)).
 */
static int memory(void)
{
	char text[16];
	ward_cleanup_fd int fd = open("/proc/self/oom_score_adj", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	ssize_t n = read(fd, text, sizeof(text) - 1);
	if (n <= 0)
		return n < 0 ? -errno : -EIO;
	text[n] = '\0';
	long now = strtol(text, NULL, 10);
	if (now >= OOM_SCORE)
		return 0;
	ward_cleanup_fd int out = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
	int len = snprintf(text, sizeof(text), "%d", OOM_SCORE);
	if (out >= 0 && write(out, text, (size_t)len) == len)
		return 0;
	/* Where we are not dumpable, the file is root's: what is nobody's gain can stay. */
	return now < 0 ? -errno : 0;
}

int ward_init_no_precedence(struct ward_err *err)
{
	int r = rights();
	if (r == 0)
		r = share();
	if (r == 0)
		r = cpu();
	if (r == 0)
		r = disk();
	if (r == 0)
		r = memory();
	return r < 0 ? ward_err_sys(err, r, "give up what the caller goes before others by") : 0;
}
