/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much memory and how many CPUs this process may use: what the machine has, or what the control
 * groups around this process leave of it, whichever is less (in a container the groups do).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct ward_host_size {
	uint64_t memory; /* bytes; never 0 */
	uint64_t cpus;	 /* tenths of one; never 0 */
};

/*
 * Looks at this host: sysinfo(2), sched_getaffinity(2), and the control groups of
 * /proc/self/cgroup (cgroups(7)) as they are mounted beneath /sys/fs/cgroup. What cannot be read
 * bounds nothing. Never fails: where even sysinfo(2) does, memory is one page.
 */
struct ward_host_size ward_host_size(void);

/*
 * Lowers *s to what the groups of `groups` (the text of /proc/self/cgroup) and those above them
 * allow. mounted: where the hierarchies are: cgroup v2 there or in unified/ and hybrid/, those of
 * v1 in directories of their controllers' names. v2: memory.max, cpu.max
 * (Documentation/admin-guide/cgroup-v2.rst); v1: memory.limit_in_bytes, cpu.cfs_quota_us.
 */
void ward_host_size_bound(struct ward_host_size *s, const char *groups, const char *mounted);
