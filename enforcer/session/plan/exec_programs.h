/* SPDX-License-Identifier: Apache-2.0 */
/*
 * [process] exec on this host: which files its patterns mean outside of the trees, and what those
 * need to run. In the trees the policy decides by name, when something is executed.
 */
#pragma once

#include "enforcer/policy/policy.h"
#include "enforcer/sandbox/sandbox.h"

struct ward_programs {
	/* Paths of the host, links resolved: files, and directories with what is beneath; then the
	 * loaders. */
	char **v;
	size_t n;
	size_t n_loaders; /* the last of v: dynamic loaders that nobody named (elf(5), PT_INTERP) */
	/* What a person should know: scripts whose interpreter may not be executed, a line each.
	 * NULL: nothing. */
	char *note;
};

#define WARD_PROGRAMS_INIT ((struct ward_programs){0})

/*
 * Looks on the host, with the caller's rights on files. Nothing where the policy has no list.
 * -E2BIG: patterns that mean too much to be looked at.
 */
int ward_programs_find(const struct ward_policy *p, struct ward_programs *ret,
	struct ward_err *err) ward_must_check;
void ward_programs_clear(struct ward_programs *x);

/* For ward_sandbox_programs.listed, with the policy as user. */
enum ward_sandbox_listed ward_programs_listed(const void *policy, const char *path);

/* Is this path of the host, without links, one of those? */
bool ward_programs_have(const struct ward_programs *x, const char *path);

/* Does a program of this name (its last component) execute what it is given: a shell, a language, a
 * launcher of others? */
bool ward_programs_is_interpreter(const char *path);
