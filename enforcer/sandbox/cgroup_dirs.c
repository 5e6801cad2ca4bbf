/* SPDX-License-Identifier: Apache-2.0 */
/* The directory of a session in one hierarchy, and those that it lies in: made, swept, removed. */
#include "enforcer/sandbox/cgroup_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"

/* How often names and removals are tried again: others make and remove beside us. */
#define TRIES 100
/* Of a directory full of leftovers this many are looked at. */
#define SWEEP_MAX 4096

static int remove_session_dir(int parent, int dir, const char *name)
{
	unlinkat(dir, WARD_CGROUP_INSIDE, AT_REMOVEDIR);
	unlinkat(dir, WARD_CGROUP_GUARD, AT_REMOVEDIR);
	return unlinkat(parent, name, AT_REMOVEDIR) < 0 ? -errno : 0;
}

/* Its supervisor and wardfs-fs were both killed while a step was made: its processes, which end by
 * themselves then, have to go on for that. */
static void thaw(int dir)
{
	ward_cleanup_fd int inside = ward_cgroup_open(dir, WARD_CGROUP_INSIDE);
	(void)!ward_cgroup_write(dir, WARD_CGROUP_FREEZE, "0");
	if (inside >= 0)
		(void)!ward_cgroup_write(inside, WARD_CGROUP_FREEZE, "0");
}

/* Removes what nobody holds: a live session's directory is locked, one with processes is busy. */
static bool remove_one(int parent, const char *name)
{
	ward_cleanup_fd int dir = ward_cgroup_open(parent, name);
	if (dir < 0 || flock(dir, LOCK_EX | LOCK_NB) < 0)
		return false;
	thaw(dir);
	return remove_session_dir(parent, dir, name) == 0;
}

/* Calls each() with every directory in dir. */
static void for_each_child(int dir, void (*each)(int dir, const char *name))
{
	int copy = ward_cgroup_open(dir, ".");
	ward_cleanup_dir DIR *d = copy < 0 ? NULL : fdopendir(copy);
	if (!d && copy >= 0)
		close(copy);
	const struct dirent *e = NULL;
	for (size_t i = 0; d && i < SWEEP_MAX && (e = readdir(d)); i++)
		if (e->d_type == DT_DIR && e->d_name[0] != '.')
			each(dir, e->d_name);
}

static void remove_stale(int parent, const char *name)
{
	(void)remove_one(parent, name);
}

static void sweep(int parent)
{
	for_each_child(parent, remove_stale);
}

/* Ours alone: a directory that somebody else made there would be theirs to change. */
static bool is_ours(int dir)
{
	struct stat st;
	return fstat(dir, &st) == 0 && st.st_uid == geteuid() && !(st.st_mode & 022);
}

/* Those of others keep them. */
static void remove_holders(const struct ward_group *g, int base)
{
	if (g->above >= 0)
		unlinkat(g->above, g->holder, AT_REMOVEDIR);
	unlinkat(base, g->above >= 0 ? WARD_HOST_GROUPS_DIR : WARD_CGROUP_DIR, AT_REMOVEDIR);
}

/* Of what a user has altogether. v1 takes no limit above that of memory and swap, and none of these
 * below the other: once more where the first order was the wrong one. */
static int bound_memory(int dir, bool v2, uint64_t bytes)
{
	static const char swap[] = "memory.memsw.limit_in_bytes";
	int r = ward_cgroup_write_number(dir, v2 ? "memory.max" : "memory.limit_in_bytes", bytes);
	if (r == -EINVAL && !v2 && ward_cgroup_write_number(dir, swap, bytes) == 0)
		r = ward_cgroup_write_number(dir, "memory.limit_in_bytes", bytes);
	if (r < 0)
		return r;
	r = ward_cgroup_write_number(dir, v2 ? "memory.swap.max" : swap, v2 ? 0 : bytes);
	/* A kernel without swap. */
	return r == -ENOENT ? 0 : r;
}

/* Makes and locks NAME, or NAME.2 … where it is in use. -ENOENT: parent was removed meanwhile. */
static int make_session_dir(int parent, const char *name, char *ret_name, size_t size)
{
	for (int i = 0; i < TRIES; i++) {
		if (i == 0)
			snprintf(ret_name, size, "%s", name);
		else
			snprintf(ret_name, size, "%s.%d", name, i + 1);
		if (mkdirat(parent, ret_name, 0755) < 0) {
			if (errno != EEXIST)
				return -errno;
			if (remove_one(parent, ret_name))
				i--; /* the name is free now */
			continue;
		}
		ward_cleanup_fd int dir = ward_cgroup_open(parent, ret_name);
		struct stat mine;
		struct stat there;
		if (dir < 0 && dir != -ENOENT) {
			unlinkat(parent, ret_name, AT_REMOVEDIR);
			return dir;
		}
		/* One who sweeps may have been between mkdir and lock. */
		if (dir < 0 || flock(dir, LOCK_EX) < 0 || fstat(dir, &mine) < 0 ||
			fstatat(parent, ret_name, &there, AT_SYMLINK_NOFOLLOW) < 0 ||
			mine.st_ino != there.st_ino)
			continue;
		return ward_steal_fd(&dir);
	}
	return -EBUSY;
}

/* Makes or finds DIR in base, a directory for sessions, which gives on parts. -ENOENT: another one
 * removed it meanwhile. */
static int make_holder(
	struct ward_group *g, int base, const char *dir, mode_t mode, unsigned parts, int *ret)
{
	if (mkdirat(base, dir, mode) < 0 && errno != EEXIST)
		return -errno;
	ward_cleanup_fd int fd = ward_cgroup_open(base, dir);
	if (fd < 0) {
		if (fd != -ENOENT)
			unlinkat(base, dir, AT_REMOVEDIR);
		return fd;
	}
	if (!is_ours(fd))
		return -EPERM;
	int r = 0;
	if (g->v2) {
		r = ward_cgroup_enable(base, parts);
		if (r == -EBUSY && !g->top)
			r = ward_group_step_aside(g, base, parts);
		if (r == 0)
			r = ward_cgroup_enable(fd, parts);
	}
	if (r == 0)
		*ret = ward_steal_fd(&fd);
	else
		unlinkat(base, dir, AT_REMOVEDIR);
	return r;
}

/* In place of *parent, which becomes g->above: the directory of that user in it, with the bounds of
 * all that the user has there. */
static int make_user(
	struct ward_group *g, const struct ward_cgroup_user *user, unsigned parts, int *parent)
{
	int fd = -1;
	snprintf(g->holder, sizeof(g->holder), "%u", (unsigned)user->uid);
	int r = make_holder(g, *parent, g->holder, 0755, parts, &fd);
	if (r < 0)
		return r;
	if (g->above >= 0)
		close(g->above);
	g->above = *parent;
	*parent = fd;
	if (parts & 1U << WARD_CGROUP_MEMORY)
		r = bound_memory(fd, g->v2, user->memory);
	if (r == 0 && parts & 1U << WARD_CGROUP_PIDS)
		r = ward_cgroup_write_number(fd, "pids.max", user->processes);
	return r;
}

/* Tries to make BASE/wardfs/NAME, or that of a user, with all of parts in it. */
int ward_group_make_in(
	struct ward_group *g, int base, unsigned parts, const struct ward_cgroup_spec *s)
{
	const char *const top = s->user ? WARD_HOST_GROUPS_DIR : WARD_CGROUP_DIR;
	for (int i = 0; i < TRIES; i++) {
		ward_cleanup_fd int parent = -1;
		/* Nobody else locks what is the service's. */
		int r = make_holder(g, base, top, s->user ? 0700 : 0755, parts, &parent);
		if (r == 0 && s->user)
			r = make_user(g, s->user, parts, &parent);
		if (r == 0) {
			sweep(parent);
			r = make_session_dir(parent, s->name, g->name, sizeof(g->name));
		}
		if (r == -ENOENT)
			continue; /* somebody removed an empty wardfs/ */
		if (r < 0) {
			remove_holders(g, base);
			return r;
		}
		ward_cleanup_fd int dir = r;
		if (g->base < 0)
			g->base = fcntl(base, F_DUPFD_CLOEXEC, 3);
		if (g->base < 0) {
			r = -errno;
			unlinkat(parent, g->name, AT_REMOVEDIR);
			remove_holders(g, base);
			return r;
		}
		g->dir = ward_steal_fd(&dir);
		g->parent = ward_steal_fd(&parent);
		return 0;
	}
	return -EBUSY;
}

void ward_group_remove(struct ward_group *g)
{
	if (g->dir >= 0 && g->parent >= 0) {
		for (int i = 0; i < WARD_CGROUP_TRIES; i++) {
			if (remove_session_dir(g->parent, g->dir, g->name) != -EBUSY)
				break;
			usleep(WARD_CGROUP_NAP_US);
		}
	}
	/* With other sessions in it it stays. */
	if (g->base >= 0)
		remove_holders(g, g->base);
	/* The service stands in none of them. */
	if (g->above < 0)
		ward_group_step_back(g);
	const int fds[] = {
		g->procs, g->tasks, g->inside, g->guard, g->dir, g->parent, g->above, g->base};
	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
		if (fds[i] >= 0)
			close(fds[i]);
}

static void sweep_user(int dir, const char *name)
{
	ward_cleanup_fd int parent = ward_cgroup_open(dir, name);
	if (parent >= 0)
		sweep(parent);
	unlinkat(dir, name, AT_REMOVEDIR);
}

void ward_cgroup_sweep_users(void)
{
	ward_cleanup_free struct ward_hierarchy *h = calloc(WARD_HIERARCHIES_MAX, sizeof(*h));
	const size_t n = h ? ward_cgroup_hierarchies(h, WARD_HIERARCHIES_MAX) : 0;
	for (size_t i = 0; i < n; i++) {
		ward_cleanup_fd int top = ward_cgroup_open(AT_FDCWD, h[i].mount);
		ward_cleanup_fd int dir =
			top < 0 ? -1 : ward_cgroup_open(top, WARD_HOST_GROUPS_DIR);
		if (dir < 0 || !is_ours(dir))
			continue;
		for_each_child(dir, sweep_user);
		unlinkat(top, WARD_HOST_GROUPS_DIR, AT_REMOVEDIR);
	}
}
