/* SPDX-License-Identifier: Apache-2.0 */
/* Figures that only the processes inside can show (proc(5)); nothing here is known for certain. */
#include "enforcer/session/limits_internal.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"

/* Processes looked at: a session with more is told of by its other limits. */
#define PIDS_MAX 256

/* The numbers in a file of the host's proc or cgroup file system. */
static size_t read_pids(const char *path, pid_t pids[PIDS_MAX])
{
	char buf[8192];
	size_t n = 0;
	ward_cleanup_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t len = fd < 0 ? -1 : read(fd, buf, sizeof(buf) - 1);
	if (len <= 0)
		return 0;
	buf[len] = '\0';
	for (char *s = buf, *end = NULL; n < PIDS_MAX; s = end) {
		long pid = strtol(s, &end, 10);
		/* A last number may be cut off. */
		if (end == s || *end == '\0')
			break;
		if (pid > 1)
			pids[n++] = (pid_t)pid;
	}
	return n;
}

static size_t find_pids(const struct ward_limits *l, pid_t pids[PIDS_MAX])
{
	char path[4096];
	for (size_t i = 0; ward_cgroup_path(l->cg, i); i++) {
		int n = snprintf(path, sizeof(path), "%s/cgroup.procs", ward_cgroup_path(l->cg, i));
		size_t found = n > 0 && (size_t)n < sizeof(path) ? read_pids(path, pids) : 0;
		if (found > 0)
			return found;
	}
	/* Without a group: those that pid 1 has started or inherited. */
	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)l->pid1, (int)l->pid1);
	return read_pids(path, pids);
}

/*
 * As this process sees it. One tmpfs is divided into /tmp, /var/tmp, /run and /dev/shm, and the
 * last is the one that no tree can take the place of (sandbox/view.c, reserved[]): asked about a
 * tree, wardfs-fs would have to answer, and it may be waiting for us.
 */
static uint64_t tmp_used(pid_t pid)
{
	char path[64];
	struct statfs st;
	snprintf(path, sizeof(path), "/proc/%d/root/dev/shm", (int)pid);
	ward_cleanup_fd int fd = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstatfs(fd, &st) < 0 || st.f_type != TMPFS_MAGIC)
		return WARD_USAGE_UNKNOWN;
	return (uint64_t)(st.f_blocks - st.f_bfree) * (uint64_t)st.f_bsize;
}

/* Linux 6.2 gives the number as the directory's size; before that it is 0. */
static uint64_t files_open(pid_t pid)
{
	char path[64];
	struct stat st;
	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	return stat(path, &st) == 0 && st.st_size > 0 ? (uint64_t)st.st_size : WARD_USAGE_UNKNOWN;
}

void ward_limits_look(const struct ward_limits *l, struct ward_limits_seen *ret)
{
	pid_t pids[PIDS_MAX];
	size_t n = find_pids(l, pids);
	/* Where the command has a /tmp of its own. */
	bool tmp = l->backend->layers & WARD_LAYER_VIEW;
	*ret = (struct ward_limits_seen){WARD_USAGE_UNKNOWN, WARD_USAGE_UNKNOWN};
	for (size_t i = 0; i < n; i++) {
		uint64_t files = files_open(pids[i]);
		if (tmp && ret->tmp == WARD_USAGE_UNKNOWN)
			ret->tmp = tmp_used(pids[i]);
		if (files != WARD_USAGE_UNKNOWN &&
			(ret->files == WARD_USAGE_UNKNOWN || files > ret->files))
			ret->files = files;
	}
}
