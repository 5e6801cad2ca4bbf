/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What netlink sockets keep unread. The kernel counts it against each socket's own buffer alone
 * (net/netlink/af_netlink.c: sk_rmem_alloc), against no control group, and RLIMIT_NOFILE is each
 * process's own. Nobody tells when it grows: the list of the session's network namespace is read.
 */
#include "enforcer/session/limits/limits_internal.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "enforcer/base/cleanup.h"

#define MS (WARD_NS_PER_SEC / 1000)
#define WAIT_MIN_NS (50 * MS)
#define WAIT_MAX_NS WARD_NS_PER_SEC
/* A look costs so many times less CPU time than passes until the next one. */
#define PACE 20
/* Without a control group for CPU time nobody tells whether the session sleeps. */
#define WAIT_BLIND_NS (250 * MS)
/* struct netlink_sock is not counted either. */
#define BYTES_PER_SOCKET 2048
/*
 * No program has so many, and the list takes the square of their number: the kernel walks it from
 * the start for each page that is read.
 */
#define SOCKETS_MAX 16384
/* The share of the limit of memory that they may keep. */
#define SHARE 4

/* The session's own, and not the one that we are in. */
static bool own_namespace(pid_t pid1)
{
	char path[64];
	struct stat ours;
	struct stat theirs;
	snprintf(path, sizeof(path), "/proc/%d/ns/net", (int)pid1);
	return stat("/proc/self/ns/net", &ours) == 0 && stat(path, &theirs) == 0 &&
	       (ours.st_dev != theirs.st_dev || ours.st_ino != theirs.st_ino);
}

void ward_limits_netlink_start(struct ward_limits *l, uint64_t now)
{
	l->netlink_wait = WAIT_MIN_NS;
	l->netlink_cpu = l->last.cpu_ns;
	l->netlink_at = l->settings->memory != WARD_UNLIMITED && own_namespace(l->pid1)
				? now + l->netlink_wait
				: WARD_UNLIMITED;
}

/* sk Eth Pid Groups Rmem Wmem Dump Locks Drops Inode */
static uint64_t kept(const char *line)
{
	for (int i = 0; i < 4; i++) {
		line += strcspn(line, " ");
		line += strspn(line, " ");
	}
	const long long rmem = strtoll(line, NULL, 10);
	return BYTES_PER_SOCKET + (rmem > 0 ? (uint64_t)rmem : 0);
}

/* False: there are too many of them, or they keep more than most. */
static bool sum(pid_t pid1, uint64_t most, uint64_t *ret)
{
	char path[64];
	char line[256];
	size_t n = 0;
	snprintf(path, sizeof(path), "/proc/%d/net/netlink", (int)pid1);
	*ret = 0;
	ward_cleanup_file FILE *f = fopen(path, "re");
	/* The first line names the columns. */
	if (!f || !fgets(line, sizeof(line), f))
		return true;
	while (*ret <= most && n < SOCKETS_MAX && fgets(line, sizeof(line), f)) {
		*ret += kept(line);
		n++;
	}
	return *ret <= most && n < SOCKETS_MAX;
}

static uint64_t own_cpu_ns(void)
{
	struct timespec t = {0, 0};
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * WARD_NS_PER_SEC + (uint64_t)t.tv_nsec;
}

static uint64_t max64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Without CPU time of the session its sockets got nothing from the kernel, or little. */
static uint64_t wait_next(struct ward_limits *l)
{
	struct ward_usage use = l->last;
	ward_cgroup_glance(l->cg, &use);
	if (use.cpu_ns == WARD_USAGE_UNKNOWN)
		return WAIT_BLIND_NS;
	const bool slept = use.cpu_ns == l->netlink_cpu;
	l->netlink_cpu = use.cpu_ns;
	if (!slept)
		return WAIT_MIN_NS;
	return 2 * l->netlink_wait < WAIT_MAX_NS ? 2 * l->netlink_wait : WAIT_MAX_NS;
}

bool ward_limits_netlink_over(struct ward_limits *l, uint64_t now)
{
	if (now < l->netlink_at)
		return false;
	const uint64_t began = own_cpu_ns();
	const bool fits = sum(l->pid1, l->settings->memory / SHARE, &l->netlink);
	l->netlink_peak = max64(l->netlink, l->netlink_peak);
	l->netlink_wait = wait_next(l);
	l->netlink_at = now + max64(l->netlink_wait, (own_cpu_ns() - began) * PACE);
	return !fits;
}
