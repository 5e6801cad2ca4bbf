/* SPDX-License-Identifier: Apache-2.0 */
/* Figures that only the processes inside can show (proc(5)); nothing here is known for certain. */
#include "enforcer/session/limits/limits_internal.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"

/* How many processes are examined. A session with more of them meets its other limits. */
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

/* --- places --- */

static void add(struct ward_limits *l, const char *name, const char *path, int fd)
{
	if (l->n_places < WARD_LIMITS_PLACES_MAX)
		l->places[l->n_places++] =
			(struct ward_limits_place){.name = name, .path = path, .fd = fd};
}

void ward_limits_places_add(struct ward_limits *l, const struct ward_limits_spec *spec)
{
	const struct ward_run_plan *p = spec->plan;
	bool home_is_tree = false;
	for (size_t i = 0; p && i < p->n_trees; i++) {
		if (!p->trees[i].source && p->trees[i].backing >= 0)
			add(l, p->trees[i].path, NULL, p->trees[i].backing);
		home_is_tree = home_is_tree || strcmp(p->trees[i].path, p->id.agent_home) == 0;
	}
	if (!(l->mode->layers & WARD_LAYER_VIEW) || l->settings->tmp_bytes == WARD_UNLIMITED)
		return;
	/*
	 * One tmpfs is divided into /tmp, /var/tmp, /run and /dev/shm, and the last is the one that
	 * no tree can take the place of (sandbox/view.c, reserved[]): asked about a tree, wardfs-fs
	 * would have to answer, and it may be waiting for us.
	 */
	add(l, "tmp", "/dev/shm", -1);
	if (p && l->settings->home == WARD_HOME_TMPFS && !home_is_tree)
		add(l, "home", p->id.agent_home, -1);
}

void ward_limits_places_close(struct ward_limits *l)
{
	for (size_t i = 0; i < l->n_places; i++)
		if (l->places[i].owned)
			close(l->places[i].fd);
	l->n_places = 0;
}

/* As this process sees it. The descriptor holds that one mount, and no other of the session. */
static void show(struct ward_limits_place *p, pid_t pid)
{
	char path[4096];
	struct statfs st;
	int n = snprintf(path, sizeof(path), "/proc/%d/root%s", (int)pid, p->path);
	if (n <= 0 || (size_t)n >= sizeof(path))
		return;
	ward_cleanup_fd int fd = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstatfs(fd, &st) < 0 || st.f_type != TMPFS_MAGIC)
		return;
	p->fd = ward_steal_fd(&fd);
	p->owned = true;
}

void ward_limits_places_open(struct ward_limits *l)
{
	pid_t pids[PIDS_MAX];
	size_t missing = 0;
	for (size_t i = 0; i < l->n_places; i++)
		missing += l->places[i].fd < 0;
	if (!missing || l->pid1 == 0)
		return;
	size_t n = find_pids(l, pids);
	for (size_t i = 0; i < l->n_places; i++)
		for (size_t k = 0; k < n && l->places[i].fd < 0; k++)
			show(&l->places[i], pids[k]);
}

bool ward_limits_room(const struct ward_limits_place *p, struct ward_limits_room *ret)
{
	struct statfs st;
	if (p->fd < 0 || fstatfs(p->fd, &st) < 0)
		return false;
	*ret = (struct ward_limits_room){
		.bytes = (uint64_t)(st.f_blocks - st.f_bfree) * (uint64_t)st.f_bsize,
		.bytes_max = (uint64_t)st.f_blocks * (uint64_t)st.f_bsize,
		.files = (uint64_t)(st.f_files - st.f_ffree),
		.files_max = (uint64_t)st.f_files};
	return true;
}

/* --- descriptors --- */

/* Linux 6.2 gives the number as the directory's size; before that it is 0. */
static uint64_t files_open(pid_t pid)
{
	char path[64];
	struct stat st;
	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	return stat(path, &st) == 0 && st.st_size > 0 ? (uint64_t)st.st_size : WARD_USAGE_UNKNOWN;
}

uint64_t ward_limits_files(const struct ward_limits *l)
{
	pid_t pids[PIDS_MAX];
	size_t n = l->pid1 == 0 ? 0 : find_pids(l, pids);
	uint64_t most = WARD_USAGE_UNKNOWN;
	for (size_t i = 0; i < n; i++) {
		uint64_t files = files_open(pids[i]);
		if (files != WARD_USAGE_UNKNOWN && (most == WARD_USAGE_UNKNOWN || files > most))
			most = files;
	}
	return most;
}
