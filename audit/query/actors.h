/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who did it, as far as a trail tells: which process a thread is of, which process started it, and
 * which program it ran.
 *
 * A record has `pid`, the thread. The first of a thread in a ring, and the first after that
 * changed, has `parent`, and `process` where the thread is not its process' first
 * (docs/audit-format.md, "Who"); for a ring without these, the other records tell. A process runs
 * what its last `exec` before a record says (`path`, or `exe` of the one behind it: what it ran
 * until then); before its first one, that one's `exe`; and without one, what ran in its parent
 * then. Processes are known by their numbers: one that the kernel gave out twice in a session is
 * taken for one.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "audit/log/log.h"
#include "audit/query/query.h"
#include "enforcer/base/err.h"

/* Borrowed. At least one of pid and exe. */
struct ward_actors_ask {
	uint64_t pid;	  /* of a process, or of a thread; 0: any */
	bool descendants; /* of pid: also what it started, and what that started */
	/*
	 * The program, escaped: as ward_filter.path, or without a '/' a pattern for the last name
	 * of its path. NULL: any.
	 */
	const char *exe;
};

struct ward_actors;

/*
 * Reads what the trail says about processes. lines: those that say something, as an index knows
 * them, and behind lines->end all; zero: all. *ret is the caller's.
 */
int ward_actors_find(struct ward_log *log, const struct ward_query_lines *lines,
	const struct ward_actors_ask *ask, struct ward_actors **ret,
	struct ward_err *err) ward_must_check;
void ward_actors_free(struct ward_actors *a);

/*
 * Is the record of one that is asked for? What a record behind those that were read tells is taken
 * in, so that a trail can be followed.
 */
bool ward_actors_match(struct ward_actors *a, const json_t *record);
/* Can a record of this thread be? False: none of those that were read. */
bool ward_actors_may(const struct ward_actors *a, uint64_t tid);
/* 0, or -ENOMEM: something that a record told could not be kept. */
int ward_actors_error(const struct ward_actors *a);
