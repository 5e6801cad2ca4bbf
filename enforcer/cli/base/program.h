/* SPDX-License-Identifier: Apache-2.0 */
/* Which file a command's name means: on this host, and inside a planned run. */
#pragma once

#include <stdbool.h>

#include "enforcer/policy/policy.h"
#include "enforcer/session/plan/plan.h"

/*
 * The first regular, executable file of this name in the directories of path (as PATH has them;
 * relative ones do not count), as an absolute path, links not followed. NULL: none. The caller's.
 */
char *ward_program_in_path(const char *name, const char *path);

/*
 * The program that the first line of a script at this host path asks for: "#!/usr/bin/env NAME" is
 * NAME, else a path. NULL: no script. The caller's.
 */
char *ward_program_interpreter(const char *host);

/* Does the sandbox make this path itself, whatever the host has there (/tmp, /etc, …)? */
bool ward_program_made_inside(const char *path);

/* Where a run's command comes from. Owned; cleared with ward_program_clear(). */
struct ward_program {
	char *inside;	   /* as it is called inside */
	char *host;	   /* the file behind it, links followed */
	char *interpreter; /* as the first line of a script has it; or NULL */
};
void ward_program_clear(struct ward_program *p);

/*
 * Finds argv[0] as the sandbox will: in PATH of envp, among what the plan shows. Looks on the host
 * with the caller's rights. -ENOENT (exit status 127) and -EACCES (126) say what is missing: a
 * place that is not in the view, an interpreter, a rule that forbids executing it.
 */
int ward_program_find(const struct ward_run_plan *plan, const char *name, char *const *envp,
	struct ward_program *ret, struct ward_err *err) ward_must_check;
