/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Running a command in a mode. The supervisor, `--dry-run` and `wardfs doctor` call these
 * functions; each calls the operation of the same name in the mode's row (operations.h). Nobody
 * starts, signals or ends a command beside them.
 *
 * Every mode stands in the walls of a sandbox (enforcer/sandbox/sandbox.h), whose order of steps
 * holds here too: begin, STAGED, MAPPED, READY, probe, start, next and exec, stop, free. Between
 * the steps a caller may do other things.
 */
#pragma once

#include "enforcer/modes/table/mode.h"
#include "enforcer/sandbox/sandbox.h"

/* A command, and what its mode puts around it. */
struct ward_confined;

/*
 * Can this mode run a command on this host, now, for this caller? 0, else -ENOTSUP with the reason
 * and, where there is one, the fix. Looks only; costs microseconds.
 */
int ward_mode_usable(const struct ward_mode *m, struct ward_err *err) ward_must_check;

/*
 * Starts to build what the mode puts around the command. spec is borrowed during the call; its
 * layers do not count, those of the mode's row do. Errors as ward_mode_usable() and
 * ward_sandbox_begin(). *ret is the caller's: ward_mode_free().
 */
int ward_mode_begin(const struct ward_mode *m, const struct ward_sandbox_spec *spec,
	struct ward_confined **ret, struct ward_err *err) ward_must_check;

/* How far the walls stand: ward_sandbox_staged(), ward_sandbox_mapped(), ward_sandbox_ready(). */
enum ward_stage { WARD_STAGE_STAGED = 0, WARD_STAGE_MAPPED, WARD_STAGE_READY };
/* Waits until this stage is reached. Each once, in this order. */
int ward_mode_reach(
	struct ward_confined *c, enum ward_stage stage, struct ward_err *err) ward_must_check;
/* ward_mode_begin() and all stages. */
int ward_mode_create(const struct ward_mode *m, const struct ward_sandbox_spec *spec,
	struct ward_confined **ret, struct ward_err *err) ward_must_check;

/* The walls: for their descriptors, namespaces, terminal and facts. Borrowed; NULL of NULL. */
struct ward_sandbox *ward_mode_sandbox(const struct ward_confined *c);

/* As ward_sandbox_probe(). */
int ward_mode_probe(struct ward_confined *c, struct ward_probe_result ret[WARD_PROBE_COUNT_],
	enum ward_probe_verdict ret_verdicts[WARD_PROBE_COUNT_],
	struct ward_err *err) ward_must_check;
/* As ward_sandbox_start(). */
int ward_mode_start(struct ward_confined *c, struct ward_err *err) ward_must_check;
/* As ward_sandbox_next(), once ward_sandbox_fd() of the walls is readable. */
int ward_mode_next(struct ward_confined *c, struct ward_sandbox_event *ret) ward_must_check;
/* One more command, as ward_sandbox_exec(); id > 0. */
int ward_mode_exec(struct ward_confined *c, uint32_t id, const struct ward_sandbox_exec *e,
	struct ward_err *err) ward_must_check;
/* To the first command (id 0), as ward_sandbox_signal(); else to that of ward_mode_exec(). */
int ward_mode_signal(struct ward_confined *c, uint32_t id, int sig) ward_must_check;
/* Ends everything inside and waits until it is gone, as ward_sandbox_kill(). */
void ward_mode_stop(struct ward_confined *c);
/* Stops, and frees. NULL is fine. */
void ward_mode_free(struct ward_confined *c);
