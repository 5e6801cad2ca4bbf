/* SPDX-License-Identifier: Apache-2.0 */
/* What the cgroup*.c files share. */
#pragma once

#include <pthread.h>

#include "enforcer/ipc/host.h"
#include "enforcer/sandbox/cgroup.h"

#define WARD_CGROUP_PATH_MAX 4096
/* In a session's directory, where its helpers count: those of its processes and of these. */
#define WARD_CGROUP_INSIDE "inside"
#define WARD_CGROUP_GUARD "guard"
#define WARD_CGROUP_FREEZE "cgroup.freeze"
/* The kernel lets go of a group some milliseconds after its last process; more ends a hang. */
#define WARD_CGROUP_TRIES 2000
#define WARD_CGROUP_NAP_US 1000
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
	int above;	 /* of a user: base/wardfs-host (above)/UID (parent); -1: none */
	char holder[16]; /* of a user: the UID */
	int tasks;	 /* v1: NAME/tasks; -1: none */
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
		.above = -1,                                                                       \
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

/* The service answers one question after the other. */
struct ward_cgroup_service {
	int conn; /* -1: no service */
	pthread_mutex_t lock;
};

struct ward_cgroup {
	struct ward_cgroup_service service; /* that made the groups */
	struct ward_group groups[WARD_CGROUP_PARTS];
	size_t n_groups;
	struct {
		int group; /* index, -1: none */
		char why[1024];
	} part[WARD_CGROUP_PARTS];
	int memory_event; /* v2: memory.events; v1: an eventfd */
	int pids_event;	  /* pids.events */
	/* v1, the threshold: a thread asks for it, which alone writes near_error while it runs. */
	pthread_t near;
	bool near_at_once; /* without a thread, which wardfs-hostd may not make */
	bool near_runs;
	int near_error;
	const struct ward_group *near_group;
	uint64_t near_threshold;
	bool replayed; /* as the specification says */
	bool glanced;  /* those files are open, where they are there */
	int glance[WARD_GLANCES];
};

/*
 * Asks the service for groups with the limits of spec, in place of those in cg, and takes them.
 * conn becomes cg's. -EDQUOT: a limit is above what the host gives a user; -EUSERS: the user has as
 * many groups as may be; -EPIPE: there is no answer; or why the groups could not be made.
 */
int ward_cgroup_ask(
	struct ward_cgroup *cg, const struct ward_cgroup_spec *spec, int conn) ward_must_check;
/* The service removes the groups: waits for that. */
void ward_cgroup_give_back(struct ward_cgroup *cg);
/* Makes the directory of the session, with parts, beneath base. -EPERM: somebody else made what it
 * would lie in. */
int ward_group_make_in(struct ward_group *g, int base, unsigned parts,
	const struct ward_cgroup_spec *s) ward_must_check;
/* Removes one group, and closes what belongs to it. */
void ward_group_remove(struct ward_group *g);

extern const char *const ward_cgroup_controllers[WARD_CGROUP_PARTS];

/* One write is one command to the kernel. */
int ward_cgroup_write(int dir, const char *file, const char *text) ward_must_check;
int ward_cgroup_write_number(int dir, const char *file, uint64_t value) ward_must_check;
/* The descriptor, or a negative errno. */
int ward_cgroup_open(int at, const char *path) ward_must_check;
/* v2: gives the controllers on to the children of dir. -EBUSY: dir has processes of its own. */
int ward_cgroup_enable(int dir, unsigned parts) ward_must_check;

/*
 * v2: a group with processes of its own gives no controller on (cgroups(7)). So this process goes
 * into a leaf of its own in dir, and all others of dir into the leaf WARD_CGROUP_OTHERS, as
 * systemd's CGROUP_DELEGATION.md tells whom it delegates a group to. They do only where dir was
 * delegated to this user and all of them are this user's: else -EBUSY, and nothing has changed.
 */
#define WARD_CGROUP_OTHERS "wardfs-others"
int ward_group_step_aside(struct ward_group *g, int dir, unsigned parts) ward_must_check;
/* After the last session there: all of them back where they were. */
void ward_group_step_back(struct ward_group *g);
/* What to say of -EBUSY. */
void ward_cgroup_say_busy(const struct ward_hierarchy *h, char *ret, size_t size);

/* v2: the parts that the children of this group can have. */
unsigned ward_cgroup_offers(int dir);
