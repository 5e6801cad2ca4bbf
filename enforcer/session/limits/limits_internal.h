/* SPDX-License-Identifier: Apache-2.0 */
/* What the limits*.c files share. */
#pragma once

#include <pthread.h>

#include "enforcer/base/buf.h"
#include "enforcer/base/clock.h"
#include "enforcer/ipc/helper.h"
#include "enforcer/session/limits/limits.h"
#include "enforcer/session/limits/limits_helpers.h"

enum ward_limit_unit { WARD_LIMIT_BYTES = 0, WARD_LIMIT_TENTHS, WARD_LIMIT_NS, WARD_LIMIT_COUNT };

/* /tmp and what it shares, the home, and a tree each. */
#define WARD_LIMITS_PLACES_MAX (2 + WARD_TREES_MAX)

/* A tmpfs of the session whose size is limited. */
struct ward_limits_place {
	const char *name; /* as records name it; borrowed */
	const char *path; /* inside, that leads to it past no tree; NULL: fd is there already */
	int fd;		  /* O_PATH, its root; -1: nobody has shown it yet */
	bool owned;	  /* fd is ours to close */
	bool near_bytes, near_files; /* recorded */
};

/* Those that are moved (limits_helpers.c). */
struct ward_helpers {
	const struct ward_cgroup *cg;
	pid_t pids[WARD_LIMITS_HELPERS_MAX];
	size_t n, moved;
	pthread_t mover; /* while moving; it alone writes error and moved */
	bool moving;
	int error;
};
/* Waits for the thread. */
void ward_limits_helpers_end(struct ward_limits *l);

struct ward_limits {
	const struct ward_settings *settings;
	const struct ward_policy *policy;
	const struct ward_mode *mode;
	int starved; /* ward_limits_starve() */
	int signal;  /* that ended the command; 0: none, or not yet */
	struct ward_cgroup *cg;
	bool root;
	/* Sets of WARD_GUARANTEE_BIT(). unheld: defaults that cannot be held here. */
	uint32_t held, weakened, left_out, unheld;
	bool counts_helpers;
	struct ward_helpers helpers;

	int timer;
	bool rang, told; /* the timer; a control group: since the last check */
	bool running;	 /* the clocks run */
	/*
	 * CLOCK_MONOTONIC ns; WARD_UNLIMITED: never. The wall clock of a session goes on while the
	 * host is suspended: what CLOCK_BOOTTIME went ahead of the other clock is taken off here.
	 */
	uint64_t wall_at;
	uint64_t ahead;	    /* CLOCK_BOOTTIME of CLOCK_MONOTONIC, in ns, as far as that was done */
	uint64_t active_at; /* the last sign of life */
	uint64_t held_at;   /* a person was asked then, last; 0: nobody is */
	uint64_t activity;  /* the caller's number at that time */
	bool idle_default;  /* the idle clock is a profile's: CPU time is a sign of life, too */
	uint64_t idle_cpu;  /* what was used of it at the last look */
	uint64_t cpu_at;    /* before this the CPU time cannot be used up */
	uint64_t near_wall_at; /* when 90 % of the wall clock have passed; WARD_UNLIMITED: never */
	struct ward_usage last;
	bool near_memory, near_processes, near_cpu, near_files; /* recorded */
	pid_t pid1;						/* of the sandbox; 0: not yet */

	/* What nothing announces is looked at (limits_look.c). */
	struct ward_limits_place places[WARD_LIMITS_PLACES_MAX];
	size_t n_places;
	uint64_t look_at;    /* the next look; WARD_UNLIMITED: none */
	uint64_t look_wait;  /* between the last one and it, while the session sleeps */
	uint64_t glance_at;  /* the next look at what control groups tell, and whether it sleeps */
	uint64_t look_cpu;   /* CPU time that the session had used at the last of those */
	unsigned processors; /* that are online, at the start; 0: not yet */
	uint64_t files_at;   /* no look at descriptors before that */
	uint64_t forks_told;
	/* What netlink sockets of the session keep (limits_netlink.c): no control group counts it.
	 */
	uint64_t netlink, netlink_peak;	   /* bytes */
	uint64_t netlink_at, netlink_wait; /* the next look, WARD_UNLIMITED: none; the last wait */
	uint64_t netlink_cpu;		   /* CPU time used at the last look */
	bool finished;
};

/* The command starts: are its netlink sockets looked at, and when? */
void ward_limits_netlink_start(struct ward_limits *l, uint64_t now);
/* One look, where it is due. True: they keep more than their share of the memory. */
bool ward_limits_netlink_over(struct ward_limits *l, uint64_t now) ward_must_check;

/* Use from here on is recorded, in percent of a limit. */
#define WARD_LIMIT_NEAR 90
uint64_t ward_limit_near_value(uint64_t limit);

/* What a place holds and may hold. Of a field that is not limited: 0 of 0. */
struct ward_limits_room {
	uint64_t bytes, bytes_max, files, files_max;
};
/* The places of this session; and none any more. */
void ward_limits_places_add(struct ward_limits *l, const struct ward_limits_spec *spec);
void ward_limits_places_close(struct ward_limits *l);
/* Opens those that are not open yet, by whatever process shows them (proc(5)). */
void ward_limits_places_open(struct ward_limits *l);
/* False: it cannot be seen. Asks a tmpfs alone, so it never waits. */
bool ward_limits_room(const struct ward_limits_place *p, struct ward_limits_room *ret);
/*
 * The most descriptors that one process has, as far as the processes of the session show it to us;
 * WARD_USAGE_UNKNOWN: none does.
 */
uint64_t ward_limits_files(const struct ward_limits *l);

/* The command starts. */
void ward_limits_look_start(struct ward_limits *l, uint64_t now);
/*
 * One look: records what is near its limit, and says in look_at when the next one is due
 * (limits_near.c).
 */
int ward_limits_look(struct ward_limits *l, struct ward_guard *g, uint64_t now) ward_must_check;
/* Records what of l->last is near its limit and has not been recorded. */
int ward_limits_near(struct ward_limits *l, struct ward_guard *g) ward_must_check;
/* The places alone. */
int ward_limits_near_places(struct ward_limits *l, struct ward_guard *g) ward_must_check;
/* "NAME: 90 % of LIMIT is used". files: the unit is files, not processes. */
int ward_limits_tell_near(struct ward_guard *g, const char *name, enum ward_limit_unit unit,
	bool files, uint64_t limit, uint64_t used) ward_must_check;
/* The unit as records name it. */
const char *ward_limit_unit_name(enum ward_limit_unit unit);

/* A value as a policy writes it: "64M", "1.5", "30s". */
void ward_limit_text(enum ward_limit_unit unit, uint64_t v, struct ward_buf *b);
