/* SPDX-License-Identifier: Apache-2.0 */
/* Single files of a group. */
#include "enforcer/sandbox/cgroup_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"

const char *const ward_cgroup_controllers[WARD_CGROUP_PARTS] = {[WARD_CGROUP_MEMORY] = "memory",
	[WARD_CGROUP_PIDS] = "pids",
	[WARD_CGROUP_CPU] = "cpu",
	[WARD_CGROUP_CPUACCT] = "cpuacct",
	[WARD_CGROUP_IO] = "io",
	[WARD_CGROUP_PRESSURE] = ""};

int ward_cgroup_write(int dir, const char *file, const char *text)
{
	ward_cleanup_fd int fd = openat(dir, file, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	/* One write is one command to the kernel. */
	return write(fd, text, strlen(text)) < 0 ? -errno : 0;
}

int ward_cgroup_write_number(int dir, const char *file, uint64_t value)
{
	char text[32];
	snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
	return ward_cgroup_write(dir, file, text);
}

int ward_cgroup_open(int at, const char *path)
{
	int fd = openat(at, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int ward_cgroup_enable(int dir, unsigned parts)
{
	int r = 0;
	for (unsigned i = 0; i < WARD_CGROUP_PARTS && r == 0; i++) {
		char text[32];
		if (!(parts & 1U << i) || i == WARD_CGROUP_CPUACCT || i == WARD_CGROUP_PRESSURE)
			continue;
		snprintf(text, sizeof(text), "+%s", ward_cgroup_controllers[i]);
		r = ward_cgroup_write(dir, "cgroup.subtree_control", text);
	}
	/* The kernel's word for a controller that this group does not have itself. */
	return r == -ENOENT ? -EOPNOTSUPP : r;
}
