/* SPDX-License-Identifier: Apache-2.0 */
#include "enforcer/base/sched.h"

#include <assert.h>
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
