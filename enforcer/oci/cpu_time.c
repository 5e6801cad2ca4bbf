/* SPDX-License-Identifier: Apache-2.0 */
/* Finds and reads the accounting of a container's control group, of version 1 or 2. */
#include "enforcer/oci/cpu_time.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"

#define WAIT_MIN_NS (WARD_NS_PER_SEC / 20)
#define WAIT_MAX_NS (5 * WARD_NS_PER_SEC)

/* Is the word in the list with commas? */
static bool lists(const char *list, const char *word)
{
	const size_t len = strlen(word);
	for (const char *at = list; (at = strstr(at, word)); at += len)
		if ((at == list || at[-1] == ',') && (!at[len] || at[len] == ','))
			return true;
	return false;
}

/* fdinfo of a pidfd has the number of its process. */
static pid_t number_of(int pidfd)
{
	char name[64];
	char line[128];
	int pid = -1;
	(void)snprintf(name, sizeof(name), "/proc/self/fdinfo/%d", pidfd);
	ward_cleanup_file FILE *f = fopen(name, "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "Pid: %d", &pid) == 1)
			break;
	return pid;
}

/* The group of the process in the hierarchy that counts CPU time, v1 where there is one. */
static int group_of(pid_t pid, bool v2, char ret[PATH_MAX])
{
	char name[64];
	char text[PATH_MAX + 256];
	(void)snprintf(name, sizeof(name), "/proc/%d/cgroup", pid);
	ward_cleanup_file FILE *f = fopen(name, "re");
	while (f && fgets(text, sizeof(text), f)) {
		/* number:controllers:path */
		char *with = strchr(text, ':');
		char *path = with ? strchr(with + 1, ':') : NULL;
		if (!path)
			continue;
		*path++ = '\0';
		path[strcspn(path, "\n")] = '\0';
		if (v2 ? with[1] != '\0' : !lists(with + 1, "cpuacct"))
			continue;
		/* All processes of the host may be in the top: it says nothing of a container. */
		if (strcmp(path, "/") == 0 || strstr(path, "/.."))
			return -ENOTSUP;
		(void)snprintf(ret, PATH_MAX, "%s", path);
		return 0;
	}
	return -ENOENT;
}

static bool has_process(int dir, pid_t pid)
{
	ward_cleanup_fd int fd = openat(dir, "cgroup.procs", O_RDONLY | O_CLOEXEC);
	ward_cleanup_file FILE *f = fd < 0 ? NULL : fdopen(fd, "re");
	int one = 0;
	if (f)
		(void)ward_steal_fd(&fd);
	while (f && fscanf(f, "%d", &one) == 1)
		if (one == pid)
			return true;
	return false;
}

/* The file in this group below one mount; -1. */
static int open_below(const char *top, const char *group, bool v2, pid_t pid)
{
	ward_cleanup_fd int at = open(top, O_PATH | O_DIRECTORY | O_CLOEXEC);
	ward_cleanup_fd int dir =
		at < 0 ? -1
		       : openat(at, group[1] ? group + 1 : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0 || !has_process(dir, pid))
		return -1;
	return openat(dir, v2 ? "cpu.stat" : "cpuacct.usage", O_RDONLY | O_CLOEXEC);
}

/* Looks at each mount of the hierarchy: one may show a part of it only, or lie below another. */
static int open_group(const char *group, bool v2, pid_t pid)
{
	ward_cleanup_file FILE *f = fopen("/proc/self/mountinfo", "re");
	ward_cleanup_free char *line = NULL;
	size_t size = 0;
	while (f && getline(&line, &size, f) > 0) {
		ward_cleanup_free char *root = NULL;
		ward_cleanup_free char *top = NULL;
		ward_cleanup_free char *kind = NULL;
		ward_cleanup_free char *options = NULL;
		const char *rest = strstr(line, " - ");
		if (!rest || sscanf(line, "%*d %*d %*s %ms %ms", &root, &top) != 2 ||
			sscanf(rest, " - %ms %*s %ms", &kind, &options) != 2)
			continue;
		const size_t n = strcmp(root, "/") == 0 ? 0 : strlen(root);
		if (strcmp(kind, v2 ? "cgroup2" : "cgroup") != 0 ||
			(!v2 && !lists(options, "cpuacct")) || strncmp(group, root, n) != 0 ||
			group[n] != '/')
			continue;
		const int fd = open_below(top, group + n, v2, pid);
		if (fd >= 0)
			return fd;
	}
	return -1;
}

int ward_oci_cpu_open(int pidfd, int *ret, struct ward_err *err)
{
	char group[PATH_MAX];
	const pid_t pid = number_of(pidfd);
	struct pollfd alive = {.fd = pidfd, .events = POLLIN};
	ward_cleanup_fd int fd = -1;
	for (int v2 = 0; v2 < 2 && fd < 0 && pid > 0; v2++)
		if (group_of(pid, v2, group) == 0)
			fd = open_group(group, v2, pid);
	/* While it lives, its number was nobody else's. */
	if (fd < 0 || poll(&alive, 1, 0) != 0)
		return ward_err_set(err, -ENOTSUP,
			"no control group of the container's own counts its CPU time");
	*ret = ward_steal_fd(&fd);
	return 0;
}

int ward_oci_cpu_read(int fd, uint64_t *ret_ns)
{
	char text[4096];
	const ssize_t n = pread(fd, text, sizeof(text) - 1, 0);
	if (n <= 0)
		return n < 0 ? -errno : -ENODEV;
	text[n] = '\0';
	const bool v2 = strncmp(text, "usage_usec ", 11) == 0;
	char *end = NULL;
	errno = 0;
	const unsigned long long used = strtoull(v2 ? text + 11 : text, &end, 10);
	if (errno || *end != '\n')
		return -EBADMSG;
	*ret_ns = v2 ? used * 1000 : used;
	return 0;
}

uint64_t ward_oci_cpu_wait(uint64_t used_ns, uint64_t limit_ns)
{
	const long online = sysconf(_SC_NPROCESSORS_ONLN);
	const uint64_t left = used_ns < limit_ns ? limit_ns - used_ns : 0;
	const uint64_t wait = left / (uint64_t)(online > 0 ? online : 1);
	if (wait < WAIT_MIN_NS)
		return WAIT_MIN_NS;
	return wait > WAIT_MAX_NS ? WAIT_MAX_NS : wait;
}
