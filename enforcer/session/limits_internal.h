/* SPDX-License-Identifier: Apache-2.0 */
/* What limits.c and limits_watch.c share. */
#pragma once

#include "enforcer/base/buf.h"
#include "enforcer/base/clock.h"
#include "enforcer/session/limits.h"

enum ward_limit_unit { WARD_LIMIT_BYTES = 0, WARD_LIMIT_TENTHS, WARD_LIMIT_NS, WARD_LIMIT_COUNT };

struct ward_limits {
	const struct ward_settings *settings;
	const struct ward_backend *backend;
	struct ward_cgroup *cg;
	bool root;
	uint32_t held, weakened, left_out; /* sets of WARD_GUARANTEE_BIT() */

	int timer;
	bool running;	    /* the clocks run */
	uint64_t wall_at;   /* CLOCK_MONOTONIC ns; WARD_UNLIMITED: never */
	uint64_t active_at; /* the last sign of life */
	uint64_t activity;  /* the caller's number at that time */
	uint64_t sample_at; /* when figures that nothing announces are read next */
	uint64_t cpu_at;    /* before this the CPU time cannot be used up */
	struct ward_usage last;
	bool near_memory, near_processes, near_cpu, near_tmp, near_files; /* recorded */
	pid_t pid1; /* of the sandbox; 0: not yet */
	uint64_t forks_told;
	bool finished;
};

/*
 * What no control group counts, as far as the processes of the session show it to us
 * (limits_look.c): bytes in the tmpfs that `tmp` limits, and the most descriptors of one process.
 * WARD_USAGE_UNKNOWN: not seen.
 */
struct ward_limits_seen {
	uint64_t tmp, files;
};
void ward_limits_look(const struct ward_limits *l, struct ward_limits_seen *ret);

/* A value as a policy writes it: "64M", "1.5", "30s". */
void ward_limit_text(enum ward_limit_unit unit, uint64_t v, struct ward_buf *b);
