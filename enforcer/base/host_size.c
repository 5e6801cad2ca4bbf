/* SPDX-License-Identifier: Apache-2.0 */
/* Finds out how much of the machine is ours. */
#include "enforcer/base/host_size.h"

#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/quantity.h"

/* Less is no memory for a program. */
#define MEMORY_MIN 4096

/* A small file as text. False: it cannot be read. */
static bool read_text(const char *path, char *buf, size_t size)
{
	ward_cleanup_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, buf, size - 1);
	if (n < 0)
		return false;
	buf[n] = '\0';
	return true;
}

static bool read_group(const char *dir, const char *file, char *buf, size_t size)
{
	char path[PATH_MAX];
	int n = snprintf(path, sizeof(path), "%s/%s", dir, file);
	return n > 0 && (size_t)n < sizeof(path) && read_text(path, buf, size);
}

static void lower(uint64_t *v, uint64_t to, uint64_t least)
{
	to = to < least ? least : to;
	*v = to < *v ? to : *v;
}

/* microseconds of CPU time in each period */
static void lower_cpus(struct ward_host_size *s, uint64_t quota, const char *period)
{
	uint64_t per = 0;
	if (ward_quantity_digits(&period, &per) && per > 0 && quota < UINT64_MAX / 10)
		lower(&s->cpus, quota * 10 / per, 1);
}

/* One group of either version; a file that is missing or says "max" or "-1" bounds nothing. */
static void look_at(struct ward_host_size *s, const char *dir)
{
	static const char *const memory[] = {"memory.max", "memory.limit_in_bytes"};
	char text[64], period[64];
	uint64_t v = 0;
	const char *p = text;
	for (size_t i = 0; i < 2; i++) {
		p = text;
		if (read_group(dir, memory[i], text, sizeof(text)) && ward_quantity_digits(&p, &v))
			lower(&s->memory, v, MEMORY_MIN);
	}
	p = text;
	if (read_group(dir, "cpu.max", text, sizeof(text)) && ward_quantity_digits(&p, &v) &&
		*p == ' ')
		lower_cpus(s, v, p + 1);
	p = text;
	if (read_group(dir, "cpu.cfs_quota_us", text, sizeof(text)) &&
		ward_quantity_digits(&p, &v) &&
		read_group(dir, "cpu.cfs_period_us", period, sizeof(period)))
		lower_cpus(s, v, period);
}

/*
 * The group at `path` of the hierarchy mounted at `mount`, and those above it. In a container the
 * path may be the host's, which does not exist inside. Then the mount's own group counts.
 */
static void look_up(struct ward_host_size *s, const char *mount, const char *path)
{
	char dir[PATH_MAX];
	const size_t top = strlen(mount);
	int n = snprintf(dir, sizeof(dir), "%s%s", mount, path);
	if (n < 0 || (size_t)n >= sizeof(dir) || strstr(path, "/../"))
		dir[top] = '\0';
	for (;;) {
		look_at(s, dir);
		char *slash = strlen(dir) > top ? strrchr(dir, '/') : NULL;
		if (!slash || slash < dir + top)
			return;
		*slash = '\0';
	}
}

/* Whether the list of names, with commas between, has this one. */
static bool has_name(const char *names, const char *name)
{
	const size_t len = strlen(name);
	for (const char *p = names; p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL)
		if (strcspn(p, ",") == len && memcmp(p, name, len) == 0)
			return true;
	return false;
}

/* A line "ID:CONTROLLERS:PATH"; controllers are empty for version 2. */
static void look_at_line(struct ward_host_size *s, char *line, const char *mounted)
{
	static const char *const places[] = {"", "/unified", "/hybrid"};
	char mount[PATH_MAX];
	char *names = strchr(line, ':');
	char *path = names ? strchr(names + 1, ':') : NULL;
	if (!path || path[1] != '/')
		return;
	*path++ = '\0';
	names++;
	for (size_t i = 0; !*names && i < sizeof(places) / sizeof(*places); i++) {
		snprintf(mount, sizeof(mount), "%s%s", mounted, places[i]);
		look_up(s, mount, path);
	}
	if (!*names)
		return;
	/* Of version 1, each controller has its files in its own hierarchy. */
	if (!has_name(names, "memory") && !has_name(names, "cpu"))
		return;
	/* "cpu,cpuacct" is mounted by that name, by one of both, or by links of both. */
	snprintf(mount, sizeof(mount), "%s/%s", mounted, names);
	look_up(s, mount, path);
	char *rest = NULL;
	for (char *one = strtok_r(names, ",", &rest); one; one = strtok_r(NULL, ",", &rest)) {
		snprintf(mount, sizeof(mount), "%s/%s", mounted, one);
		look_up(s, mount, path);
	}
}

void ward_host_size_bound(struct ward_host_size *s, const char *groups, const char *mounted)
{
	ward_cleanup_free char *text = strdup(groups);
	char *rest = NULL;
	for (char *l = text ? strtok_r(text, "\n", &rest) : NULL; l;
		l = strtok_r(NULL, "\n", &rest))
		look_at_line(s, l, mounted);
}

struct ward_host_size ward_host_size(void)
{
	struct ward_host_size s = {.memory = MEMORY_MIN, .cpus = 10};
	struct sysinfo si;
	cpu_set_t set;
	char groups[16384];
	if (sysinfo(&si) == 0 && si.totalram > 0)
		s.memory = (uint64_t)si.totalram * si.mem_unit;
	long online = sysconf(_SC_NPROCESSORS_ONLN);
	if (online > 0)
		s.cpus = 10 * (uint64_t)online;
	/* A host with more CPUs than the set has room for says EINVAL: then those online count. */
	if (sched_getaffinity(0, sizeof(set), &set) == 0 && CPU_COUNT(&set) > 0)
		lower(&s.cpus, 10 * (uint64_t)CPU_COUNT(&set), 10);
	if (read_text("/proc/self/cgroup", groups, sizeof(groups)))
		ward_host_size_bound(&s, groups, "/sys/fs/cgroup");
	return s;
}
