/* SPDX-License-Identifier: Apache-2.0 */
/*
 * [limits] command, for what a known agent's shell tool starts: a process whose program and first
 * arguments are those of a line of [process] shell ("bash -c"), with no such process above it. The
 * watch of started programs (exec_watch.h) reports each such process. When its time is over, the
 * process, all that descends from it and its process group get SIGTERM, and after [limits] grace
 * SIGKILL; the session goes on.
 *
 * It ends what runs away. It is no wall: a program can change what it is called while the watch
 * looks, and a daemon that left both its parent and its group is not found.
 */
#pragma once

#include "enforcer/base/pollset.h"
#include "enforcer/session/guard/guard.h"
#include "enforcer/session/plan/plan.h"

struct ward_commands;

/*
 * *ret is NULL where the policy bounds no such command. plan and g are borrowed until
 * ward_commands_free(). pid1: of the sandbox, as the host numbers it: its children are the
 * session's own command and those of `wardfs exec`.
 */
int ward_commands_new(const struct ward_run_plan *plan, struct ward_guard *g, pid_t pid1,
	struct ward_commands **ret, struct ward_err *err) ward_must_check;
/*
 * From any thread: a process, which waits meanwhile, is about to execute a program. argv: its
 * arguments, each with its NUL. c may be NULL.
 */
void ward_commands_started(
	struct ward_commands *c, pid_t pid, pid_t parent, const char *argv, size_t len);
/* The rounds of set (borrowed) end what is over. c may be NULL. */
int ward_commands_watch(struct ward_commands *c, struct ward_pollset *set, unsigned rank,
	struct ward_err *err) ward_must_check;
/* One line about what was ended, or NULL. The caller's. c may be NULL. */
char *ward_commands_note(const struct ward_commands *c, const char *session);
/* Nobody calls ward_commands_started() any more. NULL is fine. */
void ward_commands_free(struct ward_commands *c);
