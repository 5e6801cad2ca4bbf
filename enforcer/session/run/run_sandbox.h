/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a plan means for the sandbox: the part of ward_sandbox_spec that a session (run.c) and its
 * rehearsal (rehearse.c) share, so that `--dry-run` judges what `run` makes.
 */
#pragma once

#include "enforcer/sandbox/sandbox.h"
#include "enforcer/session/limits/limits.h"
#include "enforcer/session/plan/plan.h"
#include "enforcer/session/plan/sockets.h"

/* spec points into it: it must not move. */
struct ward_run_sandbox {
	struct ward_sandbox_spec spec;
	struct ward_sandbox_tree trees[WARD_TREES_MAX];
	struct ward_sandbox_image image;
	struct ward_sandbox_bind *reads;
	struct ward_sandbox_guarded guarded[WARD_TREES_MAX];
	struct ward_cgroup_way join[WARD_CGROUP_JOIN_MAX];
	struct ward_sandbox_programs programs;
	const char **listed; /* programs.v with what the mode's runtime loads; NULL: as it was */
	const char *covers[5];
	struct ward_mode_command command;
	char *init;
};

/*
 * Fills ret. The caller adds what else a session has (helpers' lifelines, terminal, probes,
 * network). p, o, envp, limits and sockets are borrowed, also by ret. sockets NULL: no socket of
 * the host leads inside. Call ward_run_sandbox_clear() afterwards, also after an error.
 */
int ward_run_sandbox_make(const struct ward_run_plan *p, const struct ward_run_options *o,
	char *const *envp, const struct ward_limits *limits, const struct ward_sockets *sockets,
	struct ward_run_sandbox *ret, struct ward_err *err) ward_must_check;
/* Shows one more of our own files, if there is one (NULL: not). Once. */
void ward_run_sandbox_show(struct ward_run_sandbox *s, const char *host, const char *inside);
/* For ward_cleanup(ward_run_sandbox_clear). */
void ward_run_sandbox_clear(struct ward_run_sandbox *s);
