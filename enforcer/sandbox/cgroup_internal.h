/* SPDX-License-Identifier: Apache-2.0 */
/* What the cgroup*.c files share. */
#pragma once

#include "enforcer/sandbox/cgroup.h"

/* All sessions of one place lie in this directory. */
#define WARD_CGROUP_DIR "wardfs"
#define WARD_CGROUP_PATH_MAX 4096
/* More v1 hierarchies than the kernel has controllers (13) cannot be. */
#define WARD_HIERARCHIES_MAX 16

/* A mounted hierarchy that gives some part. */
struct ward_hierarchy {
	bool v2;
	unsigned parts;			  /* set of 1 << enum ward_cgroup_part */
	char mount[WARD_CGROUP_PATH_MAX]; /* where its visible top is */
	char own[WARD_CGROUP_PATH_MAX];	  /* our own group, below mount; "" at the top */
};

/*
 * Fills ret with what is mounted, v2 first. A v1 hierarchy gives only what the kernel has attached
 * to it, v2 what its top lists in cgroup.controllers, and what every group of it has.
 */
size_t ward_cgroup_hierarchies(struct ward_hierarchy *ret, size_t max);

/* One session directory. */
struct ward_group {
	bool v2;
	bool top;		      /* below the visible top: it may have processes of its own */
	unsigned parts;		      /* as above */
	int base, parent, dir, procs; /* BASE/wardfs (parent)/NAME (dir)/cgroup.procs; -1: none */
	int tasks;		      /* v1: NAME/tasks; -1: none */
	/* With helpers: NAME/inside, which procs and tasks are of then, and NAME/guard; -1: none.
	 */
	int inside, guard;
	char name[128];
	char leaf[64]; /* v2: where our own processes went; "" */
	char path[2 * WARD_CGROUP_PATH_MAX + 256];
};
/* Where the session's own processes are. */
static inline int ward_group_inside(const struct ward_group *g)
{
	return g->inside >= 0 ? g->inside : g->dir;
}
#define WARD_GROUP_INIT                                                                            \
	((struct ward_group){.base = -1,                                                           \
		.parent = -1,                                                                      \
		.dir = -1,                                                                         \
		.procs = -1,                                                                       \
		.tasks = -1,                                                                       \
		.inside = -1,                                                                      \
		.guard = -1})

/* What ward_cgroup_glance() keeps open. */
enum ward_glance {
	WARD_GLANCE_CPU = 0,
	WARD_GLANCE_PIDS,
	WARD_GLANCE_PIDS_PEAK,
	WARD_GLANCE_MEMORY,
	WARD_GLANCE_MEMORY_PEAK,
	WARD_GLANCES,
};

struct ward_cgroup {
	struct ward_group groups[WARD_CGROUP_PARTS];
	size_t n_groups;
	struct {
		int group; /* index, -1: none */
		char why[512];
	} part[WARD_CGROUP_PARTS];
	int memory_event; /* v2: memory.events; v1: an eventfd */
	int pids_event;	  /* pids.events */
	bool replayed;	  /* as the specification says */
	bool glanced;	  /* those files are open, where they are there */
	int glance[WARD_GLANCES];
};

/* v2: the parts that the children of this group can have. */
unsigned ward_cgroup_offers(int dir);
