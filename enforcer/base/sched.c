/* SPDX-License-Identifier: Apache-2.0 */
/* Sets how the kernel schedules this process. */
#include "enforcer/base/sched.h"

#include <assert.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* What sched_setattr(2) takes, size VER0; glibc 2.36 has neither the call nor this. */
struct sched_attr_v0 {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period;
};
static_assert(sizeof(struct sched_attr_v0) == 48, "SCHED_ATTR_SIZE_VER0");

void ward_sched_turn(int policy, uint64_t ns)
{
	struct sched_attr_v0 attr = {.size = sizeof(attr)};
	if (syscall(SYS_sched_getattr, 0, &attr, sizeof(attr), 0U) < 0)
		return;
	attr.size = sizeof(attr);
	attr.policy = (uint32_t)policy;
	attr.flags = 0;
	attr.runtime = ns;
	(void)!syscall(SYS_sched_setattr, 0, &attr, 0U);
}

void ward_sched_awake(bool on)
{
	static int fd = -1;
	const int32_t usec = on ? 0 : 2000000000; /* PM_QOS_CPU_LATENCY_DEFAULT_VALUE */
	if (on && fd < 0)
		fd = open("/dev/cpu_dma_latency", O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	/* Written also when it is closed: a child that was forked may have the file, too. */
	(void)!write(fd, &usec, sizeof(usec));
	if (!on) {
		close(fd);
		fd = -1;
	}
}
