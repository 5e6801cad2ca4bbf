/* SPDX-License-Identifier: Apache-2.0 */
/*
 * [approvals] command: a program of the owner's that gets the questions and may answer them. It
 * runs outside of the session, as the owner, once for each question: the question as JSON on its
 * standard input, an answer as JSON on its standard output. Whatever it does not answer in time
 * waits for a person as before.
 *
 * The program is one file: it is opened at the start of the session, and executed by that
 * descriptor. It must not lie in a tree of the session, by any of its names. Before each run its
 * identity is compared (device, inode, size, times, mode, owner): once it was changed, it is not
 * run any more.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "enforcer/base/err.h"
#include "enforcer/base/pollset.h"
#include "enforcer/session/owner/identity.h"
#include "enforcer/session/plan/plan.h"

/* Runs at one time; further questions wait until one of these ends. */
#define WARD_HOOK_RUNS 4U
/* Bytes of an answer. */
#define WARD_HOOK_ANSWER_MAX 65536U

struct ward_hook;

/* An answer, borrowed, of the process pid, which has not been reaped. */
typedef void ward_hook_fn(void *arg, const char *question, pid_t pid, const json_t *answer);

/* plan: its owner, its trees, its policy's settings; borrowed, as set is. *ret NULL: no program is
 * named. -EPERM and the errors of open(2): it cannot be used, and err says why. */
int ward_hook_new(const struct ward_run_plan *plan, struct ward_hook **ret,
	struct ward_err *err) ward_must_check;
/* Its processes are killed, with what they started. NULL is fine. */
void ward_hook_free(struct ward_hook *h);
/* From here on answers are heard. */
void ward_hook_watch(
	struct ward_hook *h, struct ward_pollset *set, unsigned rank, ward_hook_fn *fn, void *arg);

/*
 * Tells it a question (JSON). -EAGAIN: later, when a run has ended. -ESTALE: the program is not the
 * one of the start; or why it cannot be started.
 */
int ward_hook_tell(struct ward_hook *h, const char *question, const char *json) ward_must_check;
/* Kills the runs whose time is over, or whose question is: waits() says whether one still waits. */
void ward_hook_tick(struct ward_hook *h, bool (*waits)(void *arg, const char *question), void *arg);
/* For poll(2): milliseconds until ward_hook_tick() has something to do; -1: never. */
int ward_hook_timeout(const struct ward_hook *h);
