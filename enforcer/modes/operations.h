/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a mode consists of, for the files of the modes alone: the struct of operations that each
 * fills in, and the walls that it builds on. Everybody else includes modes.h.
 *
 * A mode that is ready names every operation. One that does no more than the walls names theirs
 * (ward_walls_…). A mode that cannot run yet has `usable` alone, which says why.
 */
#pragma once

#include "enforcer/modes/modes.h"

struct ward_confined {
	const struct ward_mode *mode;
	const struct ward_mode_ops *ops;
	struct ward_sandbox *sandbox; /* NULL until `begin` */
	void *own;		      /* the mode's, from `prepare` to `free`; else NULL */
};

struct ward_mode_ops {
	/* Called before every run, by --dry-run and by doctor. -ENOTSUP with the reason. */
	int (*usable)(const struct ward_mode *m, struct ward_err *err);
	/* ward_mode_build(); NULL: nothing is made. */
	int (*build)(const struct ward_mode *m, const struct ward_mode_found *f,
		const struct ward_sandbox_spec *as, struct ward_err *err);
	/* ward_mode_look(), ward_mode_command(); NULL in both: the mode has no runtime. */
	int (*look)(const struct ward_mode_host *h, struct ward_mode_found *ret,
		struct ward_buf *ret_text, struct ward_err *err);
	int (*command)(const struct ward_mode_asked *a, struct ward_mode_command *ret,
		struct ward_err *err);
	/*
	 * Changes the description as the mode needs it: another command in front, more that is
	 * shown, more environment. What it points to afterwards is kept in c->own. Starts nothing.
	 */
	int (*prepare)(
		struct ward_confined *c, struct ward_sandbox_spec *spec, struct ward_err *err);
	/* Starts to build; sets c->sandbox. */
	int (*begin)(struct ward_confined *c, const struct ward_sandbox_spec *spec,
		struct ward_err *err);
	int (*reach)(struct ward_confined *c, enum ward_stage stage, struct ward_err *err);
	/* Shows that the walls hold, and what the mode adds. -EPERM: the command is not started. */
	int (*probe)(struct ward_confined *c, struct ward_probe_result ret[WARD_PROBE_COUNT_],
		enum ward_probe_verdict ret_verdicts[WARD_PROBE_COUNT_], struct ward_err *err);
	int (*start)(struct ward_confined *c, struct ward_err *err);
	int (*next)(struct ward_confined *c, struct ward_sandbox_event *ret);
	int (*exec)(struct ward_confined *c, uint32_t id, const struct ward_sandbox_exec *e,
		struct ward_err *err);
	int (*signal)(struct ward_confined *c, uint32_t id, int sig);
	/* Nothing that was started is left when it returns. Also twice, and before `start`. */
	void (*stop)(struct ward_confined *c);
	/* After `stop`, and after `prepare` or `begin` failed. */
	void (*free)(struct ward_confined *c);
};

/* One more flag of a command line, for files of modes that have a runtime. -ENOMEM. */
int ward_mode_put_flag(
	struct ward_mode_command *c, const char *text, const char *from) ward_must_check;
/* A path that the program reaches; once. -ENOMEM. */
int ward_mode_put_reached(
	struct ward_mode_command *c, const char *path, const char *from) ward_must_check;

/* Of each row of ward_modes[], in the same order, ended by NULL. */
extern const struct ward_mode_ops *const ward_mode_operations[];

/* --- walls.c: the sandbox with the layers of the mode's row, and no more --- */

/* What this kernel was built without. */
int ward_walls_usable(const struct ward_mode *m, struct ward_err *err);
int ward_walls_prepare(
	struct ward_confined *c, struct ward_sandbox_spec *spec, struct ward_err *err);
int ward_walls_begin(
	struct ward_confined *c, const struct ward_sandbox_spec *spec, struct ward_err *err);
int ward_walls_reach(struct ward_confined *c, enum ward_stage stage, struct ward_err *err);
int ward_walls_probe(struct ward_confined *c, struct ward_probe_result ret[WARD_PROBE_COUNT_],
	enum ward_probe_verdict ret_verdicts[WARD_PROBE_COUNT_], struct ward_err *err);
int ward_walls_start(struct ward_confined *c, struct ward_err *err);
int ward_walls_next(struct ward_confined *c, struct ward_sandbox_event *ret);
int ward_walls_exec(struct ward_confined *c, uint32_t id, const struct ward_sandbox_exec *e,
	struct ward_err *err);
int ward_walls_signal(struct ward_confined *c, uint32_t id, int sig);
void ward_walls_stop(struct ward_confined *c);
void ward_walls_free(struct ward_confined *c);

/*
 * Which directory that every session begins with empty is path, or lies in? A program that lies
 * there on the host is not seen inside, and [process] exec cannot name one. NULL: none of these.
 */
const char *ward_mode_emptied(const char *path);
