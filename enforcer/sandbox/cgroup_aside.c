/* SPDX-License-Identifier: Apache-2.0 */
/* Who runs in a group that was delegated makes room in it: cgroup_internal.h. */
#include "enforcer/sandbox/cgroup_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"
#include "enforcer/base/fd.h"

static const char procs[] = "cgroup.procs";
/*
 * Those that are moved start others meanwhile, which are where their parent was. And a process that
 * is ending is no longer in the list, but still in the group until it has ended: on busy processors
 * that takes a while.
 */
#define PATIENCE_NS (5 * WARD_NS_PER_SEC)
#define NAP_NS 1000000L
/* The command that say_busy() names has the path three times. */
#define NAMED_MAX 200

static bool is_users(int fd)
{
	struct stat st;
	return fd >= 0 && fstat(fd, &st) == 0 && st.st_uid == geteuid();
}

/*
 * Was dir itself delegated to this user? systemd marks what it delegates (user.delegate, since
 * version 251). Elsewhere it is the topmost group that belongs to the user: those beneath may be
 * another program's, such as the scopes of the user's own systemd.
 */
static bool is_delegated(int dir)
{
	char mark[2];
	ward_cleanup_fd int above = openat(dir, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ward_cleanup_fd int control = openat(dir, "cgroup.subtree_control", O_WRONLY | O_CLOEXEC);
	if (!is_users(dir) || !is_users(control))
		return false;
	return !is_users(above) ||
	       (fgetxattr(dir, "user.delegate", mark, sizeof(mark)) == 1 && mark[0] == '1');
}

/* With all four of its user ids. */
static bool is_users_process(long pid)
{
	char path[64], line[256];
	unsigned id[4];
	bool yes = false;
	snprintf(path, sizeof(path), "/proc/%ld/status", pid);
	ward_cleanup_file FILE *f = fopen(path, "re");
	/* It has ended. */
	if (!f)
		return errno == ENOENT;
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "Uid: %u %u %u %u", &id[0], &id[1], &id[2], &id[3]) == 4) {
			yes = true;
			for (size_t i = 0; i < 4; i++)
				yes = yes && id[i] == geteuid();
		}
	return yes || ferror(f);
}

/* Calls each() with every process that is directly in dir; the first error ends it. */
static int for_each_process(int dir, int (*each)(long pid, int to), int to)
{
	ward_cleanup_fd int fd = openat(dir, procs, O_RDONLY | O_CLOEXEC);
	ward_cleanup_file FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
	long pid = 0;
	int r = 0;
	if (!f)
		return -errno;
	(void)ward_steal_fd(&fd);
	while (r == 0 && fscanf(f, "%ld", &pid) == 1)
		r = each(pid, to);
	return r;
}

/* 0: of another pid namespace, so nobody knows whose. */
static int look(long pid, int to)
{
	(void)to;
	return pid > 0 && is_users_process(pid) ? 0 : -EBUSY;
}

static int move(long pid, int to)
{
	char text[32];
	snprintf(text, sizeof(text), "%ld", pid);
	int r = ward_cgroup_write(to, procs, text);
	/* It has ended, or another one has the number now, which is not in reach. */
	return r == -ESRCH || r == -EACCES ? 0 : r;
}

/* All look before the first one moves. */
static int move_all(int from, int to)
{
	int r = for_each_process(from, look, to);
	return r < 0 ? r : for_each_process(from, move, to);
}

static void nap(void)
{
	const struct timespec ts = {.tv_nsec = NAP_NS};
	(void)nanosleep(&ts, NULL);
}

/* The leaf may be an earlier session's. */
static int move_others(int dir, unsigned parts)
{
	if (!is_delegated(dir))
		return -EBUSY;
	if (mkdirat(dir, WARD_CGROUP_OTHERS, 0755) < 0 && errno != EEXIST)
		return -errno;
	ward_cleanup_fd int leaf = ward_cgroup_open(dir, WARD_CGROUP_OTHERS);
	int r = leaf < 0 ? leaf : is_users(leaf) ? -EBUSY : -EPERM;
	const uint64_t until = ward_clock_mono_ns() + PATIENCE_NS;
	while (r == -EBUSY) {
		r = move_all(dir, leaf);
		if (r < 0)
			break;
		r = ward_cgroup_enable(dir, parts);
		if (r != -EBUSY || ward_clock_mono_ns() > until)
			break;
		nap();
	}
	return r;
}

static void move_back(int dir, const char *name)
{
	ward_cleanup_fd int leaf = ward_cgroup_open(dir, name);
	const uint64_t until = ward_clock_mono_ns() + PATIENCE_NS;
	while (leaf >= 0 && for_each_process(leaf, move, dir) == 0 &&
		unlinkat(dir, name, AT_REMOVEDIR) < 0 && ward_clock_mono_ns() < until)
		nap();
}

int ward_group_step_aside(struct ward_group *g, int dir, unsigned parts)
{
	snprintf(g->leaf, sizeof(g->leaf), "wardfs-supervisor.%d", (int)getpid());
	if (mkdirat(dir, g->leaf, 0755) < 0) {
		g->leaf[0] = '\0';
		return -errno;
	}
	ward_cleanup_fd int leaf = ward_cgroup_open(dir, g->leaf);
	int r = leaf < 0 ? leaf : ward_cgroup_write(leaf, procs, "0");
	if (r == 0)
		r = ward_cgroup_enable(dir, parts);
	if (r == -EBUSY)
		r = move_others(dir, parts);
	if (r == 0) {
		g->base = fcntl(dir, F_DUPFD_CLOEXEC, 3);
		r = g->base < 0 ? -errno : 0;
	}
	if (r < 0) {
		move_back(dir, WARD_CGROUP_OTHERS);
		(void)!ward_cgroup_write(dir, procs, "0");
		unlinkat(dir, g->leaf, AT_REMOVEDIR);
		g->leaf[0] = '\0';
	}
	return r;
}

void ward_group_step_back(struct ward_group *g)
{
	if (g->base < 0 || !g->v2 ||
		(g->leaf[0] == '\0' && faccessat(g->base, WARD_CGROUP_OTHERS, F_OK, 0) < 0))
		return;
	/* With other sessions there, neither this nor what follows is possible. */
	for (unsigned i = 0; i < WARD_CGROUP_PARTS; i++) {
		char text[32];
		snprintf(text, sizeof(text), "-%s", ward_cgroup_controllers[i]);
		if (g->parts & 1U << i)
			(void)!ward_cgroup_write(g->base, "cgroup.subtree_control", text);
	}
	if (g->leaf[0] != '\0' && ward_cgroup_write(g->base, procs, "0") == 0)
		unlinkat(g->base, g->leaf, AT_REMOVEDIR);
	move_back(g->base, WARD_CGROUP_OTHERS);
}

void ward_cgroup_say_busy(const struct ward_hierarchy *h, char *ret, size_t size)
{
	char path[2 * WARD_CGROUP_PATH_MAX];
	snprintf(path, sizeof(path), "%s%s", h->mount, h->own);
	int n = snprintf(ret, size,
		"no group can be made in %.300s: other processes run in the same group, which wardfs does not move: they are another user's, or the group was not delegated to you",
		h->mount);
	if (n > 0 && (size_t)n < size && strlen(path) <= NAMED_MAX && !strpbrk(path, " '\"$\\"))
		snprintf(ret + n, size - (size_t)n,
			"; if they may move: mkdir %s/leaf && for p in $(cat %s/cgroup.procs); do echo $p >%s/leaf/cgroup.procs; done",
			path, path, path);
}
