/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The limits of one session: which are asked for, which can be held here and by what, what is used,
 * and which of them ended the run.
 */
#pragma once

#include <jansson.h>

#include "enforcer/base/pollset.h"
#include "enforcer/ipc/msg.h"
#include "enforcer/modes/table/mode.h"
#include "enforcer/policy/settings.h"
#include "enforcer/sandbox/cgroup.h"
#include "enforcer/session/guard/guard.h"
#include "enforcer/session/plan/plan.h"

struct ward_limits;

struct ward_limits_spec {
	const struct ward_settings *settings; /* borrowed until ward_limits_close() */
	const struct ward_policy *policy;     /* whose settings they are; borrowed as long */
	const struct ward_mode *mode;	      /* const table */
	const char *session;
	/* Its ephemeral trees and its home are limited, too: borrowed until ward_limits_close().
	 * NULL: nobody looks at them. */
	const struct ward_run_plan *plan;
	bool root;
	uint32_t allow_missing; /* set of WARD_GUARANTEE_BIT() */
};

/*
 * Makes the control groups and compares what the mode and they give with what the policy asks for.
 * -ENOTSUP, naming the key, the reason, the fix and --allow-missing, where something is missing.
 */
int ward_limits_open(const struct ward_limits_spec *spec, struct ward_limits **ret,
	struct ward_err *err) ward_must_check;

/*
 * Waits for what the kernel takes its time for (ward_cgroup_settle()); an error is one of
 * ward_limits_open(). Before the command starts.
 */
int ward_limits_settle(struct ward_limits *l, struct ward_err *err) ward_must_check;

/*
 * True where a limit is asked for that a control group alone can hold, and an ordinary user has
 * none to put it in. Looks only.
 */
bool ward_limits_want_delegation(const struct ward_settings *s);

/* Borrowed. */
const struct ward_cgroup *ward_limits_cgroup(const struct ward_limits *l);
/* Of each process, instead of a limit on all together (require = where-available); WARD_UNLIMITED:
 * none. Bytes of RLIMIT_DATA, seconds of RLIMIT_CPU (setrlimit(2)). */
uint64_t ward_limits_process_data(const struct ward_limits *l);
uint64_t ward_limits_process_seconds(const struct ward_limits *l);

/* Appends the keys of [limits] that are not held, or held less than asked for: strings. */
void ward_limits_not_held(const struct ward_limits *l, json_t *ret);
/*
 * Is the idle clock a default of a shipped profile? Then it takes CPU time for a sign of life in
 * place of output (which needs no pipe of ours for that), and stands still while somebody is at the
 * session's terminal. */
bool ward_limits_idle_is_default(const struct ward_policy *p);

/* One line about what is held less than asked for, or NULL. The caller's. */
char *ward_limits_warning(const struct ward_limits *l);
/*
 * One line about defaults of the profile that nothing here can hold, or NULL. Nobody chose them:
 * the reasons are in the trail, and in what doctor prints. The caller's.
 */
char *ward_limits_unheld(const struct ward_limits *l);

/* Adds what is in force: "guarantees", "limits", "cgroups", "missing". */
void ward_limits_describe(const struct ward_limits *l, json_t *o);

/* The command starts: the clocks run. pid1: of the sandbox, as the host numbers it. */
void ward_limits_start(struct ward_limits *l, pid_t pid1);

/* The writer reports a burst of refusals (WARD_MSG_AUDIT_BURST). Writes a `limit` record, and fails
 * if the trail fails. */
int ward_limits_burst(struct ward_guard *g, struct ward_msg_reader *m) ward_must_check;

/* Which limit ended the run. */
struct ward_limit_hit {
	const char *name;     /* key of [limits]; NULL: none did */
	uint64_t limit, used; /* in its unit; WARD_UNLIMITED: not known */
	char text[256];	      /* one line for the person at the terminal */
};

/*
 * From now on the rounds of set hear our clock and the control groups, with this rank. What they
 * say is for ward_limits_check(), which the caller calls afterwards in each round.
 */
int ward_limits_watch(struct ward_limits *l, struct ward_pollset *set, unsigned rank,
	struct ward_err *err) ward_must_check;

/*
 * In each round, whether or not one of those was ready. activity: a number that grows with output,
 * input and accesses to files. attended: somebody is at the session's terminal. Puts `limit`
 * records. *ret says whether to end the run (once); from then on the clocks are still. Fails when
 * the trail does.
 */
int ward_limits_check(struct ward_limits *l, struct ward_guard *g, uint64_t activity, bool attended,
	struct ward_limit_hit *ret) ward_must_check;

/*
 * Before that, in each round: the idle clock stands still while the command waits for a person's
 * answer.
 */
void ward_limits_hold_idle(struct ward_limits *l, bool waits);

/*
 * The next time (CLOCK_MONOTONIC) at which a limit can be met that we hold ourselves, by a clock;
 * WARD_UNLIMITED: none.
 */
uint64_t ward_limits_due(const struct ward_limits *l);

/*
 * Everything inside is about to die, or is dead: takes the last figures. Puts `limit` records for
 * what nobody has seen yet. signal: what ended the command, SIGKILL also where pid 1 is gone, 0:
 * none, or wardfs did. If the kernel ended something for want of memory, or a runtime itself
 * (ward_limits_starve()), *ret says so.
 */
int ward_limits_finish(struct ward_limits *l, struct ward_guard *g, int signal,
	struct ward_limit_hit *ret) ward_must_check;
/* The signal by which the runtime of the mode ends itself where it gets no more memory; 0: not
 * known. */
void ward_limits_starve(struct ward_limits *l, int signal);

/* What is or was used, as an object: numbers, null where unknown, and then "unknown" says why. */
json_t *ward_limits_usage(const struct ward_limits *l, bool now);

/* One line about limits that were met although the run went on, or NULL. The caller's. */
char *ward_limits_note(const struct ward_limits *l);

/* Whatever is left inside dies; the groups are removed. Figures are those of ward_limits_finish().
 */
void ward_limits_leave(struct ward_limits *l);
/* The same, and frees it. */
void ward_limits_close(struct ward_limits *l);
