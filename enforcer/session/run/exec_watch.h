/* SPDX-License-Identifier: Apache-2.0 */
/*
 * [audit] exec: a record for each program that is started inside. A thread of the supervisor
 * answers at the sandbox' listener (ward_sandbox_execs_fd()): it reads what the call asks for, puts
 * the record, and lets the kernel go on with the call (SECCOMP_USER_NOTIF_FLAG_CONTINUE). No
 * record, no exec: it is EIO then.
 *
 * What is recorded is what was asked for, as the caller's memory had it a moment before the kernel
 * read it: another thread of the caller can change it in between, and the call can fail. Records
 * say so ("how":"observed"). That a call was made, by which process, cannot be avoided.
 *
 * The memory of wardfs-init's own processes, which start the command and those of `wardfs exec`, is
 * closed to the supervisor of an ordinary user. They say what they call (ward_sandbox_told()).
 */
#pragma once

#include "enforcer/sandbox/sandbox.h"
#include "enforcer/session/guard/guard.h"
#include "enforcer/session/plan/plan.h"
#include "enforcer/session/run/commands.h"

struct ward_exec_watch;

/* plan, sandbox and commands (which hears of each call, or NULL) are borrowed until
 * ward_exec_watch_stop(). */
int ward_exec_watch_start(struct ward_guard *g, const struct ward_run_plan *plan,
	const struct ward_sandbox *sandbox, struct ward_commands *commands,
	struct ward_exec_watch **ret, struct ward_err *err) ward_must_check;
/*
 * What to say if the command fails, when it started a program that makes a sandbox of its own or
 * traces others (end_lines.h); NULL: none was started, or x is NULL. It goes by the first of the
 * arguments, which the command chooses.
 */
const char *ward_exec_watch_hint(const struct ward_exec_watch *x);
/* After everything inside was killed. NULL is fine. False: a thread that cannot be stopped goes on
 * using what was lent to it. */
bool ward_exec_watch_stop(struct ward_exec_watch *x);
