/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the caller was given to go before all others, or is spared by: not handed on, neither the
 * right to it (limits.conf(5)) nor what was set with it. Only ever less, which needs no right.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
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

static int rights(void)
{
	static const __rlimit_resource_t given[] = {RLIMIT_RTPRIO, RLIMIT_NICE};
	const struct rlimit none = {0, 0};
	for (size_t i = 0; i < sizeof(given) / sizeof(*given); i++)
		if (setrlimit(given[i], &none) < 0)
			return -errno;
	return 0;
}

/* Queued signals and timers, counted for a user as a whole: a quarter stays to others. */
static int share(void)
{
	struct rlimit now;
	if (getrlimit(RLIMIT_SIGPENDING, &now) < 0)
		return -errno;
	if (now.rlim_max == RLIM_INFINITY)
		return 0;
	now.rlim_max -= now.rlim_max / 4;
	if (now.rlim_cur > now.rlim_max)
		now.rlim_cur = now.rlim_max;
	return setrlimit(RLIMIT_SIGPENDING, &now) < 0 ? -errno : 0;
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
 * Whom the kernel takes last when memory is short: a service that must not die, and so far all that
 * it starts. With CAP_SYS_RESOURCE this also ends the right to go back (proc(5)).
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
	if (strtol(text, NULL, 10) >= 0)
		return 0;
	/* Only now: where we are not dumpable, the file is root's. */
	ward_cleanup_fd int out = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
	return out < 0 || write(out, "0", 1) != 1 ? -errno : 0;
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
