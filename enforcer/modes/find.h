/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looks for a program or package of the session's owner, for the files of modes alone: in PATH,
 * beneath the home, on the system. Directories that do not answer are passed over.
 */
#pragma once

#include <limits.h>

#include "enforcer/base/patient.h"
#include "enforcer/modes/modes.h"

struct ward_find {
	uint64_t began_ns; /* CLOCK_MONOTONIC; all looks together have an end */
	ward_patient_fn look;
	struct ward_mode_found found; /* program and name */
	char silent[PATH_MAX];	      /* a name that did not answer; "": all did */
};

/* Begins a search. look gets an absolute name, and puts the path without links into ret->text. */
void ward_find_begin(struct ward_find *f, ward_patient_fn look);
/* DIR + suffix for each absolute directory of PATH: a relative one is wherever the caller stands,
 * which is the project, most likely. */
bool ward_find_in_path(struct ward_find *f, const char *path, const char *suffix);
/* DIR/NAME for each of these, which NULL ends. */
bool ward_find_in(struct ward_find *f, const char *dir, const char *const *names);
/* Does a path without links lie in a directory, as the kernel names it? */
bool ward_find_lies_in(const char *path, const char *dir);
/* As ward_patient_fn: a program in ELF. A script of a version manager would start another one. */
int ward_find_look_program(int at, const char *name, struct ward_patient_found *ret);
